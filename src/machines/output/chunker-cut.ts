/**
 * Given what is not sent yet, where does the next block end? Decided only when enough of the text
 * is known for the answer to be the same however the text goes on, so that the cuts depend on the
 * text and never on how it was split into deltas.
 *
 * Breaks outside code are looked for first. Code that fits into one block is kept whole, even if
 * the block before it is short for that; code that does not fit is cut between lines, closed, and
 * opened again.
 */
import { type BreakKind, bestBreak, hardCut, isSpace } from "./breaks.ts";
import { type Fence, type FenceSpan, lineUnitsMax, scanFences } from "./fence.ts";
import { cutAtSeam, type SeamCut } from "./seam-cut.ts";
import { beginsBlock } from "./seams.ts";

export interface CutOptions {
  readonly min: number;
  readonly max: number;
  readonly prefer: BreakKind;
}
/** What is known about the place where the text starts. */
export interface CutState {
  readonly open: Fence | null;
  /** Opens a span or repeats the header of a table; empty: neither goes on. */
  readonly opens: string;
  readonly midLine: boolean;
}
export type Cut =
  /** Not decidable before so many units are known. */
  | { readonly kind: "wait"; readonly units: number }
  /** The block ends at `end`; inside `fence` if there is one. */
  | ({ readonly kind: "cut"; readonly fence: Fence | null } & SeamCut);

/** A span may be so many blocks long and still be known as one. */
const blocksRead = 4;
/** Units to wait for when the end of a paragraph is looked for. */
const waitUnits = 64;
/** Units that a decision about one position may look ahead. */
const ahead = lineUnitsMax + 2;
const wait = (units: number): Cut => ({ kind: "wait", units });
const cutAt = (end: number, fence: Fence | null = null, opens = ""): Cut => ({
  kind: "cut",
  end,
  fence,
  skip: 0,
  opens,
  closes: "",
});

/** Where the next block ends. `ended`: nothing follows. The text is not empty. */
export function nextCut(text: string, ended: boolean, state: CutState, options: CutOptions): Cut {
  const { min, max, prefer } = options;
  const before = state.open?.opens ?? state.opens;
  const room = max - before.length;
  if (ended && text.length <= room) return cutAt(text.length);
  if (!ended && text.length < room + ahead) return wait(room + ahead);
  const view = text.slice(0, room + max + ahead);
  const blank = leadingSpace(view, room);
  if (blank === room) return cutAt(room, state.open, state.opens);
  const spans = scanFences(view, {
    ...state,
    openUntil: room,
    spanMax: max,
    roomMax: Math.floor(max / 4),
  });
  const holes = spans.map(({ start, end }) => [start, end ?? Number.POSITIVE_INFINITY] as const);
  const low = Math.min(Math.max(min, blank + 1), room);
  const outside = bestBreak(view, low, room, prefer, holes);
  const near = text.slice(0, room + ahead);
  // Without a mark no span lies across the cut, so nobody has to wait for the end of the paragraph.
  if (
    outside !== null &&
    before === "" &&
    (isPlainSeam(near, outside) || isPlainText(near, outside))
  )
    return cutAt(outside);
  const spanning = spans.find(({ start, end }) => start < room && (end === null || end > room));
  if (outside !== null || spanning === undefined) {
    const known = knownUnits(text, ended, room, max);
    if (known === null) return wait(text.length + waitUnits);
    const whole = text.slice(0, known);
    if (outside !== null && before === "" && isPlainText(whole, outside)) return cutAt(outside);
    const given = { before, low, first: blank + 1, room, max, prefer, fences: holes };
    const cut = cutAtSeam(whole, given);
    if (cut !== null) return { kind: "cut", fence: null, ...cut };
    return cutAt(outside ?? hardCut(view, room));
  }
  return cutCode(view, ended, spanning, { blank, room, max, length: text.length });
}

/** Between paragraphs, in a text without HTML and definitions of links, which reach farther. */
function isPlainSeam(text: string, position: number): boolean {
  if (!/\n[ \t]*\r?\n$/.test(text.slice(Math.max(0, position - 64), position))) return false;
  return !isSpace(text[position]) && !/<|\]:/.test(text);
}

/** Whether the text has no Markdown that a cut at `position` could break: it need not be parsed. */
const isPlainText = (text: string, position: number): boolean =>
  !/[*_~[\]<>`&|\\#]|\n {0,3}[-=]|(?:^|\n) {0,3}\d{1,9}[.)]\s/.test(text) &&
  !beginsBlock(text, position);

/** Where a span ends at the latest: a blank line, or a line that begins a block. */
const paragraphEnd = /\n(?=[ \t]*(?:\r?\n|[-+*>|#]|`{3}|\d{1,9}[.)][ \t]))/;

/**
 * Units to read for a cut at `room` at most: to the end of the paragraph there, so that a span that
 * lies across `room` is known as one. Null: not there yet.
 */
function knownUnits(text: string, ended: boolean, room: number, max: number): number | null {
  const most = room + blocksRead * max + ahead;
  const end = text.slice(room - 1, most).search(paragraphEnd);
  if (end !== -1) return Math.max(Math.min(room + ahead, text.length), room + end);
  if (text.length >= most) return most;
  return ended ? text.length : null;
}

/** Units of whitespace at the start, at most `to`. */
function leadingSpace(text: string, to: number): number {
  let index = 0;
  while (index < to && isSpace(text[index])) index += 1;
  return index;
}

interface CodeRoom {
  /** Units of whitespace at the start: no block is made of them alone. */
  readonly blank: number;
  readonly room: number;
  readonly max: number;
  /** All that is known, beyond what is looked at. */
  readonly length: number;
}

function cutCode(text: string, ended: boolean, span: FenceSpan, given: CodeRoom): Cut {
  const { fence, start } = span;
  const { room, max } = given;
  if (text.slice(0, start).trim() !== "") {
    if (span.end === null && !ended && given.length < start + max + ahead)
      return wait(start + max + ahead);
    if ((span.end ?? given.length) - start <= max) return cutAt(start);
  }
  const roomInside = room - fence.closes.length - 1;
  const first = Math.max(span.contentStart, given.blank) + 1;
  const line = lastLineBreak(text, roomInside, first, span.closeStart);
  if (line !== null) return cutAt(line, fence);
  // A closing line longer than the room closes by its first characters; its rest is plain text.
  const closing = span.closeStart ?? room;
  if (closing + fence.length + 3 < room) return cutAt(room);
  if (roomInside <= start + fence.closes.length) return cutAt(start > 0 ? start : room);
  return cutAt(hardCut(text, roomInside), fence);
}

/** The last start of a line from `to` back to `from`, which is 1 at least; not that of the closing line. */
function lastLineBreak(
  text: string,
  to: number,
  from: number,
  closeStart: number | null,
): number | null {
  let newline = text.lastIndexOf("\n", to - 1);
  if (newline + 1 === closeStart) newline = text.lastIndexOf("\n", newline - 1);
  return newline + 1 >= from ? newline + 1 : null;
}
