/**
 * Wrapping at words
 * =================
 * Splits a line of text into the rows it takes on a screen, as ranges of the text, so that colours
 * can be added to the rows afterwards. Widths are terminal columns, not characters: an ideograph
 * takes two, a combining accent none, and a grapheme is never split. Styles in the text (`ESC [ 1
 * m`) take no columns.
 */
import stringWidth from "fast-string-width";

/** A row: `text.slice(from, to)`. */
interface Row {
  readonly from: number;
  readonly to: number;
}

interface WrapShape {
  /** Of the screen. At least 1. */
  readonly columns: number;
  /** Columns of the first row that are taken already. @default 0 */
  readonly taken?: number;
  /** Indent of the rows after the first. @default 0 */
  readonly hang?: number;
  /** `any`: cut wherever the row is full, as in code, where blanks count. @default "words" */
  readonly at?: "words" | "any";
}

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });
/** Everything of one unit and one column. */
const narrow = /^[ -~]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: how styles are written
const styles = /(\u001b\[\d+m)/;

/** How many columns a text without line breaks takes. */
export function columnsOf(text: string): number {
  return narrow.test(text) ? text.length : stringWidth(text);
}

/** The rows of one line; at least one. Blanks at the end of a row are left out. */
export function wrapLine(line: string, shape: WrapShape): readonly Row[] {
  const { columns, taken = 0, hang = 0, at = "words" } = shape;
  let width = Math.max(1, columns - taken);
  if (width === Number.POSITIVE_INFINITY || (narrow.test(line) && line.length <= width))
    return [{ from: 0, to: line.length }];
  const cells = cellsOf(line, at);
  const rows: Row[] = [];
  for (let start = 0; start < cells.length || rows.length === 0; ) {
    const { end, next } = rowEnd(cells, start, width);
    const from = cells[start]?.from ?? 0;
    // A blank text is a row of its own if the line has no other.
    if (end > start) rows.push({ from, to: cells[end - 1]?.to ?? from });
    else if (rows.length === 0) rows.push({ from, to: from });
    start = next;
    width = Math.max(1, columns - hang);
  }
  return rows;
}

interface Cell extends Row {
  readonly width: number;
  /** A row may end before it. */
  readonly blank: boolean;
}

function cellsOf(line: string, at: "words" | "any"): readonly Cell[] {
  const cells: Cell[] = [];
  let from = 0;
  const add = (segment: string, width: number) => {
    const blank = segment === " " && at === "words";
    cells.push({ from, to: from + segment.length, width, blank });
    from += segment.length;
  };
  for (const [index, part] of line.split(styles).entries())
    if (index % 2 === 1) add(part, 0);
    else for (const { segment } of graphemes.segment(part)) add(segment, columnsOf(segment));
  return cells;
}

/** The cell after the row that starts at `start`, and the start of the next row. */
function rowEnd(cells: readonly Cell[], start: number, columns: number) {
  let used = 0;
  let at = start;
  for (; at < cells.length; at += 1) {
    const { width, blank } = cells[at] as Cell;
    if (used + width > columns && !blank) break;
    used += width;
  }
  if (at === cells.length) return { end: withoutBlanks(cells, start, at), next: at };
  // Back to the last place where a row may end; if there is none, the word is cut where it is full.
  let cut = at;
  while (cut > start && !mayBreak(cells[cut - 1], cells[cut])) cut -= 1;
  const end = withoutBlanks(cells, start, cut);
  if (end > start || cut > start) return { end, next: cut };
  const full = Math.max(at, start + 1);
  return { end: full, next: full };
}

/** After a blank, and on both sides of a wide letter. */
function mayBreak(before: Cell | undefined, after: Cell | undefined): boolean {
  if (before === undefined || after === undefined) return false;
  return before.blank || before.width > 1 || after.width > 1;
}

function withoutBlanks(cells: readonly Cell[], start: number, end: number): number {
  let last = end;
  while (last > start && cells[last - 1]?.blank === true) last -= 1;
  return last;
}

/** Indent of a line's later rows: below its text, not below its bullet or number. */
export function hangingIndentOf(line: string): number {
  const lead = /^ *(?:(?:[•*+-]|\d{1,9}[.)]|[│>]) +)?/.exec(line)?.[0] ?? "";
  return columnsOf(lead);
}

/**
 * Text with every line wrapped. `hang`: indent of later rows; by default it follows from each line's
 * bullet. `taken` applies to the first line only.
 */
export function wrapText(text: string, shape: Omit<WrapShape, "at">): string {
  const { columns } = shape;
  return text
    .split("\n")
    .flatMap((line, index) => {
      const hang = boundedIndent(shape.hang ?? hangingIndentOf(line), columns);
      const taken = index === 0 ? (shape.taken ?? 0) : 0;
      return wrapLine(line, { columns, hang, taken }).map(
        ({ from, to }, row) => `${row === 0 ? "" : " ".repeat(hang)}${line.slice(from, to)}`,
      );
    })
    .join("\n");
}

/** No indent if it would take more than half of the screen. */
export function boundedIndent(hang: number, columns: number): number {
  return hang <= columns / 2 ? hang : 0;
}

/** A line cut to `columns`, with an ellipsis for the rest. */
export function cutLine(line: string, columns: number): string {
  if (columnsOf(line) <= columns) return line;
  const [row] = wrapLine(line, { columns: columns - 1, at: "any" });
  return `${line.slice(0, row?.to ?? 0).trimEnd()}…`;
}

/** Fills up with blanks. */
export function padTo(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - columnsOf(text)));
}

/** Assumed for a screen that does not say how wide it is, or says 0, as a new pseudo-terminal does. */
const columnsAssumed = 80;

/** How wide the screen behind a stream is; without a screen nothing is too wide. */
export function screenColumns(stream: Pick<NodeJS.WriteStream, "isTTY" | "columns">): number {
  return stream.isTTY === true ? stream.columns || columnsAssumed : Number.POSITIVE_INFINITY;
}
