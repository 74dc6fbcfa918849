/**
 * The fields of a record
 * ======================
 * One table: each field of the context that is kept, with its letter in the record, the form it is
 * written in, and the way back. Letters and tuples because a hundred thousand of these lie in the
 * store. A field at its usual value is left out; moments that many fields share are counted from one
 * base, the letter `z`.
 */
import { z } from "zod";
import type { Participant } from "../../domain/decision.ts";
import { emptyFloors, type FloorLedger } from "../../domain/floor.ts";
import type { Millis } from "../../domain/message.ts";
import type { BufferEntry } from "../batching/context-buffer.ts";
import type { Note } from "../batching/notes.ts";
import type { ConversationContext } from "../conversation/context.ts";
import type { MessageRef } from "../events/effects.ts";
import * as form from "./snapshot-schema.ts";

/** Settings belong to the config version in force, not to the record. */
type StoredContext = Omit<ConversationContext, "settings" | "configured">;

interface Field<Value> {
  readonly letter: string;
  readonly schema: z.ZodType;
  /** Undefined: left out. `context`: all of it. */
  readonly write: (value: Value, base: Millis, context: StoredContext) => unknown;
  /** `before`: what fields further up in the table were read as. */
  readonly read: (written: unknown, base: Millis, before: Partial<StoredContext>) => Value;
}

const field =
  <Schema extends z.ZodType>(letter: string, schema: Schema) =>
  <Value>(
    write: (value: Value, base: Millis, context: StoredContext) => z.input<Schema> | undefined,
    read: (written: z.output<Schema>, base: Millis, before: Partial<StoredContext>) => Value,
  ): Field<Value> => ({
    letter,
    schema,
    write,
    read: (written, base, before) => read(written as z.output<Schema>, base, before),
  });

function isEmpty(value: unknown): boolean {
  if (value === null || value === 0) return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === "object" && Object.keys(value).length === 0;
}

/** Written as it is; left out where it is null, 0 or empty. */
const plain = <Value>(letter: string, schema: z.ZodType): Field<Value> => ({
  letter,
  schema,
  write: (value) => (isEmpty(value) ? undefined : value),
  read: (written) => written as Value,
});

const flag = (letter: string): Field<boolean> =>
  field(letter, z.literal(1))(
    (value: boolean) => (value ? 1 : undefined),
    () => true,
  );

const { millis, seq, count } = form;
const strings = z.array(z.string());

/** Id, last seen (from base), name unless it is the id, 1 for a bot. */
const participant = z.union([
  z.tuple([z.string(), millis]),
  z.tuple([z.string(), millis, z.string().nullable()]),
  z.tuple([z.string(), millis, z.string().nullable(), z.literal(1)]),
]);
/** What a question to the judge keeps of its message: place, files, album, gist. */
const askedMessage = z.tuple([form.route, form.flag, z.string().nullable(), z.string()]);
/** Number, id, heard (from base), author, 1 for ours, the edit's number (0: none), the question. */
const bufferEntry = z.union([
  z.tuple([seq, z.string(), millis, z.string()]),
  z.tuple([seq, z.string(), millis, z.string(), form.flag]),
  z.tuple([seq, z.string(), millis, z.string(), form.flag, seq]),
  z.tuple([seq, z.string(), millis, z.string(), form.flag, seq, askedMessage]),
]);

/** Number, the message it is about, heard (from base); of an edit how the message was read. */
const note = z.union([
  z.tuple([seq, z.string(), millis]),
  z.tuple([seq, z.string(), millis, seq]),
  z.tuple([seq, z.string(), millis, seq, seq]),
]);

/** Number, id, the edit's number. */
const readMessage = z.union([z.tuple([seq, z.string()]), z.tuple([seq, z.string(), seq])]);

