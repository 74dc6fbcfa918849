/**
 * Notes
 * =====
 * What was heard and is no message: reactions to messages of ours, and edits of messages that a turn
 * has read already. The next turn is shown them among what it overheard; they decide nothing. Counted
 * apart from messages, so that many of them push no message out of the context.
 */
import { limits } from "../../domain/limits.ts";
import type { Millis } from "../../domain/message.ts";
import type { MessageRef } from "../events/effects.ts";
import { isSame, type Placed } from "./chats.ts";

/** A row of the journal, and the message it is about. */
export interface Note extends MessageRef, Placed {
  readonly at: Millis;
}

/** A message that a turn has read. */
export type ReadMessage = MessageRef & Placed;

interface Notes {
  readonly notes: readonly Note[];
  /** Edits that were dropped: a prompt says how much it lacks. */
  readonly lost: number;
}

const isEdit = ({ was }: Note) => was !== undefined;

/**
 * The notes with one more. A later edit takes the place of an earlier one. The oldest of its kind goes
 * when there are too many; where no message is remembered, neither is a note.
 */
export function addNote(notes: readonly Note[], note: Note, contextSize: number): Notes {
  const earlier = isEdit(note) ? notes.find((one) => isEdit(one) && isSame(one, note)) : undefined;
  const others = notes.filter((one) => one !== earlier);
  const alike = others.filter((one) => isEdit(one) === isEdit(note));
  const size = Math.min(limits.notesCountMax, contextSize);
  const gone = new Set(alike.slice(0, Math.max(0, alike.length + 1 - size)));
  const newest = earlier?.was === undefined ? note : { ...note, was: earlier.was };
  const kept = others.filter((one) => !gone.has(one));
  const lost = isEdit(note) ? gone.size + (size > 0 ? 0 : 1) : 0;
  return { notes: size > 0 ? [...kept, newest] : kept, lost };
}

/** The notes without those about a message that was deleted; the same list when there are none. */
export function removeNotes(notes: readonly Note[], removed: Placed): readonly Note[] {
  return notes.some((note) => isSame(note, removed))
    ? notes.filter((note) => !isSame(note, removed))
    : notes;
}

/** The edits of these messages. */
export function editsOf(
  notes: readonly Note[],
  messages: readonly Pick<MessageRef, "seq">[],
): readonly Note[] {
  return notes.filter(({ was }) => messages.some(({ seq }) => seq === was?.seq));
}

/** The messages with these edits. */
export function withEdits<Message extends MessageRef>(
  messages: readonly Message[],
  edits: readonly Note[],
): readonly Message[] {
  if (edits.length === 0) return messages;
  return messages.map((message) => {
    const edit = edits.find(({ was }) => was?.seq === message.seq);
    return edit === undefined ? message : { ...message, editSeq: edit.seq };
  });
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
): { readonly shown: readonly Note[]; readonly left: readonly Note[]; readonly lost: number } {
  const taken = notes.filter(({ seq }) => seq < before);
  const shown = maxAgeMs > 0 ? taken.filter(({ at }) => now - at <= maxAgeMs) : taken;
  const lost = taken.filter((note) => isEdit(note) && !shown.includes(note)).length;
  return { shown, left: notes.filter(({ seq }) => seq >= before), lost };
}

/** A note as effects name it. */
export const noteRef = ({ at: _, chat: __, ...ref }: Note): MessageRef => ref;

/** Messages and notes in the order in which they were heard; a history goes before what came since. */
export function withNotes(
  messages: readonly MessageRef[],
  notes: readonly Note[],
): readonly MessageRef[] {
  const all: MessageRef[] = [...messages];
  for (const note of notes) {
    const place = all.findLastIndex(({ seq }) => seq < note.seq);
    all.splice(place + 1, 0, noteRef(note));
  }
  return all;
}

/** The messages that turns have read, with more of them: the newest, each once. */
export function addRead(
  read: readonly ReadMessage[],
  more: readonly ReadMessage[],
): readonly ReadMessage[] {
  const isNew = ({ seq, id }: MessageRef) => !more.some((one) => one.seq === seq && one.id === id);
  return [...read.filter(isNew), ...more].slice(-limits.readMessagesCountMax);
}
