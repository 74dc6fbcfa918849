/**
 * Notes
 * =====
 * What was heard and is no message: reactions to messages of ours. The next turn is shown them among
 * what it overheard; they decide nothing. Counted apart from messages, so that many of them push no
 * message out of the context.
 */
import { limits } from "../../domain/limits.ts";
import type { Millis } from "../../domain/message.ts";
import type { MessageRef } from "../events/effects.ts";

/** A row of the journal, and the message it is about. */
export interface Note extends MessageRef {
  readonly at: Millis;
}

/** The notes with one more: the oldest go, and where no message is remembered, neither is a note. */
export function addNote(notes: readonly Note[], note: Note, contextSize: number): readonly Note[] {
  const size = Math.min(limits.notesCountMax, contextSize);
  return size <= 0 ? [] : [...notes, note].slice(-size);
}

/** The notes without those about a message that was deleted; the same list when there are none. */
export function removeNotes(notes: readonly Note[], id: string): readonly Note[] {
  return notes.some((note) => note.id === id) ? notes.filter((note) => note.id !== id) : notes;
}

/**
 * The notes that a turn is shown, and those left for the next one: what came at `before` or later.
 * Like messages they are shown up to a certain age; a `maxAgeMs` of 0 is no limit.
 */
export function takeNotes(
  notes: readonly Note[],
  before: number,
  now: Millis,
  maxAgeMs: number,
): readonly [shown: readonly Note[], left: readonly Note[]] {
  const taken = notes.filter(({ seq }) => seq < before);
  const shown = maxAgeMs > 0 ? taken.filter(({ at }) => now - at <= maxAgeMs) : taken;
  return [shown, notes.filter(({ seq }) => seq >= before)];
}

/** Messages and notes in the order in which they were heard; a history goes before what came since. */
export function withNotes(
  messages: readonly MessageRef[],
  notes: readonly Note[],
): readonly MessageRef[] {
  const all: MessageRef[] = [...messages];
  for (const { at: _, ...note } of notes) {
    const place = all.findLastIndex(({ seq }) => seq < note.seq);
    all.splice(place + 1, 0, note);
  }
  return all;
}
