/**
 * One delivery
 * ============
 * The life of one outbox row, from the moment it is durable to the moment nothing more will happen
 * to it. `sending` is committed before the platform is called, so a row found in it after a crash
 * is one whose outcome nobody knows: it becomes in-doubt, never simply pending again. Counters say
 * how often it was tried and how often it was in doubt; a row with doubts stays marked for good.
 */
import { setup, transition } from "xstate";
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
  /** The platform will never take it. */
  | { readonly type: "refuse" }
  /** The call was made and its outcome is unknown. */
  | { readonly type: "doubt" }
  /** Send it (again): the policy for doubts, or the operator. */
  | { readonly type: "resend" }
  /** It is too old to be said. */
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
  },
  actions: {},
}).createMachine({
  id: "delivery",
  description: "The life of one outbox row.",
  context: ({ input }) => input,
  initial: "pending",
  states: {
    pending: {
      description: "Durable; to be sent as soon as its conversation and its account allow.",
      on: { send: "sending", expire: "expired", drop: "dead" },
    },
    sending: {
      description: "The platform is being called.",
      on: {
        confirm: "sent",
        defer: [{ guard: "mayTryAgain", target: "waiting" }, { target: "dead" }],
        refuse: "dead",
        doubt: "in-doubt",
      },
    },
    waiting: {
      description: "Refused for now; to be tried again at a known time.",
      on: { send: "sending", expire: "expired", drop: "dead", resend: "pending" },
    },
    "in-doubt": {
      description: "Perhaps sent. Sent again only if the policy or the operator says so.",
      on: { resend: "pending", drop: "dead", expire: "expired" },
    },
    sent: { description: "On the platform." },
    expired: {
      description: "Not sent in time; only the operator may still send it.",
      on: { resend: "pending" },
    },
    dead: {
      description: "Will not be sent; only the operator may still send it.",
      on: { resend: "pending" },
    },
  },
});

/** What the outbox stores of a row's state. */
export interface DeliveryState extends DeliveryContext {
  readonly state: OutboxState;
}

/**
 * Where the machine goes, by state, event and whether tries are left: nothing else counts. Asked
 * once each, because asking builds an actor system, and every send asks three times.
 */
const answers = new Map<string, OutboxState>();

function nextState({ state, attempts, doubts }: DeliveryState, event: DeliveryEvent): OutboxState {
  const asked = `${state} ${event.type} ${attempts < limits.sendAttemptsMax}`;
  const known = answers.get(asked);
  if (known !== undefined) return known;
  const at = deliveryMachine.resolveState({ value: state, context: { attempts, doubts } });
  const [next] = transition(deliveryMachine, at, event);
  const answer = next.value as OutboxState;
  answers.set(asked, answer);
  return answer;
}

/**
 * The row's next state. An event that means nothing in its state changes nothing: a late
 * confirmation of a row that was given up stays given up.
 */
export function nextDelivery(row: DeliveryState, event: DeliveryEvent): DeliveryState {
  const { attempts, doubts } = row;
  const state = nextState(row, event);
  if (state === row.state) return row;
  return {
    state,
    attempts: state === "sending" ? attempts + 1 : event.type === "resend" ? 0 : attempts,
    doubts: state === "in-doubt" ? doubts + 1 : doubts,
  };
}
