/** One line of the event stream, as `GET /api/events` sends it and a simulation answers it. */

import { z } from "zod";
import { creditUseSchema, decisionSchema, ruleSchema } from "../../domain/decision.ts";
import { outcomes } from "../../domain/stream.ts";
import { failureCauseSchema } from "./runtime.ts";
import { count, millis, text } from "./schema.ts";

const decisionLine = z.object({
  t: millis,
  id: text,
  key: text.nullable().describe("null: admission ended before a conversation was chosen"),
  decision: decisionSchema,
  rule: ruleSchema,
  credit: creditUseSchema,
  channel: text.exactOptional(),
  chat: text.exactOptional(),
  author: text.exactOptional(),
  text: text.exactOptional().describe("what the message says; only with `text=1`"),
});
const reactLine = z.object({
  t: millis,
  out: z.enum(["react", "unreact"]),
  emoji: text,
  message: text,
  chat: text,
});
const typingLine = z.object({ t: millis, out: z.literal("typing"), on: z.boolean(), chat: text });
const agentStartLine = z.object({
  t: millis,
  key: text,
  event: z.literal("agent_start"),
  turn: count,
  batch: z.array(text),
  replyTo: text,
  guard: z.boolean(),
  nudge: z.boolean(),
  turnId: text.exactOptional(),
});
const promptLine = z.object({
  t: millis,
  key: text,
  event: z.literal("prompt"),
  turn: count,
  text,
});
const agentEndLine = z.object({
  t: millis,
  key: text,
  event: z.literal("agent_end"),
  turn: count,
  outcome: z.enum(outcomes),
  reason: text.exactOptional(),
  cause: failureCauseSchema.exactOptional(),
});
const sendLine = z.object({
  t: millis,
  out: z.literal("send"),
  key: text,
  channel: text,
  account: text,
  chat: text,
  thread: text.nullable(),
  replyTo: text.nullable(),
  text,
  id: text.describe("`turnId:index`"),
  status: z.enum(["sent", "in-doubt", "expired", "dead"]),
  draft: z.literal(true).exactOptional(),
  edits: text.exactOptional(),
  aside: z.enum(["reasoning", "status"]).exactOptional(),
});
const droppedLine = z.object({
  t: millis,
  key: text,
  event: z.literal("dropped"),
  message: text,
  why: text,
});
const deltaLine = z.object({
  t: millis,
  key: text,
  event: z.literal("delta"),
  turnId: text,
  text,
});
const systemLine = z
  .object({ t: millis, system: text })
  .catchall(z.union([text, z.number(), z.boolean(), z.null()]));

export const streamLineSchema = z.union([
  decisionLine,
  reactLine,
  typingLine,
  agentStartLine,
  promptLine,
  agentEndLine,
  sendLine,
  droppedLine,
  deltaLine,
  systemLine,
]);
