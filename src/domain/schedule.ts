/**
 * What is said at a set time
 * ==========================
 * One entry: when (a cron line in a time zone, or one moment), where, and what: a text, or a prompt
 * that the agent answers there. Times are those of the time zone's clocks. A time that they skip
 * in spring comes when they have gone forward (02:30 at 03:00), and one that they show twice in
 * autumn comes once, at the first; a line for every hour comes in both hours.
 */
import { Cron } from "croner";
import { z } from "zod";
import { limits } from "./limits.ts";
import { chatKindSchema, type Millis } from "./message.ts";

const name = z.string().min(1).max(256);
const words = z
  .string()
  .max(limits.scheduleUnitsMax)
  .refine((text) => text.trim() !== "", "expected some text");

/** Seconds may be left out. */
const moment = { offset: true, error: "expected a time such as 2026-12-24T18:00+01:00" } as const;

const fields = z.strictObject({
  name: z
    .string()
    .regex(
      /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,63}$/u,
      "expected letters, digits, spaces, ., _ and - only",
    )
    .describe("Name of the entry in lists and commands."),
  cron: z
    .string()
    .max(128)
    .optional()
    .describe("Five fields: minute, hour, day of the month, month, day of the week."),
  at: z
    .union([z.iso.datetime(moment), z.iso.datetime({ ...moment, precision: -1 })], moment)
    .optional()
    .describe("A single time instead of `cron`, such as `2026-12-24T18:00+01:00`."),
  timeZone: z
    .string()
    .max(64)
    .default("UTC")
    .describe("Time zone of `cron`, such as `Europe/Berlin`."),
  to: z
    .strictObject({
      channel: name.describe("Channel id."),
      account: name.default("default").describe("Account of the channel."),
      chat: z
        .strictObject({
          id: name.describe("Id of the chat on its platform."),
          kind: chatKindSchema
            .optional()
            .describe("Required if earshot has not seen the chat yet."),
        })
        .describe("The chat."),
      thread: z
        .strictObject({
          id: name.describe("Id of the thread on its platform."),
          kind: z.enum(["thread", "topic"]).default("thread").describe("Kind of thread."),
        })
        .nullable()
        .default(null)
        .describe("A thread or topic of the chat."),
    })
    .describe("Where it is said."),
  agent: name.optional().describe("The agent that speaks. Default: the agent of the chat."),
  text: words.optional().describe("The text to send."),
  prompt: words.optional().describe("In place of `text`: what the agent answers in the chat."),
});

type Fields = z.output<typeof fields>;

function problemOf({ cron, at, timeZone, text, prompt }: Fields): readonly [string, string] | null {
  if ((cron === undefined) === (at === undefined)) return ["cron", "expected either cron or at"];
  if ((text === undefined) === (prompt === undefined))
    return ["text", "expected either text or prompt"];
  try {
    new Intl.DateTimeFormat("en", { timeZone });
  } catch {
    return ["timeZone", "expected a time zone such as Europe/Berlin"];
  }
  const why = cron === undefined ? null : cronProblem(cron, timeZone);
  return why === null ? null : ["cron", why];
}

function cronProblem(cron: string, timeZone: string): string | null {
  try {
    if (cronOf(cron, timeZone).nextRun(new Date(0)) !== null) return null;
    return "expected a time that exists: this month never has that day";
  } catch (error) {
    const isWhole = cron.trim().split(/\s+/u).length === 5;
    if (!isWhole) return "expected five fields, such as 0 9 * * 1-5";
    const why = error instanceof Error ? error.message.replace(/^CronPattern: /u, "") : "";
    return `expected a cron expression such as 0 9 * * 1-5 (${why.replace(/\.$/u, "")})`;
  }
}

const cronOf = (cron: string, timezone: string) =>
  new Cron(cron, { timezone, paused: true, mode: "5-part" });

export const scheduleSchema = fields.check(({ value, issues }) => {
  const problem = problemOf(value);
  if (problem === null) return;
  const [path, message] = problem;
  issues.push({ code: "custom", input: value, path: [path], message });
});
export type Schedule = z.output<typeof scheduleSchema>;

export const schedules = z
  .array(scheduleSchema)
  .max(limits.schedulesMax)
  .default([])
  .superRefine((all, context) => {
    const names = new Set<string>();
    for (const [index, one] of all.entries()) {
      if (names.has(one.name))
        context.addIssue({
          code: "custom",
          path: [index, "name"],
          message: "another entry has this name",
        });
      names.add(one.name);
    }
  });

/** When an entry is due next after a moment; null: never. */
export function nextDue({ cron, at, timeZone }: Schedule, after: Millis): Millis | null {
  if (cron === undefined) {
    const once = Date.parse(at ?? "");
    return once > after ? once : null;
  }
  return cronOf(cron, timeZone).nextRun(new Date(after))?.getTime() ?? null;
}
