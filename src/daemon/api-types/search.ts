/**
 * Found messages
 * ==============
 * Answers of `GET /api/search`.
 */
import { z } from "zod";
import { decisionSchema, ruleSchema } from "../../domain/decision.ts";
import { foundOutcomes } from "../../domain/search/values.ts";
import { count, millis, type Shape, text } from "./schema.ts";

const foundSchema = z.object({
  entry: count.describe("its number in the index"),
  seq: count.describe("its journal number: `at` of the room's page"),
  key: text.describe("session key; empty: no conversation heard it"),
  room: text.describe("the room's name for people, else channel and chat"),
  at: millis,
  kind: z
    .enum(["heard", "said", "history"])
    .describe("`said`: a part of the agent's answer; `history`: read when the room was new"),
  id: text.describe("the platform's id; of a part of an answer, its id in the outbox"),
  author: z.object({ id: text, name: text, isBot: z.boolean() }),
  decision: decisionSchema.nullable().describe("null: nothing was decided, or not yet"),
  rule: ruleSchema.nullable(),
  outcome: z
    .enum(foundOutcomes)
    .nullable()
    .describe("of the turn that answers it; of a part of an answer, what became of the part"),
  turnId: text.nullable(),
  text: text.describe("the part around what was found; at most about 400 characters"),
  marks: z
    .array(z.tuple([count, count]))
    .describe("the found words: from and to in `text`, UTF-16 units"),
});
/** A found message. */
export type FoundView = Shape<typeof foundSchema>;

export const searchAnswerSchema = z.object({
  found: z.array(foundSchema).describe("the newest first"),
  next: count.nullable().describe("`before` of the next page; null: there is none"),
  index: z
    .object({
      state: z.enum(["off", "building", "ready", "failed"]),
      done: count.describe("journal rows that the index has"),
      total: count.describe("journal rows"),
      fullText: z.boolean().describe("false: this SQLite has no FTS5, so messages are compared"),
      problem: text.nullable().describe("why it does not work"),
    })
    .describe("how much of the journal can be found"),
  lookedAt: count.nullable().describe("only so many messages were compared; null: all"),
});
export type SearchAnswer = Shape<typeof searchAnswerSchema>;
