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

export interface CutOptions {
  readonly min: number;
  readonly max: number;
  readonly prefer: BreakKind;
}
/** What is known about the place where the text starts. */
export interface CutState {
  readonly open: Fence | null;
  readonly midLine: boolean;
}
export type Cut =
  /** Not decidable before so many units are known. */
  | { readonly kind: "wait"; readonly units: number }
  /** The block ends at `end`; inside `fence` if there is one. */
  | { readonly kind: "cut"; readonly end: number; readonly fence: Fence | null };

/** Units that a decision about one position may look ahead. */
const ahead = lineUnitsMax + 2;
const wait = (units: number): Cut => ({ kind: "wait", units });
const cutAt = (end: number, fence: Fence | null = null): Cut => ({ kind: "cut", end, fence });

/** Where the next block ends. `ended`: nothing follows. The text is not empty. */
export function nextCut(text: string, ended: boolean, state: CutState, options: CutOptions): Cut {
  const { min, max, prefer } = options;
  const room = max - (state.open?.opens.length ?? 0);
  if (ended && text.length <= room) return cutAt(text.length);
  if (!ended && text.length < room + ahead) return wait(room + ahead);
  const view = text.slice(0, room + max + ahead);
  const blank = leadingSpace(view, room);
  if (blank === room) return cutAt(room, state.open);
  const spans = scanFences(view, {
    ...state,
    openUntil: room,
    spanMax: max,
    roomMax: Math.floor(max / 4),
  });
  const holes = spans.map(({ start, end }) => [start, end ?? Number.POSITIVE_INFINITY] as const);
  const low = Math.min(Math.max(min, blank + 1), room);
  const outside = bestBreak(view, low, room, prefer, holes);
  if (outside !== null) return cutAt(outside);
  const spanning = spans.find(({ start, end }) => start < room && (end === null || end > room));
  if (spanning === undefined) return cutAt(hardCut(view, room));
  const opened = state.open !== null;
  return cutCode(view, ended, spanning, { low, blank, room, max, opened, length: text.length });
}

/** Units of whitespace at the start, at most `to`. */
function leadingSpace(text: string, to: number): number {
  let index = 0;
  while (index < to && isSpace(text[index])) index += 1;
  return index;
}

interface CodeRoom {
  readonly low: number;
  /** Units of whitespace at the start: no block is made of them alone. */
  readonly blank: number;
  readonly room: number;
  readonly max: number;
  /** The text starts inside code. */
  readonly opened: boolean;
  /** All that is known, beyond what is looked at. */
  readonly length: number;
}

function cutCode(text: string, ended: boolean, span: FenceSpan, given: CodeRoom): Cut {
  const { fence, start } = span;
  const { low, room, max } = given;
  const continued = given.opened && start === 0 && span.contentStart === 0;
  const before = continued ? "" : text.slice(0, start).trim();
  if (before !== "") {
    if (span.end === null && !ended && given.length < start + max + ahead)
      return wait(start + max + ahead);
    if ((span.end ?? given.length) - start <= max) return cutAt(start);
  }
  const roomInside = room - fence.closes.length - 1;
  const first = Math.max(continued ? 1 : span.contentStart + 1, given.blank + 1);
  const line = lastLineBreak(text, roomInside, Math.max(low, first), span.closeStart);
  if (line !== null) return cutAt(line, fence);
  const earlier = lastLineBreak(text, roomInside, first, span.closeStart);
  if (earlier !== null) return cutAt(earlier, fence);
  // A closing line longer than the room closes by its first characters; its rest is plain text.
  const closing = span.closeStart ?? room;
  if (closing + fence.length + 3 < room) return cutAt(room);
  if (roomInside <= start + fence.closes.length) return cutAt(start > 0 ? start : room);
  return cutAt(hardCut(text, roomInside), fence);
}

/** The last start of a line from `to` back to `from`; not that of the closing line. */
function lastLineBreak(
  text: string,
  to: number,
  from: number,
  closeStart: number | null,
): number | null {
  let newline = text.lastIndexOf("\n", to - 1);
  if (newline > 0 && newline + 1 === closeStart) newline = text.lastIndexOf("\n", newline - 1);
  return newline >= 0 && newline + 1 >= from ? newline + 1 : null;
}
