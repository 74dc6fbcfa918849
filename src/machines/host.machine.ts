/**
 * The life of one host: it starts, answers, dies, and is started again after a pause that grows.
 * More losses than `intensityMax` within `periodMs` end the attempts: the host is broken and says
 * so, because a restart storm helps nobody. The first restarts wait for nothing, as most deaths are
 * one bad message.
 */
import { assign, setup } from "xstate";
import type { Millis } from "../domain/message.ts";

export interface HostRules {
  readonly intensityMax: number;
  readonly periodMs: number;
  readonly backoffMsMax: number;
}

interface HostContext {
  readonly rules: HostRules;
  /** When it was lost, within the period, oldest first. */
  readonly losses: readonly Millis[];
  /** The pause before the next start, ms. */
  readonly pauseMs: number;
  readonly restarts: number;
}

/** `at` is monotonic time in ms: a step of the wall clock must not forgive or cause a storm. */
export type HostEvent =
  | { readonly type: "answered" }
  | { readonly type: "lost"; readonly at: Millis }
  | { readonly type: "paused" }
  | { readonly type: "stop" };

/** Losses that are followed by a start at once. */
const freeRestarts = 3;
const backoffMs = 50;

const recent = (context: HostContext, at: Millis): readonly Millis[] =>
  [...context.losses, at].filter((loss) => loss > at - context.rules.periodMs);

/** The pause before the start that follows the n-th loss of a period. */
export function pauseAfter(losses: number, backoffMsMax: number): number {
  if (losses <= freeRestarts) return 0;
  return Math.min(backoffMsMax, backoffMs * 2 ** (losses - freeRestarts - 1));
}

/** A loss means the same in every state that can have one. */
const whenLost = [
  { guard: "isStorm", target: "broken", actions: "noteLoss" },
  { target: "restarting", actions: "noteLoss" },
] as const;

export const hostMachine = setup({
  types: {
    context: {} as HostContext,
    events: {} as HostEvent,
    input: {} as HostRules,
  },
  guards: {
    isStorm: ({ context, event }) =>
      event.type === "lost" && recent(context, event.at).length > context.rules.intensityMax,
  },
  actions: {
    noteLoss: assign(({ context, event }) => {
      if (event.type !== "lost") return {};
      const losses = recent(context, event.at);
      return { losses, pauseMs: pauseAfter(losses.length, context.rules.backoffMsMax) };
    }),
    countRestart: assign({ restarts: ({ context }) => context.restarts + 1 }),
  },
}).createMachine({
  id: "host",
  description: "The life of one worker host.",
  context: ({ input }) => ({ rules: input, losses: [], pauseMs: 0, restarts: 0 }),
  initial: "starting",
  on: { stop: ".stopped" },
  states: {
    starting: {
      description: "A thread was started and has not answered yet.",
      on: { answered: "ready", lost: whenLost },
    },
    ready: { description: "It accepts batches and turns.", on: { lost: whenLost } },
    restarting: {
      description: "It has ended. It is started again after the pause.",
      on: { paused: { target: "starting", actions: "countRestart" } },
    },
    broken: { type: "final", description: "Lost too often. A person must look at it." },
    stopped: { type: "final", description: "Ended on purpose." },
  },
});
