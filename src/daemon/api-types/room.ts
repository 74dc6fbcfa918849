/**
 * Answers of `GET /api/rooms/{key}` and its stream: the transcript in journal order, and the state
 * of the conversation. An entry never changes once it is sent. An edit, a deletion or a decision is a
 * separate entry that names its subject, so a page that has everything up to a number is complete.
 */

import { z } from "zod";
import { activations, expectedSchema } from "../../domain/decision.ts";
import { failureKinds, outcomes } from "../../domain/stream.ts";
import { attentions, guardStates, locks } from "../../machines/conversation/states.ts";
import { judgementSchema, verdictSchema } from "./runtime.ts";
import { count, millis, personSchema, type Shape, text } from "./schema.ts";

/** An author in the room. */
export type RoomPerson = Shape<typeof personSchema>;

/** Fields of every entry. `seq`: journal number, unique and growing. */
const entry = { seq: count, at: millis };
/** Of an entry that names a message: ids are unique in a chat only. */
const inChat = {
  chat: text.exactOptional().describe("chat of the message, where the session may hold several"),
};

const fileSchema = z.object({
  kind: z.enum(["image", "audio", "video", "file"]),
  mime: text.exactOptional(),
  bytes: count.exactOptional(),
  name: text.exactOptional(),
});
/** A file of a message: its description, without an address. */
export type RoomFile = Shape<typeof fileSchema>;

const messageSchema = z.object({
  kind: z.literal("heard"),
  ...entry,
  ...inChat,
  id: text,
  author: personSchema,
  text,
  mentions: z.array(text).describe("names as platforms write them in a text, without the sign"),
  quote: z.object({ id: text, name: text, text }).nullable().describe("what it replies to"),
  title: text.exactOptional().describe("title of the chat at that time"),
  files: z.array(fileSchema),
  verdict: verdictSchema
    .nullable()
    .describe("null: not decided yet, or read from history, where nothing is decided"),
  history: z.literal(true).exactOptional().describe("read from the platform when the agent came"),
  fellow: z.literal(true).exactOptional().describe("written by another agent of this daemon"),
});
/** A received message. */
export type MessageEntry = Shape<typeof messageSchema>;

const editedSchema = z.object({
  kind: z.literal("edited"),
  ...entry,
  ...inChat,
  id: text,
  text,
});

const deletedSchema = z.object({
  kind: z.literal("deleted"),
  ...entry,
  ...inChat,
  id: text,
});

const reactedSchema = z.object({
  kind: z.literal("reacted"),
  ...entry,
  ...inChat,
  id: text.describe("platform id of the message"),
  author: personSchema,
  added: z.array(text),
  removed: z.array(text),
});
/** Somebody's reactions to a message changed. */
export type ReactedEntry = Shape<typeof reactedSchema>;

const commandSchema = z.object({
  kind: z.literal("command"),
  ...entry,
  ...inChat,
  id: text,
  author: personSchema,
  command: text,
  text,
});
/** A command. Admission executed it, without the ladder. */
export type CommandEntry = Shape<typeof commandSchema>;

const labelledSchema = z.object({
  kind: z.literal("labelled"),
  ...entry,
  ...inChat,
  id: text.describe("platform id of the message"),
  expected: expectedSchema
    .nullable()
    .describe("what would have been right; null: an earlier label is removed"),
  by: text,
});
/** Somebody said what would have been right about a message. The last one counts. */
export type LabelledEntry = Shape<typeof labelledSchema>;

const judgedSchema = z.object({
  kind: z.literal("judged"),
  seq: count,
  ...inChat,
  id: text.describe("platform id of the message"),
  ...judgementSchema.shape,
});
/** The judge of the room answered about a message, or gave no answer. */
export type JudgedEntry = Shape<typeof judgedSchema>;

const actedSchema = z.object({
  kind: z.literal("acted"),
  ...entry,
  does: z.enum(["stop", "disengage", "say", "activation"]),
  by: text,
  level: z
    .enum(activations)
    .nullable()
    .exactOptional()
    .describe("of activation; null: as configured"),
});
/** Somebody did something to the room from outside of it. */
export type ActedEntry = Shape<typeof actedSchema>;

const sessionSchema = z.object({
  kind: z.literal("session"),
  ...entry,
  why: z
    .enum(["operator", "command", "policy", "compaction", "omission"])
    .describe(
      "command: a message of the room; policy: `session.reset` of the config; compaction: no new session, but a summary replaces older messages; omission: they are left out, there is no summary",
    ),
  by: text.exactOptional(),
});
/** A session began here: the agent remembers nothing of what is before. Or it was compacted. */
export type SessionEntry = Shape<typeof sessionSchema>;

const turnSchema = z.object({ kind: z.literal("turn"), ...entry, turnId: text });

const endedSchema = z.object({
  kind: z.literal("ended"),
  ...entry,
  turnId: text,
  outcome: z.enum(outcomes),
  reason: text.nullable(),
  unsent: text.exactOptional().describe("what the agent had said when it was cut off, not sent"),
  failure: z.enum(failureKinds).exactOptional().describe("of a failed turn: what went wrong"),
});
/**
 * An attempt of a turn's agent ended. The last one of a turn counts. An answer whose parts are still
 * on their way counts as replied; if one of them is not delivered, another entry says the outcome.
 */
export type EndedEntry = Shape<typeof endedSchema>;

