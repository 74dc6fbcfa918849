/**
 * The form of a record
 * ====================
 * Every field of the compact context, checked before a conversation is brought back to life. Short
 * names and tuples because a hundred thousand of these lie in the store; strict, because a field
 * nobody knows means that the record was written by another version.
 */
import { z } from "zod";
import { activations } from "../../domain/decision.ts";
import { chatKindSchema } from "../../domain/message.ts";

const millis = z.number().int();
const seq = z.number().int();
const count = z.number().int().min(0);
const flag = z.literal([0, 1]);

export const attentions = [
  "observing",
  "engaged.gathering",
  "engaged.waiting",
  "engaged.running.open",
  "engaged.running.disengaged",
  "engaged.running.skipped",
  "engaged.settling",
] as const;
export type Attention = (typeof attentions)[number];
export const guardStates = ["clear", "tripped", "muted"] as const;

const route = z.strictObject({
  channel: z.string(),
  account: z.string(),
  chat: z.strictObject({ id: z.string(), kind: chatKindSchema }),
  thread: z.strictObject({ id: z.string(), kind: z.enum(["thread", "topic"]) }).nullable(),
});
const ref = z.strictObject({ seq, id: z.string(), editSeq: seq.exactOptional() });
const message = z.strictObject({
  seq,
  id: z.string(),
  at: millis,
  author: z.string(),
  editSeq: seq.exactOptional(),
  ack: z.string().nullable(),
  gist: z.string(),
});
const batch = {
  route,
  messages: z.array(message).min(1),
  instant: z.boolean(),
  holds: z.boolean(),
  overtaken: z.boolean(),
};
const forming = z.strictObject({
  ...batch,
  author: z.string(),
  group: z.string().nullable(),
  firstAt: millis,
  closesAt: millis,
});
const flush = z.strictObject({
  ...batch,
  backlog: z.boolean(),
  steeredAt: count.nullable(),
});
const order = z.strictObject({
  type: z.literal("turn.run"),
  turnId: z.string(),
  turn: count,
  attempt: count,
  batch: z.array(ref),
  context: z.array(ref),
  omitted: count,
  droppedWhileBusy: z.array(z.string()),
  route,
  replyTo: z.string(),
  guard: z.boolean(),
  nudge: z.boolean(),
  introduce: z.boolean(),
  afterAbort: z.boolean(),
  participants: z.array(z.string()),
  humans: count,
  heartbeat: z.literal(true).exactOptional(),
  firstIndex: count.exactOptional(),
});
const run = z.strictObject({
  order,
  batch: z.array(message),
  holds: z.boolean(),
  overtaken: z.boolean(),
  lock: z.enum(["open", "disengaged", "skipped"]),
  ended: z.boolean(),
  abortedBy: z.string().nullable(),
  blocks: count,
  offset: count,
  open: z.array(
    z.strictObject({
      index: count,
      kind: z.enum(["reply", "notice", "aside"]),
      mentions: z.array(z.string()),
      draft: z.literal(true).exactOptional(),
    }),
  ),
  left: z.literal(true).exactOptional(),
  refused: z.literal(true).exactOptional(),
  asides: z.array(count).exactOptional(),
  shown: count.exactOptional(),
});
const relay = z.strictObject({
  token: z.string(),
  place: count,
  keys: z.array(z.string()),
  seq,
  at: millis,
  ahead: z.array(count),
});
const override = z.strictObject({
  queue: z
    .strictObject({
      mode: z
        .enum(["collect", "followup", "queue", "steer", "steer-backlog", "interrupt"])
        .exactOptional(),
      debounceMs: count.exactOptional(),
      cap: count.exactOptional(),
      drop: z.enum(["summarize", "old", "new"]).exactOptional(),
    })
    .exactOptional(),
  send: z.enum(["allow", "deny"]).exactOptional(),
  activation: z.enum(activations).exactOptional(),
});

/** Moments marked "from base" are differences to `z`. Absent fields are at their default. */
const compactSchema = z.strictObject({
  /** The base moment. */
  z: millis.exactOptional(),
  /** Participants: id, last seen (from base), name unless it is the id, 1 for a bot. */
  p: z
    .array(
      z.union([
        z.tuple([z.string(), millis]),
        z.tuple([z.string(), millis, z.string().nullable()]),
        z.tuple([z.string(), millis, z.string().nullable(), z.literal(1)]),
      ]),
    )
    .exactOptional(),
  /** Membership: humans, bots, truncated, fetched (from base). */
  m: z.tuple([count, count, flag, millis]).exactOptional(),
  /** Credits: author, end (from base). */
  l: z.array(z.tuple([z.string(), millis])).exactOptional(),
  /** Guard counters: consecutive, window (from base). */
  g: z.tuple([count, z.array(millis)]).exactOptional(),
  /** Buffer: number, id, heard (from base), author, ours, edit's number. */
  b: z
    .array(
      z.union([
        z.tuple([seq, z.string(), millis, z.string()]),
        z.tuple([seq, z.string(), millis, z.string(), flag]),
        z.tuple([seq, z.string(), millis, z.string(), flag, seq]),
      ]),
    )
    .exactOptional(),
  /** Fell off the buffer since it was taken. */
  bd: count.exactOptional(),
  s: z.literal(1).exactOptional(),
  f: z.array(forming).exactOptional(),
  i: z.array(flush).exactOptional(),
  fa: millis.exactOptional(),
  /** Quiet window: end, last end. */
  q: z.tuple([millis, millis]).exactOptional(),
  n: z.array(z.string()).exactOptional(),
  r: run.exactOptional(),
  /** Messages that other agents answer, too. */
  w: z.array(relay).exactOptional(),
  /** A heartbeat is owed, to this place. */
  k: route.exactOptional(),
  /** Last interruption. */
  u: millis.exactOptional(),
  /** What the session says differently. */
  v: override.exactOptional(),
  y: route.exactOptional(),
  t: count.exactOptional(),
  d: count.exactOptional(),
  x: z.literal(1).exactOptional(),
  a: z.literal(1).exactOptional(),
  o: z.array(z.string()).exactOptional(),
  /** Messages of other agents here. */
  e: z.array(z.string()).exactOptional(),
  h: z.array(z.string()).exactOptional(),
});
export type CompactContext = z.infer<typeof compactSchema>;

/** `[record version, machine version, "attention|guard", context]`. */
export const recordSchema = z.tuple([z.number(), z.number(), z.string(), compactSchema]);
