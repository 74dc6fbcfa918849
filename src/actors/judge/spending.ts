/**
 * What judges have cost
 * =====================
 * Questions and tokens of each agent's judges, of the current day (UTC). The day's numbers are
 * stored before a question goes out, so a process that is killed again and again does not ask more
 * than a day allows; the minute's are only in memory.
 */
import { limits } from "../../domain/limits.ts";
import type { Millis } from "../../domain/message.ts";
import type { MetaWrite, Store } from "../../domain/ports/index.ts";
import type { AgentJudgeDay, JudgeDay } from "../protocol/judges.ts";

interface Budget {
  readonly perMinuteMax: number;
  readonly perDayMax: number;
}

const dayMs = 86_400_000;
const minuteMs = 60_000;
const metaName = "judge";

const newDay = (day: number): JudgeDay => ({
  day,
  asked: 0,
  engaged: 0,
  failed: 0,
  inputTokens: 0,
  outputTokens: 0,
  costUsd: 0,
});

export interface Spending {
  load(): Promise<void>;
  /** Takes one question out of the budget; false: there is none left. */
  take(agentId: string, budget: Budget): Promise<boolean>;
  /** Adds to an agent's day. */
  add(agentId: string, more: Partial<Omit<JudgeDay, "day" | "asked">>): void;
  /** The current day of each agent that asked. */
  days(): readonly AgentJudgeDay[];
}

export function createSpending(ports: {
  readonly now: () => Millis;
  readonly store: Pick<Store, "meta">;
  readonly keep: (writes: readonly MetaWrite[]) => Promise<void>;
}): Spending {
  const days = new Map<string, JudgeDay>();
  const lately = new Map<string, Millis[]>();

  const dayOf = (agentId: string): JudgeDay => {
    const day = Math.floor(ports.now() / dayMs);
    const known = days.get(agentId);
    return known?.day === day ? known : newDay(day);
  };

  const store = () =>
    ports.keep([{ kind: "meta", name: metaName, value: JSON.stringify([...days]) }]);

  return {
    async load() {
      const stored = await ports.store.meta(metaName);
      if (stored === null) return;
      for (const [agentId, day] of JSON.parse(stored) as [string, JudgeDay][])
        days.set(agentId, day);
    },
    async take(agentId, { perMinuteMax, perDayMax }) {
      const now = ports.now();
      const recent = (lately.get(agentId) ?? []).filter((at) => at > now - minuteMs && at <= now);
      const today = dayOf(agentId);
      if (recent.length >= perMinuteMax || today.asked >= perDayMax) return false;
      lately.set(agentId, [...recent, now]);
      days.set(agentId, { ...today, asked: today.asked + 1 });
      if (days.size > limits.judgedAgentsMax) days.delete([...days.keys()][0] as string);
      await store();
      return true;
    },
    add(agentId, more) {
      const sums: Record<string, number> = { ...dayOf(agentId) };
      for (const [name, value] of Object.entries(more)) sums[name] = (sums[name] ?? 0) + value;
      days.set(agentId, sums as unknown as JudgeDay);
    },
    days: () =>
      [...days.keys()].flatMap((agentId) => {
        const day = dayOf(agentId);
        return day.asked === 0 ? [] : [{ agentId, ...day }];
      }),
  };
}
