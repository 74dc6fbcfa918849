/** Answers of `GET /api/schedules`: what is said at set times. */
import { z } from "zod";
import { chatKindSchema } from "../../domain/message.ts";
import { millis, type Shape, text } from "./schema.ts";

export const scheduleOriginSchema = z.enum(["config", "added", "agent"]);
export const scheduleRowSchema = z.object({
  name: text,
  origin: scheduleOriginSchema,
  cron: text.nullable().describe("null: `at` has the one moment"),
  at: text.nullable(),
  timeZone: text,
  to: z.object({
    channel: text,
    account: text,
    chat: z.object({ id: text, kind: chatKindSchema.exactOptional() }),
    thread: z.object({ id: text, kind: z.enum(["thread", "topic"]) }).nullable(),
  }),
  agent: text.nullable().describe("null: the agent that hears the chat"),
  turn: z.boolean().describe("the text is a prompt"),
  text,
  paused: z.boolean(),
  next: millis.nullable().describe("when it is due next; null: paused, or never again"),
  last: z
    .object({
      due: millis,
      result: z.enum(["said", "skipped", "failed"]),
      why: text.exactOptional(),
    })
    .nullable()
    .describe("the last due time, and what became of it"),
});
/** One entry of the schedule. */
export type ScheduleRow = Shape<typeof scheduleRowSchema>;
export const scheduleListSchema = z.object({
  schedules: z.array(scheduleRowSchema),
  saidBy: text
    .nullable()
    .describe("of several nodes, the one that says them; null: this daemon does, or none yet"),
});
