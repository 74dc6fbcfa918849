/**
 * Break points
 * ============
 * Where a text may be cut, from the best kind to the worst: between paragraphs, between lines,
 * between sentences (also of scripts without spaces), between words, and last between two grapheme
 * clusters. A cut comes after the whitespace that makes it, except that the indentation of a line
 * stays with its line.
 */

export type BreakKind = "paragraph" | "newline" | "sentence" | "whitespace";

const kinds: readonly BreakKind[] = ["paragraph", "newline", "sentence", "whitespace"];
/** Ends a sentence where whitespace follows. */
const ends: ReadonlySet<string> = new Set(".!?…‽؟۔।॥։።。！？｡．");
/** Ends a sentence by itself. */
const wideEnds: ReadonlySet<string> = new Set("。！？｡．");
/** May come between the end of a sentence and what follows. */
const closers: ReadonlySet<string> = new Set("\"'”’»)]}*_`」』）】〉》");
const closersMax = 8;
/** After the end of a sentence these belong to it still. */
const trailing: ReadonlySet<string> = new Set("”’»)]}」』）】〉》。！？｡．");

const segmenter = new Intl.Segmenter("und", { granularity: "grapheme" });

/** Whether a unit is whitespace as `trim` has it. */
export const isSpace = (unit: string | undefined): boolean =>
  unit !== undefined && (unit <= " " ? " \n\r\t\v\f".includes(unit) : /\s/u.test(unit));

/** Whether the character at `position` belongs to the character before it. */
function continues(text: string, position: number): boolean {
  const unit = text.charCodeAt(position);
  if (!(unit >= 0x300)) return unit === 0x0a && text.charCodeAt(position - 1) === 0x0d;
  const next = String.fromCodePoint(text.codePointAt(position) as number);
  return segmenter.segment(`a${next}`).containing(0)?.segment !== "a";
}

/** Whether the text before `end`, quotes and brackets aside, ends a sentence. */
function endsSentence(text: string, end: number, marks: ReadonlySet<string>): boolean {
  let index = end - 1;
  const last = Math.max(0, end - closersMax);
  while (index >= last && closers.has(text[index] as string)) index -= 1;
  return marks.has(text[index] as string);
}

interface Run {
  readonly kind: BreakKind;
  readonly position: number;
  readonly start: number;
}

/** The break that the whitespace ending at `end` makes, and where that whitespace starts. */
function breakOfRun(text: string, end: number): Run {
  let start = end;
  let newlines = 0;
  let lastNewline = -1;
  while (isSpace(text[start - 1])) {
    start -= 1;
    if (text[start] === "\n") {
      newlines += 1;
      if (lastNewline === -1) lastNewline = start;
    }
  }
  if (newlines > 0)
    return { kind: newlines > 1 ? "paragraph" : "newline", position: lastNewline + 1, start };
  const kind = endsSentence(text, start, ends) ? "sentence" : "whitespace";
  return { kind, position: end, start };
}

/** A stretch that may be cut before and after, not inside. */
export type Hole = readonly [start: number, end: number];

/** Whether `position` lies inside one of the holes up to number `last`, and where that starts. */
function holeAround(holes: readonly Hole[], last: number, position: number): number | null {
  for (let index = last; index >= 0; index -= 1) {
    const [start, end] = holes[index] as Hole;
    if (position >= end) return null;
    if (position > start) return start;
  }
  return null;
}

/** The end of a sentence that needs no whitespace behind it. */
function isWideEnd(text: string, position: number): boolean {
  const last = text[position - 1] as string;
  if (!wideEnds.has(last) && !closers.has(last)) return false;
  return endsSentence(text, position, wideEnds) && !trailing.has(text[position] ?? "");
}

/**
 * The best place to cut, from `to` back to `from`, which is 1 at least, outside the holes (in order), or
 * null. `prefer` is the kind looked for first; stronger kinds count as it. `isOpen` refuses single positions. One
 * pass, whatever the text.
 */
export function bestBreak(
  text: string,
  from: number,
  to: number,
  prefer: BreakKind,
  holes: readonly Hole[],
  isOpen: (position: number) => boolean = () => true,
): number | null {
  const best: Partial<Record<BreakKind, number>> = {};
  const strongest = kinds.indexOf(prefer);
  let last = holes.length - 1;
  const note = (kind: BreakKind, position: number) => {
    const counted = kinds[Math.max(kinds.indexOf(kind), strongest)] as BreakKind;
    if (position < from || best[counted] !== undefined) return;
    if (holeAround(holes, last, position) !== null || continues(text, position)) return;
    if (isOpen(position)) best[counted] = position;
  };
  let position = to;
  while (position >= from && best[prefer] === undefined) {
    while (last >= 0 && (holes[last] as Hole)[0] >= position) last -= 1;
    const hole = holeAround(holes, last, position);
    if (hole !== null) position = hole;
    else if (isSpace(text[position - 1])) {
      const run = breakOfRun(text, position);
      note(run.kind, run.position);
      position = run.start;
    } else {
      if (isWideEnd(text, position)) note("sentence", position);
      position -= 1;
    }
  }
  const found = kinds.find((kind) => best[kind] !== undefined);
  return found === undefined ? null : (best[found] as number);
}

/**
 * The last place at or before `at` that splits no grapheme cluster, or failing that no surrogate
 * pair.
 */
export function hardCut(text: string, at: number): number {
  const window = text.slice(0, at + 2);
  const start = segmenter.segment(window).containing(at)?.index ?? 0;
  if (start > 0) return start;
  const isWithinPair = (text.codePointAt(at - 1) ?? 0) > 0xffff;
  return isWithinPair ? at - 1 : at;
}
