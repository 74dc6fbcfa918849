/**
 * Trying a failing agent again
 * ============================
 * The live check of its driver (address, key, name of the model), without a turn. When it answers,
 * the failure that a person looked at is over; the next failure lists the agent again.
 */
import type { EarshotConfig } from "../../domain/config/index.ts";
import type { AgentDriver, Clock } from "../../domain/ports/index.ts";
import type { FailingAgent } from "../../domain/stream.ts";
import { agentCheck, runOne } from "../checks/live/live-checks.ts";

export interface TrialPorts {
  readonly clock: Clock;
  readonly config: () => EarshotConfig;
  readonly drivers: ReadonlyMap<string, AgentDriver>;
  /** Agents whose last turn failed. */
  readonly failing: () => readonly FailingAgent[];
}

/** What came of a trial. `over`: the agent does not fail any more, or cannot be tried. */
export type Trial = "answers" | "over" | { readonly refused: string };

export interface Trials {
  /** Agents of the config that have not answered a trial since their last failure. */
  unanswered(): readonly FailingAgent[];
  /** Whether the agent's driver can be tried without a turn. */
  readonly canTry: (agentId: string) => boolean;
  readonly run: (agentId: string) => Promise<Trial>;
}

export function createTrials({ clock, config, drivers, failing }: TrialPorts): Trials {
  /** The turn of the last failure before an agent answered, by agent. */
  const answered = new Map<string, string>();
  const isThere = (agentId: string) => config().agents.list.some(({ id }) => id === agentId);
  const checkOf = (agentId: string) => agentCheck({ config: config(), drivers }, agentId);
  const unanswered = () =>
    failing().filter(({ agentId, turnId }) => isThere(agentId) && answered.get(agentId) !== turnId);
  return {
    unanswered,
    canTry: (agentId) => checkOf(agentId) !== null,
    async run(agentId) {
      const last = unanswered().find((one) => one.agentId === agentId);
      const check = last === undefined ? null : checkOf(agentId);
      if (last === undefined || check === null) return "over";
      const results = await runOne(check, clock);
      if (!results.some(({ state }) => state === "ok")) {
        const why = results.map(({ says }) => says).join("; ");
        return { refused: `It still does not respond: ${why}` };
      }
      answered.set(agentId, last.turnId);
      return "answers";
    },
  };
}
