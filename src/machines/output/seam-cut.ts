/**
 * A cut that keeps Markdown intact: between spans, rows and words, where the text behind it reads as
 * before. What is too long for one block is closed and opened again, inside spans without the white
 * space at the cut, because marks next to white space are no marks.
 */
import { type BreakKind, bestBreak, type Hole, hardCut, isSpace } from "./breaks.ts";
import { joinHoles, readSeams, type Seams, type Window } from "./seams.ts";

export interface SeamCut {
  readonly end: number;
  /** White space behind `end` that is left out. */
  readonly skip: number;
  readonly opens: string;
  readonly closes: string;
}

export interface SeamOptions extends Window {
  /** What the block begins with, before the text. */
  readonly before: string;
  /** No cut before it, if it can be helped. */
  readonly low: number;
  readonly prefer: BreakKind;
  /** Fenced code. */
  readonly fences: readonly Hole[];
}

/** Where to cut `text`, which is all that is looked at; null: Markdown does not help. */
export function cutAtSeam(text: string, options: SeamOptions): SeamCut | null {
  const { low, first, room, max, prefer, fences } = options;
  const seams = readSeams(options.before, text, options);
  if (seams === null) return null;
  const holes = joinHoles([...fences, ...seams.holes]);
  const isOpen = (position: number) => !seams.misreads(position);
  const best = bestBreak(text, low, room, prefer, holes, isOpen);
  if (best !== null) return continued(seams, best, max);
  const around = holes.find(([start, end]) => start < room && end > room);
  if (around === undefined || around[1] - around[0] <= max) {
    const nearest = bestBreak(text, first, room, "whitespace", holes, isOpen);
    if (nearest !== null) return continued(seams, nearest, max);
    if (around !== undefined && around[0] >= first) return continued(seams, around[0], max);
  }
  return insideSpan(text, seams, options);
}

/** A cut between spans, at most inside a table. */
function continued(seams: Seams, end: number, max: number): SeamCut {
  const { opens, closes } = seams.wrapAt(end);
  const repeats = closes === "" && opens.length <= max / 4;
  return { end, skip: 0, opens: repeats ? opens : "", closes: "" };
}

function insideSpan(text: string, seams: Seams, options: SeamOptions): SeamCut | null {
  const { room, max } = options;
  const widest = seams.wrapAt(room);
  if (widest.opens.length + widest.closes.length > max / 4) return null;
  return insideSpanUpTo(room - widest.closes.length, text, seams, options);
}

function insideSpanUpTo(
  capacity: number,
  text: string,
  seams: Seams,
  options: SeamOptions,
): SeamCut | null {
  const { low, first, room, max, prefer, fences } = options;
  const holes = joinHoles([...fences, ...seams.smallHoles]);
  const isOpen = (position: number) => !seams.misreads(position);
  const found =
    bestBreak(text, Math.min(low, capacity), capacity, prefer, holes, isOpen) ??
    bestBreak(text, first, capacity, "whitespace", holes, isOpen);
  const at = found ?? hardCut(text, capacity);
  let end = at;
  while (end > first && isSpace(text[end - 1])) end -= 1;
  const { opens, closes } = seams.wrapAt(end);
  if (closes === "") return found === null ? null : continued(seams, at, max);
  const isCut = holes.some(([start, stop]) => end > start && end < stop);
  if (isCut || opens.length + closes.length > max / 4) return null;
  if (end + closes.length > room) {
    // The span that is open here ends at the room's edge, so its marks were not counted.
    return insideSpanUpTo(room - closes.length, text, seams, options);
  }
  let next = at;
  while (isSpace(text[next])) next += 1;
  return { end, skip: next - end, opens, closes };
}
