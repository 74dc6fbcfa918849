/**
 * Replays a recording under one config, outside the daemon's process. It can be killed at any moment,
 * because it holds no shared state. Answers with the decisions, or with the ladder of one message.
 */
import type { Why } from "../../actors/protocol/why.ts";
import type { Decision, Rule } from "../../domain/decision.ts";
import type { Millis } from "../../domain/message.ts";
import { scenarioOf } from "../../domain/scenario/read-scenario.ts";
import { tagged } from "../events/event-kinds.ts";
import { answeredIn } from "../replay/recorded-judges.ts";
import { simulateScenario } from "../replay/simulate.ts";

/** A task of the process; one at a time. */
export interface WhatIfTask {
  /** Header and lines of a scenario. */
  readonly lines: readonly unknown[];
  readonly config: unknown;
  /** The message whose ladder is wanted; null: all decisions are. */
  readonly explain: string | null;
}

/**
 * A decision as a short tuple, because thousands are sent between processes. A judge's answer takes
 * the place of the first decision; `asks`: a judge would be asked, and its answer is not known.
 */
export type Decided = readonly [
  t: Millis,
  id: string,
  key: string | null,
  decision: Decision,
  rule: Rule,
  asks?: true,
];

export type WhatIfAnswer =
  | { readonly type: "progress"; readonly share: number }
  | { readonly type: "decided"; readonly decided: readonly Decided[] }
  | { readonly type: "why"; readonly why: Why | null }
  | { readonly type: "failed"; readonly message: string };

const progressEvery = 200;

async function run({ lines, config, explain }: WhatIfTask): Promise<WhatIfAnswer> {
  const scenario = scenarioOf(lines, "the recording");
  const isAnswered = answeredIn(scenario);
  const decided: Decided[] = [];
  /** Places of the decisions that a judge may change. */
  const asked = new Map<string, number>();
  const why = await simulateScenario(scenario, {
    instead: config,
    explain: explain === null ? false : [explain],
    onLine(line) {
      const { kind, line: event } = tagged(line);
      if (explain !== null || kind !== "decision") return;
      const { t, id, key, decision, rule } = event;
      if (rule !== "judge") return void decided.push([t, id, key, decision, rule]);
      const name = JSON.stringify([key, id]);
      if (decision === "observe") {
        asked.set(name, decided.length);
        const asks = isAnswered(key, id) ? ([] as const) : ([true] as const);
        return void decided.push([t, id, key, decision, rule, ...asks]);
      }
      const place = asked.get(name);
      const first = place === undefined ? undefined : decided[place];
      if (place !== undefined && first !== undefined)
        decided[place] = [first[0], id, key, decision, rule];
    },
    onProgress(done, total) {
      if (done % progressEvery === 0) reply({ type: "progress", share: done / total });
    },
  });
  if (explain === null) return { type: "decided", decided };
  return { type: "why", why: why[explain] ?? null };
}

const reply = (answer: WhatIfAnswer) => process.send?.(answer);

process.on("message", (task: WhatIfTask) => {
  run(task).then(reply, (error: unknown) =>
    reply({ type: "failed", message: error instanceof Error ? error.message : String(error) }),
  );
});

// Without the daemon the answer is not needed.
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