const table: { readonly [Name in keyof StoredContext]: Field<StoredContext[Name]> } = {
  participants: field("p", z.array(participant))(
    (list, base) => (list.length === 0 ? undefined : list.map((one) => packPerson(one, base))),
    (list, base) => list.map((one) => unpackPerson(one, base)),
  ),
  membership: field("m", z.tuple([count, count, form.flag, millis]))(
    (read, base) =>
      read === null
        ? undefined
        : [read.humans, read.bots, read.truncated ? 1 : 0, read.fetchedAt - base],
    ([humans, bots, truncated, fetched], base) => ({
      humans,
      bots,
      truncated: truncated === 1,
      fetchedAt: base + fetched,
    }),
  ),
  /** Author (a participant by place), end (from base). */
  ledger: field("l", z.array(z.tuple([z.union([z.string(), count]), millis])))(
    (ledger, base, { participants }) =>
      isEmpty(ledger)
        ? undefined
        : Object.entries(ledger).map(([author, ends]) => {
            const place = participants.findIndex(({ id }) => id === author);
            return [place === -1 ? author : place, ends - base];
          }),
    (rows, base, { participants = [] }) =>
      Object.fromEntries(
        rows.map(([author, ends]) => {
          const id = typeof author === "string" ? author : participants[author]?.id;
          return [id ?? String(author), base + ends];
        }),
      ),
  ),
  /** Rows as pairs: an author may be called like a property of every object. */
  floors: field("fl", form.floors)(
    (floors: FloorLedger) =>
      floors === emptyFloors ? undefined : { ...floors, rows: Object.entries(floors.rows) },
    ({ rows, ...counts }) => ({ ...counts, rows: Object.fromEntries(rows) }),
  ),
  counters: field("g", z.tuple([count, z.array(millis)]))(
    ({ consecutive, window }, base) =>
      consecutive === 0 ? undefined : [consecutive, window.map((at) => at - base)],
    ([consecutive, window], base) => ({ consecutive, window: window.map((at) => base + at) }),
  ),
  /** Entries, and how many fell off since it was taken. */
  buffer: field("b", z.tuple([z.array(bufferEntry), count]))(
    ({ entries, dropped }, base) =>
      entries.length === 0 && dropped === 0
        ? undefined
        : [entries.map((entry) => packEntry(entry, base)), dropped],
    ([entries, dropped], base) => ({
      entries: entries.map((entry) => unpackEntry(entry, base)),
      dropped,
    }),
  ),
  notes: field("nt", z.array(note))(
    (notes, base) => (notes.length === 0 ? undefined : notes.map((one) => packNote(one, base))),
    (notes, base) => notes.map((one) => unpackNote(one, base)),
  ),
  seeded: flag("s"),
  forming: plain("f", z.array(form.forming)),
  inbox: plain("i", z.array(form.flush)),
  quietAt: plain("q", millis),
  quietBy: plain("qb", millis),
  droppedWhileBusy: plain("n", strings),
  run: plain("r", form.run),
  relays: plain("w", z.array(form.relay)),
  heartbeat: plain("k", form.route),
  prompts: plain("pr", z.array(form.prompt)),
  interruptedAt: plain("u", millis),
  override: plain("v", form.override),
  typing: plain("y", form.route),
  turnSeq: plain("t", count),
  introduced: flag("x"),
  abortedLastRun: flag("a"),
  ownMessages: plain("o", strings),
  siblingMessages: plain("e", strings),
  heardMessages: plain("c", strings),
  /** A number alone: of the message after the last one among those heard. */
  readByTurns: field("d", z.array(z.union([seq, readMessage])))(
    (read, _base, { heardMessages }) =>
      read.length === 0 ? undefined : packRead(read, heardMessages),
    (read, _base, { heardMessages = [] }) => unpackRead(read, heardMessages),
  ),
  spokenIn: plain("h", strings),
};
const rows = Object.entries(table) as [keyof StoredContext, Field<unknown>][];

/** The written context: letters to values. */
export const fieldsSchema = z.strictObject({
  z: millis.exactOptional(),
  /** In older snapshots: when the first window closes, as its batch says anyway. */
  fa: millis.exactOptional(),
  ...Object.fromEntries(rows.map(([, { letter, schema }]) => [letter, schema.exactOptional()])),
});

