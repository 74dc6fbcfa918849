/**
 * The agent's tool `schedule`
 * ===========================
 * Prompts that the agent sets for itself, in the chat of its turn and nowhere else: chat, agent and
 * owner of an entry come from the turn, never from the request. A text cannot be ordered, only a
 * prompt, so what is said goes through a turn with all its rules. Few entries, and none of them
 * often, because anyone who talks to the agent may get it to use this.
 */
import { limits } from "../../domain/limits.ts";
import type { Millis } from "../../domain/message.ts";
import { nextDue, type Schedule, scheduleSchema } from "../../domain/schedule.ts";
import type { ScheduleInput } from "../protocol/context-tool-schemas.ts";
import type { ScheduleEntry, ScheduleOperator } from "../protocol/schedules.ts";
import type { AskingTurn } from "../turns/context-tools.ts";

export interface ScheduleToolPorts {
  readonly schedules: Pick<ScheduleOperator, "addFor" | "list" | "remove">;
  readonly wall: () => Millis;
  readonly agentOf: (key: string) => string;
}

/** Due times that are looked at to find out how often a line fires. */
const duesLookedAt = 50;

export async function useScheduleTool(
  ports: ScheduleToolPorts,
  turn: AskingTurn,
  input: ScheduleInput,
): Promise<string> {
  if (input.action === "list") return listOf(ownEntries(ports, turn));
  const { name } = input;
  if (name === undefined) return "Refused: a name is expected.";
  return input.action === "create" ? create(ports, turn, input, name) : remove(ports, turn, name);
}

function ownEntries({ schedules }: ScheduleToolPorts, { key }: AskingTurn) {
  return schedules.list().filter((entry) => entry.owner === key);
}

async function create(
  ports: ScheduleToolPorts,
  turn: AskingTurn,
  { cron, at, time_zone: timeZone, prompt }: ScheduleInput,
  name: string,
): Promise<string> {
  const { channel, account, chat, thread } = turn.route;
  const parsed = scheduleSchema.safeParse({
    name,
    cron,
    at,
    timeZone,
    prompt,
    agent: ports.agentOf(turn.key),
    to: {
      channel,
      account,
      chat: { id: chat.id, kind: chat.kind },
      thread: thread === null ? null : { id: thread.id, kind: thread.kind },
    },
  });
  if (!parsed.success) return `Refused: ${parsed.error.issues[0]?.message ?? "it is no schedule"}.`;
  const next = nextDue(parsed.data, ports.wall());
  if (next === null) return "Refused: that moment is over.";
  if (isOften(parsed.data, next))
    return `Refused: at most every ${limits.scheduleAgentMsMin / 60_000} minutes.`;
  const outcome = await ports.schedules.addFor(turn.key, parsed.data);
  if (outcome === "taken") return "Refused: there is an entry with this name. Remove it first.";
  if (outcome === "full")
    return `Refused: at most ${limits.schedulesOwnMax} entries here. Remove one first.`;
  return `Scheduled: ${name}, next ${momentOf(next)}.`;
}

function isOften(spec: Schedule, first: Millis): boolean {
  let before = first;
  for (let looked = 0; looked < duesLookedAt; looked += 1) {
    const due = nextDue(spec, before);
    if (due === null) return false;
    if (due - before < limits.scheduleAgentMsMin) return true;
    before = due;
  }
  return false;
}

async function remove(ports: ScheduleToolPorts, turn: AskingTurn, name: string): Promise<string> {
  const entry = ownEntries(ports, turn).find(({ spec }) => spec.name === name);
  if (entry === undefined) return "Refused: there is no entry of yours with this name.";
  await ports.schedules.remove(entry.name);
  return `Removed: ${name}.`;
}

function listOf(entries: readonly ScheduleEntry[]): string {
  if (entries.length === 0) return "Nothing is scheduled here.";
  return entries
    .map(({ spec, next, paused, last }) => {
      const when =
        next === null ? (paused ? "paused by the operator" : overText(last)) : momentOf(next);
      const line = spec.cron === undefined ? "" : ` (${spec.cron} ${spec.timeZone})`;
      return `${spec.name}: next ${when}${line}: ${spec.prompt ?? ""}`;
    })
    .join("\n");
}

/** Why an entry that is over is still listed. */
const overText = (last: ScheduleEntry["last"]) =>
  last === null ? "over" : `over, ${last.result === "skipped" ? "skipped: too late" : last.result}`;
const momentOf = (at: Millis) => new Date(at).toISOString();
