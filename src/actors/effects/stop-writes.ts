/** What a stopped turn has said and not sent is stored as such together with the stop, so no crash comes between. */
import type { OutboxRow, StoreWrite } from "../../domain/ports/index.ts";
import type { Outbox } from "../outbox/types.ts";
import type { StepPlan } from "./effect-planner.ts";

/** @param plans of one commit, in order */
export function stopWrites(
  outbox: Pick<Outbox, "stopping">,
  plans: readonly (StepPlan | null)[],
): readonly StoreWrite[] {
  const planned: OutboxRow[] = [];
  const writes: StoreWrite[] = [];
  for (const plan of plans) {
    if (plan === null) continue;
    planned.push(...plan.rows);
    for (const effect of plan.step.effects) {
      if (effect.type !== "turn.abort") continue;
      const { turnId, reason } = effect;
      for (const row of outbox.stopping(turnId, reason, planned))
        writes.push({ kind: "outbox", row });
    }
  }
  return writes;
}
