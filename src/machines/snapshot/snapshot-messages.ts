/**
 * Messages in a record
 * ====================
 * The forms of what a conversation remembers of messages, short because there are many of them. Where
 * a session holds several chats, each message has the place of its chat in a list that is written
 * once; where it holds one, and in records of earlier versions, nothing is said of chats.
 */
import { z } from "zod";
import type { Millis } from "../../domain/message.ts";
import { nameIn, placed, placedOf } from "../batching/chats.ts";
import type { AskedMessage, BufferEntry } from "../batching/context-buffer.ts";
import type { Note, ReadMessage } from "../batching/notes.ts";
import { count, flag, millis, route, seq } from "./snapshot-schema.ts";

/** What the fields of a record share. */
export interface Shared {
  /** Moments are counted from it. */
  readonly base: Millis;
  /** The chats that messages are of; writing adds to it. */
  readonly chats: string[];
}

/** What a question to the judge keeps of its message: place, files, album, gist. */
const askedMessage = z.tuple([route, flag, z.string().nullable(), z.string()]);
const kind = z.literal([0, 1, 2]);
const heard = [seq, z.string(), millis, z.string()] as const;

/** Number, id, heard (from base), author, 1 for ours (2: stopped), the edit's number (0: none), the question, the chat. */
export const bufferEntry = z.union([
  z.tuple(heard),
  z.tuple([...heard, kind]),
  z.tuple([...heard, kind, seq]),
  z.tuple([...heard, kind, seq, askedMessage]),
  z.tuple([...heard, kind, seq, askedMessage.nullable(), count]),
]);

/** Number, the message it is about, heard (from base); of an edit how the message was read; the chat. */
export const note = z.union([
  z.tuple([seq, z.string(), millis]),
  z.tuple([seq, z.string(), millis, seq]),
  z.tuple([seq, z.string(), millis, seq, seq]),
  z.tuple([seq, z.string(), millis, seq, seq, count]),
]);

/** Number, id, the edit's number (0: none), the chat. */
export const readMessage = z.union([
  z.tuple([seq, z.string()]),
  z.tuple([seq, z.string(), seq]),
  z.tuple([seq, z.string(), seq, count]),
]);

const noChat = -1;

/** Ids. A number: those after it are of that chat; -1: it is not known of which. */
export const names = z.array(z.union([z.string(), z.number().int().min(noChat)]));

function placeOf(chat: string, { chats }: Shared): number {
  const place = chats.indexOf(chat);
  return place === -1 ? chats.push(chat) - 1 : place;
}

const chatAt = (place: number | undefined, { chats }: Shared): string | undefined =>
  place === undefined ? undefined : chats[place];

export function packNames(list: readonly string[], shared: Shared): z.input<typeof names> {
  const written: z.input<typeof names> = [];
  let last = noChat;
  for (const name of list) {
    const { id, chat } = placedOf(name);
    const place = chat === undefined ? noChat : placeOf(chat, shared);
    if (place !== last) written.push(place);
    written.push(id);
    last = place;
  }
  return written;
}

export function unpackNames(written: z.output<typeof names>, shared: Shared): readonly string[] {
  const list: string[] = [];
  let chat: string | undefined;
  for (const one of written) {
    if (typeof one === "number") chat = chatAt(one, shared);
    else list.push(nameIn(chat, one));
  }
  return list;
}

/** A number that is there only to keep the place of what follows it. */
const isNone = (number: number | undefined): number is 0 | undefined =>
  number === undefined || number === 0;

/** A number alone: of the message after the last one among those heard. */
export function packRead(
  read: readonly ReadMessage[],
  shared: Shared,
  heardNames: readonly string[],
): z.input<typeof readMessage | typeof seq>[] {
  let place = -1;
  return read.map(({ seq, id, editSeq, chat }) => {
    const name = nameIn(chat, id);
    const isNext = heardNames[place + 1] === name && editSeq === undefined;
    place = isNext ? place + 1 : heardNames.indexOf(name);
    if (isNext) return seq;
    if (chat !== undefined) return [seq, id, editSeq ?? 0, placeOf(chat, shared)];
    return editSeq === undefined ? [seq, id] : [seq, id, editSeq];
  });
}

export function unpackRead(
  written: readonly z.output<typeof readMessage | typeof seq>[],
  shared: Shared,
  heardNames: readonly string[],
): readonly ReadMessage[] {
  let place = -1;
  return written.map((one) => {
    if (typeof one === "number") {
      place += 1;
      return { seq: one, ...placedOf(heardNames[place] ?? "") };
    }
    const [seq, id, editSeq, at] = one;
    const chat = chatAt(at, shared);
    place = heardNames.indexOf(nameIn(chat, id));
    return placed(isNone(editSeq) ? { seq, id } : { seq, id, editSeq }, chat);
  });
}

export function packNote({ seq, id, at, was, chat }: Note, shared: Shared): z.input<typeof note> {
  const since = at - shared.base;
  if (chat !== undefined)
    return [seq, id, since, was?.seq ?? 0, was?.editSeq ?? 0, placeOf(chat, shared)];
  if (was === undefined) return [seq, id, since];
  if (was.editSeq === undefined) return [seq, id, since, was.seq];
  return [seq, id, since, was.seq, was.editSeq];
}

export function unpackNote(
  [seq, id, at, was, editSeq, chat]: z.output<typeof note>,
  shared: Shared,
): Note {
  const found = placed({ seq, id, at: shared.base + at }, chatAt(chat, shared));
  if (isNone(was)) return found;
  return { ...found, was: isNone(editSeq) ? { seq: was } : { seq: was, editSeq } };
}

export function packEntry(
  { seq, id, at, author, self, editSeq, asked, chat, stopped }: BufferEntry,
  shared: Shared,
): z.input<typeof bufferEntry> {
  const since = at - shared.base;
  const kind = self ? 1 : stopped ? 2 : 0;
  const question = asked === undefined ? null : packQuestion(asked);
  if (chat !== undefined)
    return [seq, id, since, author, kind, editSeq ?? 0, question, placeOf(chat, shared)];
  if (question !== null) return [seq, id, since, author, kind, editSeq ?? 0, question];
  if (editSeq !== undefined) return [seq, id, since, author, kind, editSeq];
  return kind > 0 ? [seq, id, since, author, kind] : [seq, id, since, author];
}

const packQuestion = ({ route, media, group, gist }: AskedMessage) =>
  [route, media ? 1 : 0, group, gist] as z.input<typeof askedMessage>;

export function unpackEntry(
  [seq, id, at, author, kind, editSeq, question = null, chat]: z.output<typeof bufferEntry>,
  shared: Shared,
): BufferEntry {
  const known = { seq, id, at: shared.base + at, author, self: kind === 1 };
  const said = kind === 2 ? ({ ...known, stopped: true } as const) : known;
  const heard = placed(said, chatAt(chat, shared));
  const entry = isNone(editSeq) ? heard : { ...heard, editSeq };
  if (question === null) return entry;
  const [route, media, group, gist] = question;
  return { ...entry, asked: { route, media: media === 1, group, gist } };
}