const replySchema = z.object({
  kind: z.literal("said"),
  ...entry,
  ...inChat,
  id: text.describe("`turnId:index`, as in the outbox"),
  turnId: text,
  text,
  replyTo: text.nullable().describe("platform id of the message it replies to"),
  status: z.enum(["sent", "in-doubt", "expired", "dead"]),
  error: text.nullable(),
  edits: text.exactOptional().describe("the entry whose message has this text now"),
  aside: z
    .enum(["reasoning", "status"])
    .exactOptional()
    .describe("not a part of the answer itself"),
  credited: z
    .array(z.object({ name: text, ms: millis }))
    .describe("people who got a credit by it, as far as the journal was read"),
});
/** A part of an answer that was delivered, or will not be. */
export type ReplyEntry = Shape<typeof replySchema>;

const entrySchema = z.discriminatedUnion("kind", [
  messageSchema,
  editedSchema,
  deletedSchema,
  reactedSchema,
  labelledSchema,
  judgedSchema,
  commandSchema,
  actedSchema,
  sessionSchema,
  turnSchema,
  endedSchema,
  replySchema,
]);
export type RoomEntry = Shape<typeof entrySchema>;

export const roomHistorySchema = z.object({
  entries: z.array(entrySchema).describe("oldest first"),
  before: count.nullable().describe("requests the previous page; null: this is the beginning"),
  upTo: count.describe("nothing is missing between these entries and this number"),
});
/** A page of the transcript. */
export type RoomHistory = Shape<typeof roomHistorySchema>;

const runningTurnSchema = z.object({
  turn: count,
  turnId: text,
  since: millis,
  attempt: count,
  batch: z
    .array(z.object({ id: text, author: personSchema }))
    .describe("messages it answers; empty: a heartbeat"),
  context: count.describe("observed messages in its prompt"),
  place: text,
  replyTo: text.nullable(),
  ack: z
    .object({ emoji: text, on: count })
    .nullable()
    .describe("the reaction, and how many messages carry it; null: none is configured"),
  parts: z.object({ made: count, open: count }).describe("handed to delivery; not answered yet"),
  ended: z.boolean().describe("the agent has ended; only deliveries are open"),
  abortedBy: text.nullable(),
});
/** The running turn. */
export type RoomTurn = Shape<typeof runningTurnSchema>;

const batchSchema = z.object({
  authors: z.array(personSchema),
  messages: count,
  closesAt: millis.nullable().describe("null: it is closed, and waits in the queue"),
});
/** A batch that waits for a turn. */
export type RoomBatch = Shape<typeof batchSchema>;

const creditSchema = z.object({
  who: personSchema,
  endsAt: millis.nullable().describe("null: only the turn or the queue holds it"),
  held: z.boolean(),
});
export type RoomCredit = Shape<typeof creditSchema>;

const overheardSchema = z.object({
  seq: count,
  id: text,
  at: millis,
  author: personSchema,
  text,
});

export const roomStateSchema = z.object({
  now: millis.describe("the daemon's clock, for countdowns"),
  seq: count.describe("the journal number that this state includes"),
  attention: z.enum(attentions),
  lock: z.enum(locks).describe("what the running turn may still do to the room"),
  since: millis.nullable().describe("null: unknown"),
  trail: z
    .array(z.object({ attention: z.enum(attentions), until: millis }))
    .describe("states that attention was in lately, oldest first"),
  guard: z.object({ state: z.enum(guardStates), consecutive: count }),
  typing: z.boolean(),
  turns: count,
  turn: runningTurnSchema.nullable(),
  batches: z.array(batchSchema),
  credits: z.array(creditSchema),
  stickiness: z.object({ windowMs: millis, mode: text }),
  buffer: z.object({
    size: count,
    used: count,
    dropped: count.describe("removed by size or age since the last turn read it"),
    newest: z.array(overheardSchema).describe("newest first"),
  }),
  humans: z.object({ count, source: text }),
  people: z.array(personSchema).describe("the latest speaker first; at most 12"),
  bots: count,
  activation: text,
  asked: z
    .array(z.object({ id: text, ...inChat, until: millis }))
    .describe("messages that the judge is asked about: without an answer by then, there is none"),
});
/** The state of the conversation after journal row `seq`. */
export type RoomState = Shape<typeof roomStateSchema>;

export const roomViewSchema = z.object({
  key: text,
  title: text,
  channel: text,
  account: text,
  kind: text,
  agent: z.object({ id: text, name: text }),
  upTo: count.describe("the `after` of a page that reconnects"),
  state: roomStateSchema,
  history: roomHistorySchema,
});
/** The first answer of the page. */
export type RoomView = Shape<typeof roomViewSchema>;

const writingSchema = z.object({ turnId: text, text });
/** The running turn's text so far. */
export type RoomWriting = Shape<typeof writingSchema>;

/** A frame of `GET /api/rooms/{key}/live`. */
export const roomFrameSchema = z.discriminatedUnion("type", [
  z
    .object({ type: z.literal("open"), view: roomViewSchema, writing: writingSchema.nullable() })
    .describe("first, and again after missing too much: the whole view"),
  z
    .object({
      type: z.literal("more"),
      upTo: count,
      entries: z.array(entrySchema),
      state: roomStateSchema,
      writing: writingSchema.nullable(),
    })
    .describe("what is new since the last frame"),
]);
export type RoomFrame = Shape<typeof roomFrameSchema>;
