/** Checks of what an engine that keeps conversations outside of the daemon does not do. */
import { type EarshotConfig, pathText } from "../../domain/config/index.ts";
import type { ConfigCheck } from "./check.ts";

/** Intervals of heartbeats, each with its path. */
function* intervalsOf({ heartbeat, agents, conversations }: EarshotConfig) {
  yield { path: [], everyMs: heartbeat.everyMs };
  for (const [index, agent] of agents.list.entries())
    yield { path: ["agents", "list", index], everyMs: agent.heartbeat?.everyMs };
  for (const [key, own] of Object.entries(conversations))
    yield { path: ["conversations", key], everyMs: own.heartbeat?.everyMs };
}

export const engineChecks: readonly ConfigCheck[] = [
  {
    id: "engine.no-heartbeats",
    kind: "mistake",
    level: "warning",
    *find(config) {
      const { kind } = config.engine;
      if (kind === "pool") return;
      for (const { path, everyMs = 0 } of intervalsOf(config))
        if (everyMs > 0)
          yield {
            at: pathText([...path, "heartbeat", "everyMs"]),
            wrong: `heartbeats do not come with engine.kind "${kind}"`,
            fix: 'set it to 0, or run one daemon with engine.kind "pool"',
          };
    },
  },
];
