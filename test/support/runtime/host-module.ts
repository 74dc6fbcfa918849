/**
 * Agents for real hosts
 * =====================
 * The ports module of a worker with drivers that do one odd thing each: report their environment,
 * sleep, loop, end the process.
 */
import { z } from "zod";
import { drivers as real } from "../../../src/adapters/agents/index.ts";
import { type AgentDriver, type AgentEvent, defineAgent } from "../../../src/domain/ports/index.ts";
import { neverReturn } from "../agents/never-return.ts";
import { toolCaller } from "../agents/tool-calling-agent.ts";

export { createSystemClock } from "../../../src/adapters/system/clock.ts";

const odd = defineAgent({
  kind: "odd",
  configSchema: z.unknown(),
  open: ({ sleep }) => ({
    capabilities: { steer: true, tools: true, images: false },
    steer: (_turnId, text) => text === "left",
    async *run(turn, { signal }): AsyncGenerator<AgentEvent> {
      if (turn.said === "env") yield { type: "text", text: Object.keys(process.env).join(" ") };
      if (turn.said === "exit") process.exit(5);
      if (turn.said === "loop") neverReturn();
      if (turn.said === "sleep") await sleep(30, signal);
      if (turn.said === "nap") {
        await sleep(700, signal);
        yield { type: "text", text: `napped, try ${turn.attempt}` };
        return;
      }
      if (turn.said === "hang") {
        yield { type: "tool-start", name: "wait", input: {} };
        await sleep(600_000, signal);
      }
      yield { type: "text", text: "done" };
    },
  }),
});

export const drivers: ReadonlyMap<string, AgentDriver> = new Map<string, AgentDriver>([
  ...real,
  ["odd", odd as AgentDriver],
  ["asking", toolCaller as AgentDriver],
]);
