/**
 * Follows its script and answers `ok` when the script has ended. A turn retried after its host was
 * lost gets the same run again, so a crash does not shift the script. Scripts come from the config
 * (`runs`) or, in a simulation, from a `ScriptSource` fed line by line.
 */
import { LRUCache } from "lru-cache";
import { z } from "zod";
import { atMost } from "../../../domain/limits.ts";
import {
  type AgentDriver,
  type AgentEvent,
  type AgentTurn,
  defineAgent,
} from "../../../domain/ports/index.ts";
import { unlessAborted } from "../../../domain/ports/within.ts";
import {
  type ScriptedRun,
  type ScriptStep,
  scriptedRunSchema,
} from "../../../domain/scenario/script.ts";

const configSchema = z.strictObject({
  kind: z.literal("scripted").default("scripted"),
  runs: z.array(scriptedRunSchema).max(10_000).default([]),
});
type ScriptedConfig = z.infer<typeof configSchema>;

/** Further runs after the config's. Undefined: the script has ended. */
export interface ScriptSource {
  next(agentId: string, turnId: string, sessionKey: string): ScriptedRun | undefined;
}

/** Turns whose run is remembered for another attempt. */
const rememberedTurnsMax = 1_000;
const answerOk: ScriptedRun = { afterMs: 0, steps: [{ text: "ok" }] };

/** A `scripted` driver; `source` is used once the config's own runs are used up. */
export function createScriptedDriver(source?: ScriptSource): AgentDriver<ScriptedConfig> {
  return defineAgent<ScriptedConfig>({
    kind: "scripted",
    configSchema: configSchema as z.ZodType<ScriptedConfig>,
    open({ agentId, config, sleep }) {
      const own = [...config.runs];
      const assigned = new LRUCache<string, ScriptedRun>(atMost(rememberedTurnsMax));
      const runFor = ({ turnId, sessionKey }: AgentTurn): ScriptedRun => {
        const before = assigned.get(turnId);
        if (before !== undefined) return before;
        const run = own.shift() ?? source?.next(agentId, turnId, sessionKey) ?? answerOk;
        assigned.set(turnId, run);
        return run;
      };
      /** Running turns, and how many steered messages each still takes. */
      const steers = new Map<string, number>();
      return {
        capabilities: { steer: true, tools: true, images: false },
        steer(turnId) {
          const left = steers.get(turnId) ?? 0;
          if (left > 0) steers.set(turnId, left - 1);
          return left > 0;
        },
        async *run(turn, { signal }) {
          const run = runFor(turn);
          steers.set(turn.turnId, run.steps.filter((step) => "steer" in step).length);
          try {
            if (run.afterMs > 0) await sleep(run.afterMs, signal);
            for (const step of run.steps) {
              signal.throwIfAborted();
              yield* perform(step, turn, signal, sleep);
            }
          } finally {
            steers.delete(turn.turnId);
          }
        },
      };
    },
  });
}

async function* perform(
  step: ScriptStep,
  turn: AgentTurn,
  signal: AbortSignal,
  sleep: (ms: number, signal: AbortSignal) => Promise<void>,
): AsyncGenerator<AgentEvent> {
  if ("text" in step) yield { type: "text", text: step.text };
  else if ("reasoning" in step) yield { type: "reasoning", text: step.reasoning };
  else if ("waitMs" in step) await sleep(step.waitMs, signal);
  else if ("messageEnd" in step) yield { type: "message-end" };
  else if ("error" in step) yield { type: "error", message: step.error, retryable: false };
  else if ("hang" in step) await untilAborted(signal);
  else if (!("steer" in step)) {
    yield { type: "tool-start", name: step.tool, input: step.input };
    await unlessAborted(turn.callTool(step.tool, step.input), signal);
    yield { type: "tool-end", name: step.tool, ok: true };
  }
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
}
