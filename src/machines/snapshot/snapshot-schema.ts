/**
 * What a record is made of
 * ========================
 * The larger values of a conversation's context, as they are checked before a conversation is brought
 * back to life. Strict, because a field nobody knows means that another version wrote the record.
 */
import { z } from "zod";
import { activations } from "../../domain/decision.ts";
import { lastLines } from "../../domain/floor.ts";
import { chatKindSchema } from "../../domain/message.ts";
import { failureKinds } from "../../domain/stream.ts";

export const millis = z.number().int();
export const seq = z.number().int();
export const count = z.number().int().min(0);
export const flag = z.literal([0, 1]);

export const route = z.strictObject({
  channel: z.string(),
  account: z.string(),
  chat: z.strictObject({ id: z.string(), kind: chatKindSchema }),
  thread: z.strictObject({ id: z.string(), kind: z.enum(["thread", "topic"]) }).nullable(),
});
const ref = z.strictObject({
  seq,
  id: z.string(),
  editSeq: seq.exactOptional(),
  was: z.strictObject({ seq, editSeq: seq.exactOptional() }).exactOptional(),
});
const message = z.strictObject({
  seq,
  id: z.string(),
  at: millis,
  author: z.string(),
  editSeq: seq.exactOptional(),
  ack: z.string().nullable(),
  gist: z.string(),
  steer: z.literal(true).exactOptional(),
});
const batch = {
  route,
  messages: z.array(message).min(1),
  instant: z.boolean(),
  holds: z.boolean(),
  overtaken: z.boolean(),
};
export const forming = z.strictObject({
  ...batch,
  author: z.string(),
  group: z.string().nullable(),
  firstAt: millis,
  closesAt: millis,
});
export const flush = z.strictObject({
  ...batch,
  backlog: z.boolean(),
  steeredAt: count.nullable(),
  past: count.exactOptional(),
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
  prompt: seq.exactOptional(),
  sessionAt: seq.exactOptional(),
  firstIndex: count.exactOptional(),
});
export const run = z.strictObject({
  order,
  batch: z.array(message),
  holds: z.boolean(),
  overtaken: z.boolean(),
  abortedBy: z.string().nullable(),
  blocks: count,
  offset: count,
  open: z.array(
    z.strictObject({
      index: count,
      kind: z.enum(["reply", "notice", "aside"]),
      mentions: z.array(z.string()),
      draft: z.literal(true).exactOptional(),
      gist: z
        .strictObject({
          names: z.array(z.string()),
          words: z.array(count).readonly(),
          asks: z.boolean(),
        })
        .exactOptional(),
    }),
  ),
  left: z.literal(true).exactOptional(),
  refused: z.literal(true).exactOptional(),
  asides: z.array(count).exactOptional(),
  shown: count.exactOptional(),
  sent: count.exactOptional(),
  unsent: z
    .array(z.strictObject({ part: count, status: z.enum(["expired", "dead", "in-doubt"]) }))
    .exactOptional(),
  failure: z
    .strictObject({
      outcome: z.enum(["failed", "cancelled", "expired"]),
      reason: z.string(),
      cause: z.strictObject({ kind: z.enum(failureKinds), message: z.string() }).exactOptional(),
    })
    .exactOptional(),
  reported: z.literal(true).exactOptional(),
});
const floor = z.strictObject({
  since: millis,
  answered: z.boolean(),
  heard: count,
  exchanges: count,
  asked: z.boolean(),
  named: z.boolean(),
  words: z.array(count).readonly(),
  own: count,
  elsewhere: count,
  addressed: count,
  addressedAt: millis,
  lastAt: millis,
  last: z.enum(lastLines),
  calls: count,
  plain: count,
});
export const floors = z.strictObject({
  heard: count,
  spokeAt: millis,
  rows: z.array(z.tuple([z.string(), floor])),
});
export const prompt = z.strictObject({ seq, route });
export const relay = z.strictObject({
  token: z.string(),
  place: count,
  keys: z.array(z.string()),
  seq,
  at: millis,
  ahead: z.array(count),
});
export const override = z.strictObject({
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
