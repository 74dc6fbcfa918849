/**
 * The process of What-if
 * ======================
 * Replays a recording under one config, away from the thread that everybody waits for, and can be
 * killed at any moment: it holds nothing that anyone else needs. Answers with what was decided, or
 * with the ladder of the one message that is asked about.
 */
import type { Why } from "../../actors/protocol/runtime.ts";
import type { Decision, Rule } from "../../domain/decision.ts";
import type { Millis } from "../../domain/message.ts";
import { scenarioOf } from "../../domain/scenario/read-scenario.ts";
import { tagged } from "../events/event-kinds.ts";
import { simulateScenario } from "../replay/simulate.ts";

/** What the process is asked; one thing at a time. */
export interface WhatIfTask {
  /** Header and lines of a scenario. */
  readonly lines: readonly unknown[];
  readonly config: unknown;
  /** The one message whose ladder is wanted; null: the decisions are. */
  readonly explain: string | null;
}

/** A decision in few words: thousands of them cross over at once. */
export type Decided = readonly [
  t: Millis,
  id: string,
  key: string | null,
  decision: Decision,
  rule: Rule,
];

export type WhatIfAnswer =
  | { readonly type: "progress"; readonly share: number }
  | { readonly type: "decided"; readonly decided: readonly Decided[] }
  | { readonly type: "why"; readonly why: Why | null }
  | { readonly type: "failed"; readonly message: string };

const progressEvery = 200;

async function run({ lines, config, explain }: WhatIfTask): Promise<WhatIfAnswer> {
  const decided: Decided[] = [];
  const why = await simulateScenario(scenarioOf(lines, "the recording"), {
    instead: config,
    explain: explain === null ? false : [explain],
    onLine(line) {
      const { kind, line: told } = tagged(line);
      if (explain !== null || kind !== "decision") return;
      decided.push([told.t, told.id, told.key, told.decision, told.rule]);
    },
    onProgress(done, total) {
      if (done % progressEvery === 0) tell({ type: "progress", share: done / total });
    },
  });
  if (explain === null) return { type: "decided", decided };
  return { type: "why", why: why[explain] ?? null };
}

const tell = (answer: WhatIfAnswer) => process.send?.(answer);

process.on("message", (task: WhatIfTask) => {
  run(task).then(tell, (error: unknown) =>
    tell({ type: "failed", message: error instanceof Error ? error.message : String(error) }),
  );
});

// Without the daemon nobody waits for the answer.
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
