/**
 * Which agents fail: for each, how many of its turns have failed in a row, and why the last one did.
 * A turn whose agent answered, or chose silence, ends the count. Since the start of the process.
 */
import type { Clock } from "../../domain/ports/index.ts";
import type { FailingAgent } from "../../domain/stream.ts";
import type { RuntimeListener } from "../protocol/runtime-events.ts";

export interface FailingAgents {
  readonly listener: RuntimeListener;
  /** The agents whose last turn failed. */
  list(): readonly FailingAgent[];
}

/** Outcomes that say nothing about the agent: it was stopped, or never ran. */
const open: ReadonlySet<string> = new Set(["cancelled", "expired"]);

export function createFailingAgents(clock: Clock, agentOf: (key: string) => string): FailingAgents {
  const failing = new Map<string, FailingAgent>();
  return {
    listener: {
      turnEnded(key, { turnId, outcome, cause }) {
        const agentId = agentOf(key);
        if (outcome === "failed") {
          const turns = (failing.get(agentId)?.turns ?? 0) + 1;
          const why = cause ?? { kind: "crashed" as const, message: "" };
          failing.set(agentId, { agentId, turns, ...why, at: clock.now(), key, turnId });
        } else if (!open.has(outcome)) failing.delete(agentId);
      },
    },
    list: () => [...failing.values()],
  };
}
