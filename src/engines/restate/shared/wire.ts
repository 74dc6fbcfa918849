/** The calls of the virtual objects `access`, `schedules`, `gaps` (one key each) and `cursors` (a key for each account). */
import { z } from "zod";
import { limits } from "../../../domain/limits.ts";

export const accessService = "access";
export const scheduleService = "schedules";
export const gapService = "gaps";
/** The only key of each. */
export const rowsKey = "all";
export const cursorService = "cursors";

const rowSchema = z.object({
  name: z.string().min(1),
  /** JSON, as `AccessRow` has it; null: deleted. */
  body: z.string().nullable(),
});
export type SharedRow = z.infer<typeof rowSchema>;

export const readSchema = z.object({
  /** The version that the caller has; 0: none. */
  known: z.number().int().min(0),
});
export const changeSchema = readSchema.extend({
  rows: z.array(rowSchema).max(limits.accessRowsMax),
});
export const answerSchema = z.object({
  version: z.number(),
  /** Nothing was stored, as the caller did not know all of these rows as they are. */
  refused: z.boolean(),
  /** True: `rows` are all there are, and not only those that have changed. */
  whole: z.boolean(),
  rows: z.array(rowSchema),
});
export type SharedAnswer = z.infer<typeof answerSchema>;

export const cursorSchema = z.object({ identity: z.string(), value: z.string() });
export const cursorsSchema = z.record(z.string(), z.string());
