/**
 * What is shown, not said
 * =======================
 * Parts of a message that quote somebody instead of speaking: lines of a quote, fenced
 * blocks, code spans, text between quotation marks. No command is read there, so that "try
 * `/think high`" changes nothing. A mark that is never closed is only a mark, but a fence without
 * an end reaches to the end of the text.
 *
 * Every character is looked at a bounded number of times, whatever the text.
 */

/** A part of a text, in UTF-16 units; `to` is the first that is outside. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

const fenceStart = /^[ \t]*(`{3,}|~{3,})/u;
const quoteStart = /^[ \t]*>/u;

/** What closes a quotation, by what opens it. */
const closers: Readonly<Record<string, readonly string[]>> = {
  '"': ['"'],
  "“": ["”"],
  "„": ["“", "”"],
  "«": ["»"],
  "»": ["«"],
  "‹": ["›"],
};
const marks = /`+|["“„«»‹]/gu;

/** The parts of a text that are shown, in order, none within another. */
export function shownSpans(text: string): Span[] {
  const spans: Span[] = [];
  let fence: { readonly from: number; readonly mark: string } | null = null;
  let paragraph: number | null = null;
  const endParagraph = (at: number) => {
    if (paragraph !== null) marked(text, { from: paragraph, to: at }, spans);
    paragraph = null;
  };
  for (const { from, to } of linesOf(text)) {
    const line = text.slice(from, to);
    if (fence !== null) {
      if (!closes(line, fence.mark)) continue;
      spans.push({ from: fence.from, to });
      fence = null;
      continue;
    }
    const mark = fenceOf(line);
    if (mark !== undefined || quoteStart.test(line) || line.trim() === "") endParagraph(from);
    if (mark !== undefined) fence = { from, mark };
    else if (quoteStart.test(line)) spans.push({ from, to });
    else paragraph ??= from;
  }
  endParagraph(text.length);
  if (fence !== null) spans.push({ from: fence.from, to: text.length });
  return spans;
}

function* linesOf(text: string): Generator<Span> {
  for (let from = 0; from <= text.length; ) {
    const end = text.indexOf("\n", from);
    const to = end === -1 ? text.length : end;
    yield { from, to };
    from = to + 1;
  }
}

/** The mark of a line that begins a fenced block. One of backticks has none behind it. */
function fenceOf(line: string): string | undefined {
  const [whole = "", mark] = fenceStart.exec(line) ?? [];
  return mark?.[0] === "`" && line.includes("`", whole.length) ? undefined : mark;
}

/** As the opening mark, at least as long, and nothing else on the line. */
function closes(line: string, mark: string): boolean {
  const words = line.trim();
  const [first = ""] = mark;
  return words.length >= mark.length && words.replaceAll(first, "") === "";
}

/** Adds the code spans and quotations of a paragraph. */
function marked(text: string, { from, to }: Span, spans: Span[]): void {
  const part = text.slice(from, to);
  const next = nextOf(part);
  let after = 0;
  for (const { 0: mark, index } of part.matchAll(marks)) {
    if (index < after || (mark[0] !== "`" && !opens(part, index))) continue;
    const ends = mark[0] === "`" ? [mark] : (closers[mark] ?? []);
    const end = Math.min(...ends.map((one) => next(one, index + mark.length)));
    if (end === Number.POSITIVE_INFINITY) continue;
    after = end + mark.length;
    spans.push({ from: from + index, to: from + after });
  }
}

/** A quotation mark that opens one is at the start or behind a space or a bracket. */
const opens = (part: string, index: number) =>
  index === 0 || /[\s([{]/u.test(part[index - 1] ?? "");

/**
 * Where the next closing mark is, at or after a place. Places only grow, so each mark's positions
 * are gone through once. A run of backticks is closed by one of the same length.
 */
function nextOf(part: string): (mark: string, from: number) => number {
  const places = new Map<string, number[]>();
  for (const { 0: mark, index } of part.matchAll(/`+|["“”«»›]/gu)) {
    const list = places.get(mark);
    if (list === undefined) places.set(mark, [index]);
    else list.push(index);
  }
  const reached = new Map<string, number>();
  return (mark, from) => {
    const list = places.get(mark) ?? [];
    let at = reached.get(mark) ?? 0;
    while ((list[at] ?? Number.POSITIVE_INFINITY) < from) at += 1;
    reached.set(mark, at);
    return list[at] ?? Number.POSITIVE_INFINITY;
  };
}
