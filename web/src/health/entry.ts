/** An entry of the schedule in words, and its buttons. */
import type { ScheduleRow } from "../../../src/daemon/api-types/schedules.ts";
import type { Act } from "./actions.tsx";

/** An agent's entry has the number of its conversation before its name. */
export const shownName = ({ name, origin }: Pick<ScheduleRow, "name" | "origin">) =>
  origin === "agent" ? `${name.slice(name.indexOf(" ") + 1)} (by the agent)` : name;

export const momentText = (at: number) =>
  `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;

export function entryActs({
  name,
  paused,
  origin,
}: Pick<ScheduleRow, "name" | "paused" | "origin">): readonly Act[] {
  const path = `/api/schedules/${encodeURIComponent(name)}`;
  const change: Act = paused
    ? { label: "Resume", path: `${path}/resume` }
    : { label: "Pause", path: `${path}/pause` };
  if (origin === "config") return [change];
  const question = "Remove this entry?";
  return [change, { label: "Remove", path: `${path}/remove`, question, back: "Keep it" }];
}
