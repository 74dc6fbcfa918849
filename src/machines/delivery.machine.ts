/**
 * The life of one outbox row, from the moment it is durable to the moment nothing more will happen
 * to it. `sending` is committed before the platform is called, so a row found in it after a crash
 * is one whose outcome nobody knows: it becomes in-doubt, never simply pending again. Counters say
 * how often it was tried and how often it was in doubt; a row with doubts stays marked for good.
 */
import { assign, setup, transition } from "xstate";
import { limits } from "../domain/limits.ts";
import type { OutboxState } from "../domain/ports/index.ts";

export interface DeliveryContext {
  readonly attempts: number;
  readonly doubts: number;
}

export type DeliveryEvent =
  /** The call to the platform is about to be made. */
  | { readonly type: "send" }
  /** The platform has it. */
  | { readonly type: "confirm" }
  /** The platform refused for now (rate limit, outage). */
  | { readonly type: "defer" }
  /** It was not called after all: another node has the connection. */
  | { readonly type: "withhold" }
  /** The platform will never take it. */
  | { readonly type: "refuse" }
  /** The call was made and its outcome is unknown. */
  | { readonly type: "doubt" }
  /** Send it (again): the policy for doubts, or the operator. */
  | { readonly type: "resend" }
  /** It is too old to be sent. */
  | { readonly type: "expire" }
  /** The operator gave it up. */
  | { readonly type: "drop" };

export const deliveryMachine = setup({
  types: {
    context: {} as DeliveryContext,
    events: {} as DeliveryEvent,
    input: {} as DeliveryContext,
  },
  guards: {
    mayTryAgain: ({ context }) => context.attempts < limits.sendAttemptsMax,
    isFirst: ({ context }) => context.attempts === 1,
  },
  actions: {
    countAttempt: assign({ attempts: ({ context }) => context.attempts + 1 }),
    uncountAttempt: assign({ attempts: ({ context }) => context.attempts - 1 }),
    countDoubt: assign({ doubts: ({ context }) => context.doubts + 1 }),
    forgetAttempts: assign({ attempts: 0 }),
  },
}).createMachine({
  id: "delivery",
  description: "The life of one outbox row.",
  context: ({ input }) => input,
  initial: "pending",
  states: {
    pending: {
      description: "Stored. Sent as soon as its conversation and its account allow.",
      on: { send: "sending", expire: "expired", drop: "dead" },
    },
    sending: {
      description: "The platform is being called.",
      entry: "countAttempt",
      on: {
        confirm: "sent",
        defer: [{ guard: "mayTryAgain", target: "waiting" }, { target: "dead" }],
        withhold: [
          { guard: "isFirst", target: "pending", actions: "uncountAttempt" },
          { target: "waiting", actions: "uncountAttempt" },
        ],
        refuse: "dead",
        doubt: "in-doubt",
      },
    },
    waiting: {
      description: "Refused for now. Tried again at a known time.",
      on: {
        send: "sending",
        expire: "expired",
        drop: "dead",
        resend: { target: "pending", actions: "forgetAttempts" },
      },
    },
    "in-doubt": {
      description: "Perhaps sent. Sent again only if the policy or the operator decides so.",
      entry: "countDoubt",
      on: {
        resend: { target: "pending", actions: "forgetAttempts" },
        drop: "dead",
        expire: "expired",
      },
    },
    sent: { description: "The platform has it." },
    expired: {
      description: "Not sent in time. Only the operator can still send it.",
      on: { resend: { target: "pending", actions: "forgetAttempts" } },
    },
    dead: {
      description: "Will not be sent. Only the operator can still send it.",
      on: { resend: { target: "pending", actions: "forgetAttempts" } },
    },
  },
});

/** The events that a delivery may get. */
export const deliveryEvents: readonly DeliveryEvent["type"][] = [
  ...(["send", "confirm", "defer", "withhold", "refuse"] as const),
  ...(["doubt", "resend", "expire", "drop"] as const),
];

/** What the outbox stores of a row's state. */
export interface DeliveryState extends DeliveryContext {
  readonly state: OutboxState;
}

/**
 * What the machine has answered; null: the event changes nothing. Asking builds an actor system, and
 * every send asks three times; rows of the same state and counters are many, and the counters small.
 */
const answers = new Map<string, DeliveryState | null>();
const answersMax = 4_096;

/**
 * The row after an event, as the machine has it; the same object when the event means nothing in its
 * state. A late confirmation of a row that was given up stays given up.
 */
export function nextDelivery(row: DeliveryState, event: DeliveryEvent): DeliveryState {
  const { state, attempts, doubts } = row;
  const asked = `${state} ${event.type} ${attempts} ${doubts}`;
  let answer = answers.get(asked);
  if (answer === undefined) {
    const at = deliveryMachine.resolveState({ value: state, context: { attempts, doubts } });
    const [next] = transition(deliveryMachine, at, event);
    answer = next === at ? null : { state: next.value as OutboxState, ...next.context };
    if (answers.size < answersMax) answers.set(asked, answer);
  }
  return answer ?? row;
}

/** A step of a row: the event, and what the row is after it. */
export interface DeliveryStep extends DeliveryState {
  readonly event: DeliveryEvent["type"];
}

const nameOf = ({ state, attempts, doubts }: DeliveryState) => `${state} ${attempts} ${doubts}`;
const isKnown = ({ state }: DeliveryState) => Object.hasOwn(deliveryMachine.states, state);

/**
 * The fewest steps of the machine that lead from one row to another; none: it is the same. Null: no few steps do, or
 * one of them has a state of another version.
 */
export function deliverySteps(
  from: DeliveryState,
  to: DeliveryState,
): readonly DeliveryStep[] | null {
  const wanted = nameOf(to);
  const seen = new Set([nameOf(from)]);
  if (seen.has(wanted)) return [];
  if (!isKnown(from) || !isKnown(to)) return null;
  let paths: readonly (readonly DeliveryStep[])[] = [[]];
  for (let length = 1; length <= limits.deliveryStepsMax; length += 1) {
    const longer: DeliveryStep[][] = [];
    for (const path of paths)
      for (const event of deliveryEvents) {
        const next = nextDelivery(path.at(-1) ?? from, { type: event });
        const name = nameOf(next);
        // Nothing ever takes a doubt back.
        if (next.doubts > to.doubts || seen.has(name)) continue;
        seen.add(name);
        const { state, attempts, doubts } = next;
        const steps = [...path, { event, state, attempts, doubts }];
        if (name === wanted) return steps;
        longer.push(steps);
      }
    paths = longer;
  }
  return null;
}
