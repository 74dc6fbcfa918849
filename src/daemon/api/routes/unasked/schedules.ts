/**
 * What is said at set times: lists the entries, adds and removes those that are not in the config, and
 * pauses any.
 */
import { z } from "zod";
import type { ScheduleEntry } from "../../../../actors/protocol/schedules.ts";
import { scheduleSchema } from "../../../../domain/schedule.ts";
import { scheduleListSchema } from "../../../api-types/schedules.ts";
import { text } from "../../../api-types/schema.ts";
import { ApiRefusal } from "../../../http/api-error.ts";
import type { Endpoints } from "../../../http/endpoint.ts";
import type { RouteDeps } from "../deps.ts";

const params = z.object({ name: text.describe("name of the entry, percent-encoded") });
const doneSchema = z.object({ name: text, done: z.literal(true) });

const list = {
  method: "get",
  path: "/api/schedules",
  summary: "What is said at set times, the soonest first",
  answer: scheduleListSchema,
} as const;
const add = {
  method: "post",
  path: "/api/schedules",
  summary: "Adds an entry; the form is that of `schedule` in the config",
  body: scheduleSchema,
  answer: doneSchema,
  refuses: ["bad-request", "conflict", "too-large", "wrong-type", "not-ready"],
} as const;
const pause = {
  method: "post",
  path: "/api/schedules/:name/pause",
  summary: "Pauses an entry: what falls due is not said",
  params,
  answer: doneSchema,
  refuses: ["not-found", "not-ready"],
} as const;
const resume = {
  method: "post",
  path: "/api/schedules/:name/resume",
  summary: "Resumes an entry from its next due time",
  params,
  answer: doneSchema,
  refuses: ["not-found", "not-ready"],
} as const;
const remove = {
  method: "post",
  path: "/api/schedules/:name/remove",
  summary: "Removes an entry that is not in the config",
  params,
  answer: doneSchema,
  refuses: ["not-found", "conflict", "not-ready"],
} as const;

export function scheduleRoutes(endpoints: Endpoints, deps: RouteDeps): void {
  const schedules = () => deps.runtime.schedules();
  const ready = () => {
    const problem = deps.problem();
    if (problem !== null) throw new ApiRefusal("not-ready", problem);
  };
  const paused = (name: string, is: boolean) => async () => {
    ready();
    if (await schedules().pause(name, is)) return { name, done: true as const };
    throw unknown();
  };
  endpoints.add(list, () => ({
    schedules: schedules().list().map(shown),
    saidBy: schedules().sayer(),
  }));
  endpoints.add(add, async ({ body }) => {
    ready();
    const { name } = body;
    const outcome = await schedules().add(body);
    if (outcome === "added") return { name, done: true as const };
    if (outcome === "over")
      throw new ApiRefusal(
        "bad-request",
        "Cannot add the entry: its time is over. Give a later one",
      );
    const why = outcome === "taken" ? "another entry has this name" : "there are too many entries";
    throw new ApiRefusal("conflict", `Cannot add the entry: ${why}. Remove that one first`);
  });
  endpoints.add(pause, ({ params: { name } }) => paused(name, true)());
  endpoints.add(resume, ({ params: { name } }) => paused(name, false)());
  endpoints.add(remove, async ({ params: { name } }) => {
    ready();
    const outcome = await schedules().remove(name);
    if (outcome === "removed") return { name, done: true as const };
    if (outcome === "unknown") throw unknown();
    throw new ApiRefusal(
      "conflict",
      "Cannot remove the entry: it is in the config file. Remove it there, or pause it",
    );
  });
}

const unknown = () =>
  new ApiRefusal("not-found", "Cannot do that: no entry of the schedule has this name");

function shown({ name, origin, spec, paused, next, last }: ScheduleEntry) {
  const { cron = null, at = null, timeZone, agent = null, prompt } = spec;
  const { id, kind } = spec.to.chat;
  return {
    name,
    origin,
    cron,
    at,
    timeZone,
    to: { ...spec.to, chat: { id, ...(kind === undefined ? {} : { kind }) } },
    agent,
    turn: prompt !== undefined,
    text: spec.text ?? prompt ?? "",
    paused,
    next,
    last,
  };
}
