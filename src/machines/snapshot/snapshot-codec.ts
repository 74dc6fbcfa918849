/**
 * The fields of a record
 * ======================
 * One table: each field of the context that is kept, with its letter in the record, the form it is
 * written in, and the way back. Letters and tuples because a hundred thousand of these lie in the
 * store. A field at its usual value is left out; moments that many fields share are counted from one
 * base, the letter `z`, and a chat that messages are of is written once, in `ch`.
 */
import { z } from "zod";
import type { Participant } from "../../domain/decision.ts";
import { emptyFloors, type FloorLedger } from "../../domain/floor.ts";
import type { Millis } from "../../domain/message.ts";
import type { ConversationContext } from "../conversation/context.ts";
import type { Shared } from "./snapshot-messages.ts";
import * as messages from "./snapshot-messages.ts";
import * as form from "./snapshot-schema.ts";

/** Settings belong to the config version in force, not to the record. */
type StoredContext = Omit<ConversationContext, "settings" | "configured">;

interface Field<Value> {
  readonly letter: string;
  readonly schema: z.ZodType;
  /** Undefined: left out. `context`: all of it. */
  readonly write: (value: Value, shared: Shared, context: StoredContext) => unknown;
  /** `before`: what fields further up in the table were read as. */
  readonly read: (written: unknown, shared: Shared, before: Partial<StoredContext>) => Value;
}

const field =
  <Schema extends z.ZodType>(letter: string, schema: Schema) =>
  <Value>(
    write: (value: Value, shared: Shared, context: StoredContext) => z.input<Schema> | undefined,
    read: (written: z.output<Schema>, shared: Shared, before: Partial<StoredContext>) => Value,
  ): Field<Value> => ({
    letter,
    schema,
    write,
    read: (written, shared, before) => read(written as z.output<Schema>, shared, before),
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

const names = (letter: string): Field<readonly string[]> =>
  field(letter, messages.names)(
    (list: readonly string[], shared) =>
      list.length === 0 ? undefined : messages.packNames(list, shared),
    messages.unpackNames,
  );

/** Id, last seen (from base), name unless it is the id, 1 for a bot. */
const participant = z.union([
  z.tuple([z.string(), millis]),
  z.tuple([z.string(), millis, z.string().nullable()]),
  z.tuple([z.string(), millis, z.string().nullable(), z.literal(1)]),
]);

const table: { readonly [Name in keyof StoredContext]: Field<StoredContext[Name]> } = {
  participants: field("p", z.array(participant))(
    (list, { base }) => (list.length === 0 ? undefined : list.map((one) => packPerson(one, base))),
    (list, { base }) => list.map((one) => unpackPerson(one, base)),
  ),
  membership: field("m", z.tuple([count, count, form.flag, millis]))(
    (read, { base }) =>
      read === null
        ? undefined
        : [read.humans, read.bots, read.truncated ? 1 : 0, read.fetchedAt - base],
    ([humans, bots, truncated, fetched], { base }) => ({
      humans,
      bots,
      truncated: truncated === 1,
      fetchedAt: base + fetched,
    }),
  ),
  /** Author (a participant by place), end (from base). */
  ledger: field("l", z.array(z.tuple([z.union([z.string(), count]), millis])))(
    (ledger, { base }, { participants }) =>
      isEmpty(ledger)
        ? undefined
        : Object.entries(ledger).map(([author, ends]) => {
            const place = participants.findIndex(({ id }) => id === author);
            return [place === -1 ? author : place, ends - base];
          }),
    (rows, { base }, { participants = [] }) =>
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
    ({ consecutive, window }, { base }) =>
      consecutive === 0 ? undefined : [consecutive, window.map((at) => at - base)],
    ([consecutive, window], { base }) => ({ consecutive, window: window.map((at) => base + at) }),
  ),
  /** Entries, and how many fell off since it was taken. */
  buffer: field("b", z.tuple([z.array(messages.bufferEntry), count]))(
    ({ entries, dropped }, shared) =>
      entries.length === 0 && dropped === 0
        ? undefined
        : [entries.map((entry) => messages.packEntry(entry, shared)), dropped],
    ([entries, dropped], shared) => ({
      entries: entries.map((entry) => messages.unpackEntry(entry, shared)),
      dropped,
    }),
  ),
  notes: field("nt", z.array(messages.note))(
    (notes, shared) =>
      notes.length === 0 ? undefined : notes.map((one) => messages.packNote(one, shared)),
    (notes, shared) => notes.map((one) => messages.unpackNote(one, shared)),
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
  ownMessages: names("o"),
  siblingMessages: names("e"),
  heardMessages: names("c"),
  /** A number alone: of the message after the last one among those heard. */
  readByTurns: field("d", z.array(z.union([seq, messages.readMessage])))(
    (read, shared, { heardMessages }) =>
      read.length === 0 ? undefined : messages.packRead(read, shared, heardMessages),
    (read, shared, { heardMessages = [] }) => messages.unpackRead(read, shared, heardMessages),
  ),
  spokenIn: plain("h", strings),
};
const rows = Object.entries(table) as [keyof StoredContext, Field<unknown>][];

/** The written context: letters to values. */
export const fieldsSchema = z.strictObject({
  z: millis.exactOptional(),
  ch: strings.exactOptional(),
  /** In older snapshots: when the first window closes, as its batch says anyway. */
  fa: millis.exactOptional(),
  ...Object.fromEntries(rows.map(([, { letter, schema }]) => [letter, schema.exactOptional()])),
});

/** The context without what is at its usual value. */
export function writeFields(context: ConversationContext): Record<string, unknown> {
  const base = context.participants.at(-1)?.lastSeenAt ?? 0;
  const shared: Shared = { base, chats: [] };
  const written: Record<string, unknown> = base === 0 ? {} : { z: base };
  for (const [name, { letter, write }] of rows) {
    const value = write(context[name], shared, context);
    if (value !== undefined) written[letter] = value;
  }
  if (shared.chats.length > 0) written.ch = shared.chats;
  return written;
}

/** What `writeFields` wrote; what it left out is as in `usual`. */
export function readFields(
  written: Readonly<Record<string, unknown>>,
  usual: ConversationContext,
): ConversationContext {
  const shared = { base: written.z ?? 0, chats: written.ch ?? [] } as Shared;
  const found: Record<string, unknown> = {};
  for (const [name, { letter, read }] of rows)
    if (written[letter] !== undefined) found[name] = read(written[letter], shared, found);
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
