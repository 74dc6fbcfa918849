/** Frames of a search for better rules on what the owner labelled. */
import { z } from "zod";
import { count, type Shape, text } from "./schema.ts";
import { whatIfEditSchema } from "./what-if.ts";

const shareSchema = z.object({
  mean: z.number().describe("over the folds, 0 to 1"),
  spread: z.number().describe("standard deviation between the folds"),
});
const measuredSchema = z.object({
  precision: shareSchema,
  recall: shareSchema,
  f1: shareSchema,
});
export type TuneMeasured = Shape<typeof measuredSchema>;

const foundSchema = z.object({
  rooms: count,
  labels: count.describe("lines that somebody labelled"),
  reached: z.boolean().describe("false: what was found is the nearest"),
  given: measuredSchema.describe("the rules in force"),
  best: measuredSchema,
  heldOut: measuredSchema.describe("each fold under what the other four would choose"),
  edits: z
    .array(whatIfEditSchema)
    .describe("empty: nothing is better than the rules in force by more than the standard error"),
  rules: text.describe("the rules with these edits, as JSON5"),
});
export type TuneFound = Shape<typeof foundSchema>;

export const tuneFrameSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("progress"), share: z.number() }),
  z.object({ type: z.literal("found"), found: foundSchema }),
  z.object({ type: z.literal("failed"), message: text }),
]);
export type TuneFrame = Shape<typeof tuneFrameSchema>;
