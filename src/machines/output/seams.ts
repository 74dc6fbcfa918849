/**
 * Where Markdown may be cut. The CommonMark parser (micromark, with tables and strikethrough) reads
 * the text, and says what must stay together: links, code spans, bold, rows of a table, items of a
 * list. A span that does not fit into one block is closed before the cut and opened again behind it;
 * a table that goes on has its header again.
 */
import { parse, postprocess, preprocess } from "micromark";
import { gfmStrikethrough } from "micromark-extension-gfm-strikethrough";
import { gfmTable } from "micromark-extension-gfm-table";
import type { Hole } from "./breaks.ts";

/** Text that goes before and behind a part of a span or a table. */
export interface Wrap {
  readonly opens: string;
  readonly closes: string;
}

interface Span extends Wrap {
  readonly start: number;
  readonly end: number;
  /** What the marks surround; a cut elsewhere cannot be repaired. */
  readonly from: number;
  readonly to: number;
}

export interface Seams {
  /** Stretches that are not cut, in order, without overlap. */
  readonly holes: readonly Hole[];
  /** The same, where spans that can be closed and opened again may be cut. */
  readonly smallHoles: readonly Hole[];
  /** What a cut at `position` has to close and open again. */
  wrapAt(position: number): Wrap;
  /** Whether the text behind `position` would begin something that it does not begin here. */
  misreads(position: number): boolean;
}

const options = { extensions: [gfmTable(), gfmStrikethrough({ singleTilde: false })] };
/** The parser takes quadratic time in the number of marks. */
const marksMax = 800;
const marks = /[*_~[\]<>`&]/g;

const atomic: ReadonlySet<string> = new Set([
  "autolink",
  "characterEscape",
  "characterReference",
  "definition",
  "hardBreakEscape",
  "htmlText",
  "image",
  "setextHeading",
  "atxHeading",
  "codeFenced",
  "htmlFlow",
  "tableRow",
]);
const sequences: Readonly<Record<string, string>> = {
  strong: "strongSequence",
  emphasis: "emphasisSequence",
  strikethrough: "strikethroughSequence",
  codeText: "codeTextSequence",
};

interface Token {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

function tokensOf(text: string): Token[] {
  const whole = text.replace(/^\ufeff/u, " ");
  const events = postprocess(
    parse(options)
      .document()
      .write(preprocess()(whole, undefined, true)),
  );
  return events.flatMap(([kind, { type, start, end }]) =>
    kind === "enter" ? [{ type, start: start.offset, end: end.offset }] : [],
  );
}

/** Intervals joined where they overlap, in order. */
export function joinHoles(all: readonly Hole[]): Hole[] {
  const holes: Hole[] = [];
  for (const [start, end] of [...all].sort((a, b) => a[0] - b[0])) {
    const last = holes.at(-1);
    if (last !== undefined && start < last[1])
      holes[holes.length - 1] = [last[0], Math.max(last[1], end)];
    else holes.push([start, end]);
  }
  return holes;
}

/** The span that a token is, with the marks that close and open it; null: none. */
function spanOf(tokens: readonly Token[], index: number, text: string): Span | null {
  const { type, start, end } = tokens[index] as Token;
  const part = (wanted: string) =>
    tokens.slice(index + 1).find((token) => token.type === wanted && token.end <= end);
  if (type === "link") {
    const label = part("label");
    if (label === undefined || label.end === end) return null;
    const from = start + 1;
    return {
      start,
      end,
      from,
      to: label.end - 1,
      opens: "[",
      closes: text.slice(label.end - 1, end),
    };
  }
  const opening = part(sequences[type] as string);
  if (opening === undefined) return null;
  const mark = text.slice(opening.start, opening.end);
  const from = start + mark.length;
  return { start, end, from, to: end - mark.length, opens: mark, closes: mark };
}

const references: ReadonlySet<string> = new Set(["link", "image"]);
const labels: ReadonlySet<string> = new Set(["referenceString", "labelText"]);

/** From each definition of a link to the links that need it, or back: they are not read apart. */
function referenced(tokens: readonly Token[], text: string): Hole[] {
  const nameOf = ({ start, end }: Token) =>
    text.slice(start, end).trim().replace(/\s+/gu, " ").toLowerCase().toUpperCase();
  const definitions = new Map<string, Token>();
  tokens.forEach((token, index) => {
    if (token.type !== "definition") return;
    const label = tokens.slice(index).find(({ type }) => type === "definitionLabelString");
    if (label !== undefined && !definitions.has(nameOf(label)))
      definitions.set(nameOf(label), token);
  });
  if (definitions.size === 0) return [];
  return tokens.flatMap((token, index): Hole[] => {
    if (!references.has(token.type)) return [];
    const inner = tokens.slice(index + 1).filter(({ end }) => end <= token.end);
    return inner
      .filter(({ type }) => labels.has(type))
      .flatMap((label): Hole[] => {
        const found = definitions.get(nameOf(label));
        if (found === undefined) return [];
        return [[Math.min(found.start, token.start), Math.max(found.end, token.end)]];
      });
  });
}

/** Begins a block where a line of a paragraph goes on. */
const blockStart =
  /^(?: {0,3}(?:#{1,6}(?:\s|$)|>|[-+*](?:\s|$)|\d{1,9}[.)](?:\s|$)|`{3}|~{3}|<|\||\[[^\]\n]*\]:|[=-]+[ \t]*(?:\n|$)|(?:[-_*][ \t]*){3,}(?:\n|$)))/;

