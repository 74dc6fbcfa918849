/**
 * Answers of `GET /api/health` and its stream: problems that need attention, and the state of the
 * daemon. Each answer is complete.
 */
import { z } from "zod";
import { engineSchema } from "./engine.ts";
import { needSchema } from "./needs.ts";
import { connectionSchema, hostStatusSchema, unappliedSchema } from "./runtime.ts";
import { count, millis, type Shape, text } from "./schema.ts";

const healthConnectionSchema = connectionSchema.extend({
  name: text.describe("name of the channel"),
  heardAt: millis.describe("when it last received a message; 0: not since the start"),
  duplicates: count.describe("copies of messages that it brought since the start"),
});
export type HealthConnection = Shape<typeof healthConnectionSchema>;

const healthSlotsSchema = z.object({
  agent: text,
  name: text,
  running: count,
  waiting: count,
  slots: count,
});
export type HealthSlots = Shape<typeof healthSlotsSchema>;

export const healthSchema = z.object({
  now: millis.describe("the daemon's clock"),
  version: text,
  startedAt: millis,
  needs: z.array(needSchema),
  more: count.describe("further needs that are not listed"),
  connections: z.array(healthConnectionSchema),
  hosts: z.array(hostStatusSchema).describe("empty: conversations live on the main thread"),
  lanes: z.array(healthSlotsSchema).describe("turn slots of each agent, on all nodes"),
  store: z.object({
    failing: z.boolean(),
    bytes: count.nullable().describe("null: nothing is stored on disk"),
    logBytes: count.nullable(),
    commitMsP99: millis.nullable(),
    rowsPerCommit: z.number().nullable(),
    events: count,
    unapplied: unappliedSchema,
  }),
  outbox: z.record(text, count),
  doubles: count.describe("copies of messages received since the start"),
  engine: engineSchema.nullable(),
});
export type Health = Shape<typeof healthSchema>;
