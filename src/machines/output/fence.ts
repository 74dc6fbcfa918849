/**
 * Finds the fenced code of a text as CommonMark has it: up to three spaces of indentation, three or
 * more backticks or tildes, an info string (without backticks after backticks), and a closing line
 * of the same character at least as long with nothing behind it. A stream is judged before its
 * lines are complete, so a line is judged by its first `lineUnitsMax` units: the same units give
 * the same answer whatever follows.
 */

/** How much of a line is looked at. */
export const lineUnitsMax = 256;

/** A fence as it was opened. */
export interface Fence {
  readonly character: string;
  readonly length: number;
  /** The line that opens it again in the next block, newline included. */
  readonly opens: string;
  /** The line that closes it, without newlines. */
  readonly closes: string;
}

/** Where a fence lies. `start` 0 and `contentStart` 0 for one that was open before. */
export interface FenceSpan {
  readonly fence: Fence;
  readonly start: number;
  /** After the opening line. */
  readonly contentStart: number;
  /** Start of the closing line; null: not closed in what was looked at. */
  readonly closeStart: number | null;
  /** After the closing line; null like `closeStart`. */
  readonly end: number | null;
}

const tick = "`";
const tilde = "~";

/** Index of the first unit at or after `from` that is not `unit`, but at most `to`. */
function skip(text: string, unit: string, from: number, to: number): number {
  let index = from;
  while (index < to && text[index] === unit) index += 1;
  return index;
}

/** The end of a line as far as it is judged: before its newline. */
function lineEnd(text: string, from: number): number {
  const newline = text.indexOf("\n", from);
  const end = newline === -1 ? text.length : newline;
  return Math.min(end, from + lineUnitsMax);
}

/**
 * The fence that the line opens, or null. `roomMax`: the longest line that may be added to a block.
 */
export function openingAt(text: string, from: number, roomMax: number): Fence | null {
  const marker = skip(text, " ", from, Math.min(from + 4, text.length));
  const character = text[marker];
  if (marker - from > 3 || (character !== tick && character !== tilde)) return null;
  const end = lineEnd(text, from);
  const after = skip(text, character, marker, end);
  const length = after - marker;
  const closes = text.slice(from, after);
  if (length < 3 || closes.length >= roomMax) return null;
  const info = text.slice(after, end).trimEnd();
  if (character === tick && info.includes(tick)) return null;
  const whole = `${closes}${info}\n`;
  return { character, length, closes, opens: whole.length > roomMax ? `${closes}\n` : whole };
}

/** Whether the line closes the fence. */
function closesAt(text: string, from: number, fence: Fence): boolean {
  const marker = skip(text, " ", from, Math.min(from + 4, text.length));
  if (marker - from > 3 || text[marker] !== fence.character) return false;
  const end = lineEnd(text, from);
  const after = skip(text, fence.character, marker, end);
  return after - marker >= fence.length && text.slice(after, end).trim() === "";
}

/** Start of the line after the one at `from`, or where the judged part of it ends. */
function nextLine(text: string, from: number): number {
  const end = lineEnd(text, from);
  return text[end] === "\n" ? end + 1 : end;
}

/** Start of the next line, however far, or the text's length. */
function afterNewline(text: string, from: number): number {
  const newline = text.indexOf("\n", from);
  return newline === -1 ? text.length : newline + 1;
}

interface ScanOptions {
  /** The fence that was open before the text. */
  readonly open: Fence | null;
  /** The text starts inside a line, so its first line is neither opening nor closing. */
  readonly midLine: boolean;
  /** Fences that open after this are not looked for. */
  readonly openUntil: number;
  /** A fence open at `openUntil` is followed at most so far from its start. */
  readonly spanMax: number;
  readonly roomMax: number;
}

/** The fences of a text in order. The last may be unclosed. */
export function scanFences(text: string, options: ScanOptions): FenceSpan[] {
  const spans: FenceSpan[] = [];
  let current: Omit<FenceSpan, "closeStart" | "end"> | null =
    options.open === null ? null : { fence: options.open, start: 0, contentStart: 0 };
  let line = options.midLine ? afterNewline(text, 0) : 0;
  while (line < text.length) {
    if (current === null) {
      if (line > options.openUntil) break;
      const fence = openingAt(text, line, options.roomMax);
      if (fence !== null) current = { fence, start: line, contentStart: nextLine(text, line) };
    } else if (closesAt(text, line, current.fence)) {
      spans.push({ ...current, closeStart: line, end: nextLine(text, line) });
      current = null;
    } else if (line > options.openUntil && line > current.start + options.spanMax) break;
    line = afterNewline(text, line);
  }
  if (current !== null) spans.push({ ...current, closeStart: null, end: null });
  return spans;
}