/** The context without what is at its usual value. */
export function writeFields(context: ConversationContext): Record<string, unknown> {
  const base = context.participants.at(-1)?.lastSeenAt ?? 0;
  const written: Record<string, unknown> = base === 0 ? {} : { z: base };
  for (const [name, { letter, write }] of rows) {
    const value = write(context[name], base, context);
    if (value !== undefined) written[letter] = value;
  }
  return written;
}

/** What `writeFields` wrote; what it left out is as in `usual`. */
export function readFields(
  written: Readonly<Record<string, unknown>>,
  usual: ConversationContext,
): ConversationContext {
  const base = (written.z ?? 0) as Millis;
  const found: Record<string, unknown> = {};
  for (const [name, { letter, read }] of rows)
    if (written[letter] !== undefined) found[name] = read(written[letter], base, found);
  return { ...usual, ...found };
}

function packPerson(
  { id, name, isBot, lastSeenAt }: Participant,
  base: Millis,
): z.input<typeof participant> {
  const shown = name === id ? null : name;
  if (isBot) return [id, lastSeenAt - base, shown, 1];
  return shown === null ? [id, lastSeenAt - base] : [id, lastSeenAt - base, shown];
}

function unpackPerson(
  [id, seen, name, bot]: z.output<typeof participant>,
  base: Millis,
): Participant {
  return { id, name: name ?? id, isBot: bot === 1, lastSeenAt: base + seen };
}

function packRead(
  read: readonly MessageRef[],
  heard: readonly string[],
): z.input<typeof readMessage | typeof seq>[] {
  let place = -1;
  return read.map(({ seq, id, editSeq }) => {
    const isNext = heard[place + 1] === id && editSeq === undefined;
    place = isNext ? place + 1 : heard.indexOf(id);
    if (isNext) return seq;
    return editSeq === undefined ? [seq, id] : [seq, id, editSeq];
  });
}

function unpackRead(
  written: readonly z.output<typeof readMessage | typeof seq>[],
  heard: readonly string[],
): readonly MessageRef[] {
  let place = -1;
  return written.map((one) => {
    if (typeof one === "number") {
      place += 1;
      return { seq: one, id: heard[place] ?? "" };
    }
    const [seq, id, editSeq] = one;
    place = heard.indexOf(id);
    return editSeq === undefined ? { seq, id } : { seq, id, editSeq };
  });
}

function packNote({ seq, id, at, was }: Note, base: Millis): z.input<typeof note> {
  if (was === undefined) return [seq, id, at - base];
  if (was.editSeq === undefined) return [seq, id, at - base, was.seq];
  return [seq, id, at - base, was.seq, was.editSeq];
}

function unpackNote([seq, id, at, was, editSeq]: z.output<typeof note>, base: Millis): Note {
  const found = { seq, id, at: base + at };
  if (was === undefined) return found;
  return { ...found, was: editSeq === undefined ? { seq: was } : { seq: was, editSeq } };
}

function packEntry(
  { seq, id, at, author, self, editSeq, asked }: BufferEntry,
  base: Millis,
): z.input<typeof bufferEntry> {
  if (asked !== undefined) {
    const { route, media, group, gist } = asked;
    const question = [route, media ? 1 : 0, group, gist] as z.input<typeof askedMessage>;
    return [seq, id, at - base, author, self ? 1 : 0, editSeq ?? 0, question];
  }
  if (editSeq !== undefined) return [seq, id, at - base, author, self ? 1 : 0, editSeq];
  return self ? [seq, id, at - base, author, 1] : [seq, id, at - base, author];
}

function unpackEntry(
  [seq, id, at, author, self, editSeq, question]: z.output<typeof bufferEntry>,
  base: Millis,
): BufferEntry {
  const heard = { seq, id, at: base + at, author, self: self === 1 };
  const entry = editSeq === undefined || editSeq === 0 ? heard : { ...heard, editSeq };
  if (question === undefined) return entry;
  const [route, media, group, gist] = question;
  return { ...entry, asked: { route, media: media === 1, group, gist } };
}
