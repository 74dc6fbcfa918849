/**
 * A recording is read once; then rules are tried on it, as often as wanted. Answers of a run come as
 * frames, because a long recording takes a while and the page shows its progress.
 */
import { z } from "zod";
import { decisionSchema, ruleSchema } from "../../domain/decision.ts";
import { whySchema } from "./runtime.ts";
import { count, millis, type Shape, text } from "./schema.ts";

export const whatIfRecordingSchema = z.object({
  id: text,
  name: text,
  messages: count,
  rooms: count,
  from: millis.nullable().describe("null: the recording has no start time"),
  rules: text.describe("the config of the recording, as JSON5"),
  isOurs: z.boolean().describe("those rules are this daemon's, so a change can be applied"),
});
/** A recording that rules can be tried on. */
export type WhatIfRecording = Shape<typeof whatIfRecordingSchema>;

const problemSchema = z.object({
  path: text.describe("empty: the text as a whole"),
  message: text,
  line: count.nullable().describe("from 1; null: unknown"),
});
/** A problem of the rules. */
export type WhatIfProblem = Shape<typeof problemSchema>;

export const whatIfEditSchema = z.object({ path: text, before: z.unknown(), after: z.unknown() });
/** A value that differs from the rules in force. */
export type WhatIfEdit = Shape<typeof whatIfEditSchema>;

const verdictSchema = z.object({
  decision: decisionSchema,
  rule: ruleSchema,
  undecided: z
    .literal(true)
    .exactOptional()
    .describe("a judge would be asked, and the recording does not have its answer"),
});
export type WhatIfVerdict = Shape<typeof verdictSchema>;

const changeSchema = z.object({
  n: count.describe("names the message in the recording"),
  at: millis,
  id: text,
  key: text.nullable(),
  author: text,
  isBot: z.boolean(),
  room: text,
  text,
  before: verdictSchema,
  after: verdictSchema,
});
/** A message that is decided differently. */
export type WhatIfChange = Shape<typeof changeSchema>;

const shareSchema = z.number().describe("0 to 1; 0 of nothing is 0");
const labelledScoreSchema = z.object({
  meant: count.describe("messages that should have been answered"),
  engaged: count,
  right: count.describe("engaged, and should have been"),
  precision: shareSchema,
  recall: shareSchema,
});
const labelledSchema = z.object({
  messages: count.describe("messages that somebody labelled by hand and both decide"),
  undecided: count.describe("labelled messages that one of them would put to a judge"),
  before: labelledScoreSchema,
  after: labelledScoreSchema,
});
/** How right both configs are on labelled messages. */
export type WhatIfLabelled = Shape<typeof labelledSchema>;

const resultSchema = z.object({
  messages: count,
  rooms: count,
  tookMs: millis,
  changed: count.describe("messages with another decision"),
  otherRule: count.describe("messages with the same decision by another rule"),
  nowEngage: count,
  nowObserve: count,
  nowOther: count,
  undecided: count.describe("messages that one of them would put to a judge, without an answer"),
  labelled: labelledSchema.nullable().describe("null: no message of the recording has a label"),
  changes: z.array(changeSchema).describe("the first of them, in order of time"),
});
export type WhatIfResult = Shape<typeof resultSchema>;

export const whatIfFrameSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("invalid"), problems: z.array(problemSchema) }),
  z.object({ type: z.literal("valid"), edits: z.array(whatIfEditSchema) }),
  z.object({ type: z.literal("progress"), share: z.number() }),
  z.object({ type: z.literal("result"), result: resultSchema }),
  z.object({ type: z.literal("failed"), message: text }),
]);
export type WhatIfFrame = Shape<typeof whatIfFrameSchema>;

export const whatIfLaddersSchema = z.object({
  before: whySchema.nullable(),
  after: whySchema.nullable(),
});
/** Both explanations of one message. */
export type WhatIfLadders = Shape<typeof whatIfLaddersSchema>;

export const whatIfAppliedSchema = z.object({
  edits: z.array(whatIfEditSchema),
  undo: z
    .object({ copy: text.nullable(), token: text })
    .describe("undoes it, as long as nobody changed the file since"),
  applied: z.boolean().describe("false: it is written, and not in force yet"),
  rules: text.describe("the current config, as JSON5"),
});
export type WhatIfApplied = Shape<typeof whatIfAppliedSchema>;
