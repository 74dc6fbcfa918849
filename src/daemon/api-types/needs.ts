/**
 * Answers of `GET /api/needs`: what only a person can decide, each with what it means and what may be
 * done about it.
 */
import { z } from "zod";
import { scheduleOriginSchema } from "./schedules.ts";
import { count, millis, type Shape, text } from "./schema.ts";

const actSchema = z.object({
  action: text.describe("for `POST /api/needs/:id/:action`"),
  label: text.describe("text of its button"),
  question: text.nullable().describe("asked first; null: it is done at once"),
  back: text.nullable().describe("button that leaves everything as it is"),
});
/** Something that may be done about a need. */
export type NeedAct = Shape<typeof actSchema>;

const common = {
  id: text.describe("the same as long as it lasts"),
  title: text.describe("what happened, in one line"),
  meaning: text.describe("what it means, and what to do where no action helps"),
  acts: z.array(actSchema),
};
const deliverySchema = z
  .object({
    ...common,
    kind: z.literal("delivery"),
    id: text.describe("as in the outbox"),
    state: z.enum(["in-doubt", "dead"]),
    key: text,
    room: text.describe("name of the room"),
    at: millis,
    text,
    error: text.nullable(),
  })
  .describe("a part of an answer that may not have arrived, or will not be sent");
const haltedSchema = z
  .object({
    ...common,
    kind: z.literal("connection"),
    channel: text,
    name: text,
    account: text,
    since: millis,
    detail: text.nullable(),
  })
  .describe("an account that stopped connecting");
const gapSchema = z
  .object({
    ...common,
    kind: z.literal("gap"),
    channel: text,
    name: text,
    account: text,
    from: millis,
    to: millis,
    rooms: z.array(text).describe("the platform's ids of the chats; empty: any of the account's"),
  })
  .describe("a time in which messages may have been lost");
const quarantinedSchema = z
  .object({
    ...common,
    kind: z.literal("quarantine"),
    key: text,
    room: text,
    seq: count,
    at: millis,
    error: text,
    tries: count.describe("how often it has been tried again"),
  })
  .describe("an event that killed its host or broke its conversation");
const unsaidSchema = z
  .object({
    ...common,
    kind: z.literal("schedule"),
    name: text,
    origin: scheduleOriginSchema,
    due: millis,
    why: text,
  })
  .describe("an entry of the schedule that was not said");
const daemonSchema = z
  .object({ ...common, kind: z.literal("daemon"), problem: text })
  .describe("messages are not accepted, or with a problem");

const agentSchema = z
  .object({
    ...common,
    kind: z.literal("agent"),
    agentId: text,
    turns: count.describe("turns that failed in a row"),
    cause: text.describe("kind of the last failure, as in the metric"),
    key: text.describe("room of the last one"),
    turnId: text,
    at: millis,
  })
  .describe("an agent whose turns fail, three or more in a row");
const place = { channel: text, account: text, chat: text.describe("the platform's id") };
const refusedSchema = z
  .object({
    ...common,
    ...place,
    kind: z.literal("refused"),
    direct: z.boolean().describe("the chat is a direct one"),
    what: z.enum(["group", "person"]).describe("what would have to be allowed"),
    room: text.describe("title of the chat"),
    person: text.nullable().describe("the platform's id of the person; null: the whole group"),
    name: text.nullable(),
    count: count.describe("messages that were refused since the start"),
    since: millis,
    at: millis.describe("the last one"),
  })
  .describe("a group or a person that access policy refuses");
const pairingSchema = z
  .object({
    ...common,
    kind: z.literal("pairing"),
    channel: text,
    account: text,
    person: text,
    name: text,
    code: text,
    since: millis,
    expiresAt: millis,
  })
  .describe("a stranger who asks to be let in");
const configSchema = z
  .object({
    ...common,
    kind: z.literal("config"),
    path: text,
    line: count.nullable(),
    excerpt: z
      .array(z.object({ line: count, text }))
      .describe("the file around that line, without secrets; empty: no line is known"),
    error: text,
    since: millis,
  })
  .describe("a config file that was refused; the last valid one is in force");
const overrideSchema = z
  .object({
    ...common,
    kind: z.literal("override"),
    path: text,
    by: text,
    layer: z.enum(["set", "debug"]),
  })
  .describe("a value set over the config file that hides another value in it");

export const needSchema = z.discriminatedUnion("kind", [
  deliverySchema,
  haltedSchema,
  gapSchema,
  quarantinedSchema,
  unsaidSchema,
  daemonSchema,
  agentSchema,
  refusedSchema,
  pairingSchema,
  configSchema,
  overrideSchema,
]);
/** Something that needs attention. */
export type Need = Shape<typeof needSchema>;

export const needsAnswerSchema = z.object({
  needs: z.array(needSchema),
  more: count.describe("further needs that are not listed"),
});
export type NeedsAnswer = Shape<typeof needsAnswerSchema>;