const indented = /^(?: {4}| {0,3}\t)/;

/** Whether the text from `position` on would begin a block if nothing came before it. */
export const beginsBlock = (text: string, position: number): boolean =>
  blockStart.test(text.slice(position, position + 64));

/** Where the next block may end. */
export interface Window {
  /** The first position with something before it. */
  readonly first: number;
  /** The last position. */
  readonly room: number;
  readonly max: number;
}

const lastSpace = (text: string, from: number): number =>
  Math.max(text.lastIndexOf("\n", from), text.lastIndexOf(" ", from));

/** The text up to a word that has too many marks to be read. */
function readable(text: string): string {
  let count = 0;
  for (const { index } of text.matchAll(marks)) {
    count += 1;
    if (count > marksMax) return text.slice(0, lastSpace(text, index) + 1);
  }
  return text;
}

/** Backticks in a code span, with what is beside them: at a cut they would join those that close it. */
function innerBackticks({ from, to }: Span, text: string): Hole[] {
  return [...text.slice(from, to).matchAll(/\S?\s*`+\s*\S?/gu)].map((found): Hole => {
    const start = from + found.index;
    return [start, start + found[0].length];
  });
}

/** Items of lists, each with its lists inside, in the order of their starts. */
function itemsOf(tokens: readonly Token[], text: string): Hole[] {
  const items: Hole[] = [];
  const open: { readonly end: number; at: number | null }[] = [];
  const close = (list: (typeof open)[0], end: number) => {
    if (list.at !== null) items.push([list.at, end]);
  };
  const closeBefore = (position: number) => {
    for (let list = open.at(-1); list !== undefined && list.end <= position; list = open.at(-1)) {
      close(list, list.end);
      open.pop();
    }
  };
  for (const { type, start, end } of tokens) {
    closeBefore(start);
    if (type === "listOrdered" || type === "listUnordered") open.push({ end, at: null });
    const list = open.at(-1);
    if (type !== "listItemPrefix" || list === undefined) continue;
    const line = text.lastIndexOf("\n", start - 1) + 1;
    const at = text.slice(line, start).trim() === "" ? line : start;
    close(list, at);
    list.at = at;
  }
  closeBefore(Number.POSITIVE_INFINITY);
  return items;
}

/** Reads a text with what goes before it; null: it has too many marks to be read. */
export function readSeams(before: string, rest: string, window: Window): Seams | null {
  const shift = before.length;
  const text = readable(before + rest);
  const { first, room, max } = window;
  if (text.length < shift + Math.min(room, rest.length)) return null;
  const tokens = tokensOf(text);
  const hard: Hole[] = [];
  // An item that cannot be kept whole, because it began in the block before, is cut as its text is.
  const kept = itemsOf(tokens, text).filter(
    ([start, end]) => end - start <= max && (start - shift >= first || end - shift <= room),
  );
  const spans: Span[] = [];
  const tables: { start: number; end: number; first: number; header: string }[] = [];
  const paragraphs: Token[] = [];
  const lists: Token[] = [];
  tokens.forEach((token, index) => {
    const { type, start, end } = token;
    // A heading that is longer than a block goes on as a paragraph.
    const isLongHeading = type === "atxHeading" && end - start > max;
    if (type === "paragraph" || isLongHeading) paragraphs.push(token);
    if (type === "listOrdered" || type === "listUnordered") lists.push(token);
    if (atomic.has(type) && !isLongHeading) hard.push([start, end]);
    if (type === "link" || type in sequences) {
      const span = spanOf(tokens, index, text);
      if (span === null) hard.push([start, end]);
      else spans.push(span);
      if (span !== null && type === "codeText") hard.push(...innerBackticks(span, text));
    }
    if (type === "table") {
      const [head, delimiter, row] = tokens
        .slice(index)
        .filter(
          (inner) =>
            (inner.type === "tableRow" || inner.type === "tableDelimiterRow") && inner.end <= end,
        );
      if (head === undefined || delimiter === undefined) return;
      const first = row?.end ?? delimiter.end;
      hard.push([start, first]);
      const header = `${text.slice(start, delimiter.end).trimEnd()}\n`;
      tables.push({ start, end, first, header });
    }
  });
  hard.push(...referenced(tokens, text));
  const moved = ([start, end]: Hole): Hole => [start - shift, end - shift];
  const edges = spans.flatMap(({ start, from, to, end }): Hole[] => [
    [start, from],
    [to, end],
  ]);
  return {
    holes: joinHoles([...hard, ...kept, ...spans.map(({ start, end }): Hole => [start, end])]).map(
      moved,
    ),
    smallHoles: joinHoles([...hard, ...edges]).map(moved),
    wrapAt(position) {
      const at = position + shift;
      const table = tables.find(({ start, end }) => at > start && at < end);
      if (table !== undefined) return { opens: table.header, closes: "" };
      const open = spans.filter(({ from, to }) => at > from && at < to);
      return {
        opens: open.map(({ opens }) => opens).join(""),
        closes: open
          .map(({ closes }) => closes)
          .reverse()
          .join(""),
      };
    },
    misreads(position) {
      const at = position + shift;
      const isIn = ({ start, end }: Token) => at > start && at < end;
      if (paragraphs.some(isIn) && beginsBlock(text, at)) return true;
      // Indentation that belongs to an item makes code of what follows.
      return lists.some(isIn) && indented.test(text.slice(at, at + 4));
    },
  };
}
