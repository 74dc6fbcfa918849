/**
 * Answers of `GET /api/health` and its stream: problems that need attention, and the state of the
 * daemon. Each answer is complete.
 */
import { z } from "zod";
import { connectionSchema, hostStatusSchema } from "./runtime.ts";
import { scheduleOriginSchema } from "./schedules.ts";
import { count, millis, type Shape, text } from "./schema.ts";

const deliverySchema = z
  .object({
    kind: z.literal("delivery"),
    id: text,
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
    kind: z.literal("connection"),
    channel: text,
    name: text,
    account: text,
    since: millis,
    detail: text.nullable(),
  })
  .describe("an account that stopped connecting");
const quarantinedSchema = z
  .object({
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
    kind: z.literal("schedule"),
    name: text,
    origin: scheduleOriginSchema,
    due: millis,
    why: text,
  })
  .describe("an entry of the schedule that was not said");
const daemonSchema = z
  .object({ kind: z.literal("daemon"), problem: text })
  .describe("messages are not accepted, or with a problem");

export const needSchema = z.discriminatedUnion("kind", [
  deliverySchema,
  haltedSchema,
  quarantinedSchema,
  unsaidSchema,
  daemonSchema,
]);
/** Something that needs attention. */
export type Need = Shape<typeof needSchema>;

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
  lanes: z.array(healthSlotsSchema).describe("turn slots of each agent"),
  store: z.object({
    failing: z.boolean(),
    bytes: count.nullable().describe("null: nothing is stored on disk"),
    logBytes: count.nullable(),
    commitMsP99: millis.nullable(),
    rowsPerCommit: z.number().nullable(),
    events: count,
  }),
  outbox: z.record(text, count),
  doubles: count.describe("copies of messages received since the start"),
});
export type Health = Shape<typeof healthSchema>;
