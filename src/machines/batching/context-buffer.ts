/**
 * What was heard without answering: the next engaged turn is shown all of it, once. Bounded by
 * count as messages come in and by age when they are shown, and both losses are counted, so a
 * prompt can say how much is missing. Entries hold journal numbers, never texts: an edit moves the
 * number, a delete removes the entry, and ten thousand rooms cost no text.
 */
import type { AuthorId, Millis, Route } from "../../domain/message.ts";
import { isSame, type Placed } from "./chats.ts";

/** One observed message. */
export interface BufferEntry extends Placed {
  readonly seq: number;
  readonly at: Millis;
  readonly author: AuthorId;
  /** Ours, read from history. */
  readonly self: boolean;
  /** Journal number of the latest edit, whose text replaces the message's. */
  readonly editSeq?: number;
  /** The judge was asked about it: what its batch takes if the answer is to engage. */
  readonly asked?: AskedMessage;
  /** It was to be answered, and somebody stopped that. */
  readonly stopped?: true;
}

/** What an observed message is remembered by while the judge has not answered. */
export interface AskedMessage {
  readonly route: Route;
  /** It has files. */
  readonly media: boolean;
  readonly group: string | null;
  readonly gist: string;
}

/**
 * In arrival order, oldest first. `dropped` counts what fell off since the buffer was last taken.
 */
export interface ContextBuffer {
  readonly entries: readonly BufferEntry[];
  readonly dropped: number;
}

const none: readonly BufferEntry[] = [];
export const emptyBuffer: ContextBuffer = { entries: none, dropped: 0 };

/** The buffer with one more message, and what had to go: the oldest, so that `size` are left. */
export function remember(
  buffer: ContextBuffer,
  entry: BufferEntry,
  size: number,
): { readonly buffer: ContextBuffer; readonly dropped: readonly BufferEntry[] } {
  const over = buffer.entries.length + 1 - Math.max(0, size);
  // `concat` and `slice` make lists without the room to grow that a spread or `push` adds.
  const all = buffer.entries.concat([entry]);
  if (over <= 0) return { buffer: { entries: all, dropped: buffer.dropped }, dropped: none };
  return {
    buffer: { entries: all.slice(over), dropped: buffer.dropped + over },
    dropped: all.slice(0, over),
  };
}

/**
 * The buffer with messages that were to be answered and will not be, in the order in which they
 * came. May exceed the size this once; the next `remember` trims it.
 */
export function rememberLate(
  { entries, dropped }: ContextBuffer,
  late: readonly BufferEntry[],
): ContextBuffer {
  return { entries: [...entries, ...late].sort((a, b) => a.seq - b.seq), dropped };
}

/** The buffer without what was to be answered and was stopped; the same object when there is none. */
export function removeStopped(buffer: ContextBuffer): ContextBuffer {
  if (!buffer.entries.some(({ stopped }) => stopped)) return buffer;
  return {
    entries: buffer.entries.filter(({ stopped }) => stopped === undefined),
    dropped: buffer.dropped,
  };
}

/**
 * The buffer after a cold start: older messages go in front of what was heard since. May exceed the
 * size this once; the next `remember` trims it.
 */
export function seedBuffer(buffer: ContextBuffer, entries: readonly BufferEntry[]): ContextBuffer {
  const older = entries.filter((entry) => !holds(buffer, entry));
  return { entries: [...older, ...buffer.entries], dropped: buffer.dropped };
}

/**
 * What the turn about to start is shown. The caller empties the buffer: everything in it is either
 * shown or counted in `omitted` (aged out now, or dropped by count before). A `maxAgeMs` of 0 is no
 * limit.
 */
export function takeBuffer(
  buffer: ContextBuffer,
  now: Millis,
  maxAgeMs: number,
): { readonly shown: BufferEntry[]; readonly aged: BufferEntry[]; readonly omitted: number } {
  const shown: BufferEntry[] = [];
  const aged: BufferEntry[] = [];
  for (const entry of buffer.entries) {
    (maxAgeMs > 0 && now - entry.at > maxAgeMs ? aged : shown).push(entry);
  }
  return { shown, aged, omitted: buffer.dropped + aged.length };
}

/** The buffer in two: what was heard before the message with that number, and the rest. */
export function splitBuffer(
  { entries, dropped }: ContextBuffer,
  seq: number,
): readonly [before: ContextBuffer, after: ContextBuffer] {
  return [
    { entries: entries.filter((entry) => entry.seq < seq), dropped },
    { entries: entries.filter((entry) => entry.seq >= seq), dropped: 0 },
  ];
}

/** The buffer with a message's text replaced in place; the same object when it is not in it. */
export function editBuffered(buffer: ContextBuffer, edited: Placed, seq: number): ContextBuffer {
  if (!holds(buffer, edited)) return buffer;
  return {
    entries: buffer.entries.map((entry) =>
      isSame(entry, edited) ? { ...entry, editSeq: seq } : entry,
    ),
    dropped: buffer.dropped,
  };
}

/**
 * The buffer with no open question, or with none about one message; the same object where there is
 * none.
 */
export function closeQuestions(buffer: ContextBuffer, about?: Placed): ContextBuffer {
  const isOpen = (entry: BufferEntry) =>
    entry.asked !== undefined && (about === undefined || isSame(entry, about));
  if (!buffer.entries.some(isOpen)) return buffer;
  const entries = buffer.entries.map((entry) => {
    if (!isOpen(entry)) return entry;
    const { asked: _, ...rest } = entry;
    return rest;
  });
  return { entries, dropped: buffer.dropped };
}

/** The buffer without a deleted message; the same object when it is not in it. */
export function removeBuffered(buffer: ContextBuffer, removed: Placed): ContextBuffer {
  if (!holds(buffer, removed)) return buffer;
  return {
    entries: buffer.entries.filter((entry) => !isSame(entry, removed)),
    dropped: buffer.dropped,
  };
}

const holds = (buffer: ContextBuffer, message: Placed) =>
  buffer.entries.some((entry) => isSame(entry, message));
