/** The life of one outbox row: pure, every state reached, and what the outbox asks is the machine. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { initialTransition, transition } from "xstate";
import { getShortestPaths } from "xstate/graph";
import { limits } from "../../src/domain/limits.ts";
import {
  type DeliveryEvent,
  type DeliveryState,
  deliveryMachine,
  deliverySteps,
  nextDelivery,
} from "../../src/machines/delivery.machine.ts";
import { property } from "../support/property.ts";

const types = [
  ...(["send", "confirm", "defer", "withhold", "refuse"] as const),
  ...(["doubt", "resend", "expire", "drop"] as const),
];
const events: readonly DeliveryEvent[] = types.map((type) => ({ type }));
const states = Object.keys(deliveryMachine.config.states ?? {});
const input = { attempts: 0, doubts: 0 };

test("a shortest path leads to every state, and the outbox takes it as well", () => {
  const paths = getShortestPaths(deliveryMachine, {
    input,
    events: [...events],
    serializeState: ({ value }) => String(value),
  });
  expect(new Set(paths.map(({ state }) => state.value))).toEqual(new Set(states));
  for (const { state, steps } of paths) {
    let row: DeliveryState = { state: "pending", ...input };
    for (const { event } of steps)
      if (types.some((type) => type === event.type)) row = nextDelivery(row, event);
    // Ways of other lengths lead there, too: of these the counters are not looked at.
    expect(row.state).toBe(state.value);
  }
});

property([fc.array(fc.constantFrom(...events), { maxLength: 40, size: "max" })])(
  "over any story a frozen snapshot gives what the outbox stores",
  (story) => {
    let [snapshot, actions] = initialTransition(deliveryMachine, input);
    let row: DeliveryState = { state: "pending", ...input };
    for (const event of story) {
      Object.freeze(snapshot.context);
      [snapshot, actions] = transition(deliveryMachine, Object.freeze(snapshot), event);
      expect(actions).toEqual([]);
      const before = Object.freeze(row);
      row = nextDelivery(row, event);
      expect(row).toEqual({ state: snapshot.value, ...snapshot.context });
      if (row.state === before.state) expect(row).toBe(before);
    }
  },
);

/** As many doubts as no row had before: nobody has asked for such a row, so no answer is kept of it. */
let doubted = 1_000;
const doubts = () => ++doubted;

test("a call that was withheld leaves the row as it was", () => {
  for (const attempts of [0, 1, 2]) {
    const state = attempts === 0 ? "pending" : "waiting";
    const row: DeliveryState = { state, attempts, doubts: doubts() };
    expect(nextDelivery(nextDelivery(row, { type: "send" }), { type: "withhold" })).toEqual(row);
  }
});

test("the calls of the platform are counted, and the last one allowed ends it", () => {
  const max = limits.sendAttemptsMax;
  const row: DeliveryState = { state: "waiting", attempts: max - 1, doubts: doubts() };
  const sending = nextDelivery(row, { type: "send" });
  expect(sending).toEqual({ ...row, state: "sending", attempts: max });
  expect(nextDelivery(sending, { type: "defer" }).state).toBe("dead");
  const earlier = nextDelivery({ ...row, attempts: max - 2, doubts: doubts() }, { type: "send" });
  expect(nextDelivery(earlier, { type: "defer" })).toEqual({ ...earlier, state: "waiting" });
  expect(nextDelivery(sending, { type: "doubt" })).toMatchObject({
    state: "in-doubt",
    doubts: row.doubts + 1,
  });
});

const rowOf = (story: readonly DeliveryEvent[], from: DeliveryState): DeliveryState => {
  const { state, attempts, doubts } = story.reduce(nextDelivery, from);
  return { state, attempts, doubts };
};
const unsent: DeliveryState = { state: "pending", ...input };
const short = fc.array(fc.constantFrom(...events), { maxLength: limits.deliveryStepsMax });

property([short, short])(
  "the steps between two rows of a story are those of the machine, and no more than were taken",
  (earlier, later) => {
    const from = rowOf(earlier, unsent);
    const to = rowOf(later, from);
    const steps = deliverySteps(from, to);
    let at = from;
    for (const { event, ...next } of steps ?? []) {
      expect(nextDelivery(at, { type: event })).toEqual(next);
      at = next;
    }
    expect(at).toEqual(to);
    expect(steps?.length).toBeLessThanOrEqual(later.length);
  },
);

test("what was not stored of a reaction or a doubt is found again; what no few steps lead to is not", () => {
  const names = (from: DeliveryState, to: DeliveryState) =>
    deliverySteps(from, to)?.map(({ event }) => event) ?? null;
  expect(names(unsent, { state: "sent", attempts: 2, doubts: 0 })).toEqual([
    ...["send", "defer", "send", "confirm"],
  ]);
  const sending: DeliveryState = { state: "sending", attempts: 1, doubts: 0 };
  expect(names(sending, { ...unsent, doubts: 1 })).toEqual(["doubt", "resend"]);
  expect(names(sending, unsent)).toEqual(["withhold"]);
  expect(names(sending, { state: "expired", attempts: 1, doubts: 0 })).toEqual(["defer", "expire"]);
  expect(names({ ...unsent, doubts: 1 }, sending)).toBeNull();
  expect(names(unsent, { state: "sent", attempts: 400, doubts: 0 })).toBeNull();
  expect(names({ ...unsent, state: "parked" as never }, sending)).toBeNull();
});
