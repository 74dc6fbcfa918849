/**
 * What a `scripted` agent does in one run: text, pauses, tools and errors, in order. Used by
 * scenarios, the simulator page and tests to control a turn exactly.
 */
import { z } from "zod";
import { limits } from "../limits.ts";

const text = z.string().max(limits.agentEventUnitsMax);
const waitMs = z.number().int().min(0).max(86_400_000);

const steps = "text, reasoning, waitMs, tool, messageEnd, steer, error, hang";
const stepSchema = z.union(
  [
    z.strictObject({ text }),
    z.strictObject({ reasoning: text }),
    z.strictObject({ waitMs }),
    z.strictObject({
      tool: z.string().min(1).max(256),
      input: z.record(z.string(), z.unknown()).default({}),
    }),
    z.strictObject({ messageEnd: z.literal(true) }),
    z.strictObject({ steer: z.literal(true) }),
    z.strictObject({ error: text }),
    z.strictObject({ hang: z.literal(true) }),
  ],
  { error: `expected one step of ${steps}` },
);
/**
 * One step of a run. `text` and `reasoning` are deltas; `hang` waits for the abort. A run takes as
 * many steered messages as it has `steer` steps, whenever they come.
 */
export type ScriptStep = z.infer<typeof stepSchema>;

/** One run: a pause of `afterMs`, then the steps. */
export const scriptedRunSchema = z.strictObject({
  afterMs: waitMs.default(0),
  steps: z.array(stepSchema).max(10_000).default([]),
});
export type ScriptedRun = z.infer<typeof scriptedRunSchema>;
