/**
 * Which turns of a commit may be composed before it is made: those of whose input nothing is in it.
 * Their first lines then mostly go with it.
 */
import type { StoreWrite } from "../../domain/ports/index.ts";
import type { TurnRun } from "../../machines/events/effects.ts";
import type { HostStep } from "../protocol/host-protocol.ts";
import type { StepPlan } from "./effect-planner.ts";

/** An event whose mark is in the commit, with what its step plans. */
interface Marked {
  readonly conv: number;
  /** Null: it is no message. */
  readonly message: object | null;
  readonly plan: StepPlan | null;
}

/** Whether a row may be part of a turn's input. */
const isInput = ({ kind }: StoreWrite) => kind === "transcript" || kind === "session";

/**
 * A message that is marked here would be read without its decision, and a session that begins here
 * would be missed. A further attempt may ask its agent for a summary while it is composed, which
 * must not be before its order is written.
 */
export function composableTurns(applied: readonly Marked[]): (readonly [TurnRun, HostStep])[] {
  const changing = new Set<number>();
  for (const { conv, message, plan } of applied)
    if (message !== null || plan?.writes.some(isInput) === true) changing.add(conv);
  return applied.flatMap(({ conv, plan }) => {
    if (plan === null || changing.has(conv)) return [];
    const { step } = plan;
    return step.effects.flatMap((effect) =>
      effect.type === "turn.run" && effect.attempt === 1 ? [[effect, step] as const] : [],
    );
  });
}
