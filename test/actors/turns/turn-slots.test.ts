/**
 * Turn slots and deadlines by themselves.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { createDeadlines } from "../../../src/actors/journal/deadlines.ts";
import { SimulatedClock } from "../../../src/actors/simulation/simulated-clock.ts";
import { createTurnSlots } from "../../../src/actors/turns/turn-slots.ts";

const request = (conv: number, agentId = "main") => ({ conv, key: `k${conv}`, agentId });

test("slots are granted in the order asked, and again when one is given back", () => {
  const granted: number[] = [];
  const queues = createTurnSlots({
    slots: () => 2,
    agentSlots: () => 10,
    grant: ({ conv }) => granted.push(conv),
  });
  for (const conv of [1, 2, 3, 4, 3]) queues.request(request(conv));
  expect(granted).toEqual([1, 2]);
  expect([queues.running(), queues.waiting()]).toEqual([2, 2]);
  queues.release(2);
  queues.request(request(2));
  queues.release(1);
  expect(granted).toEqual([1, 2, 3, 4]);
  queues.release(3);
  expect(granted).toEqual([1, 2, 3, 4, 2]);
});

test("an agent that is full is passed over, not waited for", () => {
  const granted: number[] = [];
  const queues = createTurnSlots({
    slots: () => 10,
    agentSlots: (agentId) => (agentId === "slow" ? 1 : 5),
    grant: ({ conv }) => granted.push(conv),
  });
  for (const conv of [1, 2]) queues.request(request(conv, "slow"));
  queues.request(request(3));
  expect(granted).toEqual([1, 3]);
  queues.release(1);
  expect(granted).toEqual([1, 3, 2]);
});

test("who came first is served first, whatever the agent", () => {
  const granted: number[] = [];
  let open = 0;
  const queues = createTurnSlots({
    slots: () => open,
    agentSlots: () => 10,
    grant: ({ conv }) => granted.push(conv),
  });
  const asked = [3, 1, 4, 5, 9, 2, 6];
  for (const conv of asked) queues.request(request(conv, conv % 2 === 0 ? "even" : "odd"));
  open = 10;
  queues.pump();
  expect(granted).toEqual(asked);
});

test("a slot granted before a restart is taken even when none is free", () => {
  const granted: number[] = [];
  const queues = createTurnSlots({
    slots: () => 1,
    agentSlots: () => 1,
    grant: ({ conv }) => granted.push(conv),
  });
  queues.occupy(request(1));
  queues.occupy(request(2));
  queues.request(request(3));
  queues.release(1);
  expect(granted).toEqual([]);
  queues.release(2);
  expect(granted).toEqual([3]);
});

test("no interleaving exceeds the bounds, and everybody who asks is served", () => {
  const step = fc.record({ conv: fc.nat(9), agent: fc.constantFrom("a", "b"), ask: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const running = new Map<number, string>();
      let wanted = new Set<number>();
      const queues = createTurnSlots({
        slots: () => 3,
        agentSlots: () => 2,
        grant: ({ conv, agentId }) => {
          expect(running.has(conv)).toBe(false);
          running.set(conv, agentId);
          wanted.delete(conv);
          expect(running.size).toBeLessThanOrEqual(3);
          expect([...running.values()].filter((one) => one === agentId).length).toBeLessThan(3);
        },
      });
      for (const { conv, agent, ask } of steps) {
        if (ask && !running.has(conv)) wanted = wanted.add(conv);
        if (ask) queues.request(request(conv, agent));
        else {
          running.delete(conv);
          wanted.delete(conv);
          queues.release(conv);
        }
      }
      while (running.size > 0) {
        const [conv] = running.keys();
        running.delete(conv as number);
        queues.release(conv as number);
      }
      expect(wanted.size).toBe(0);
    }),
  );
});

test("a deadline fires once, at its time, and a replaced one not at all", () => {
  const clock = new SimulatedClock(1_000);
  const fired: [string, number][] = [];
  const timers = createDeadlines(clock, ({ id }, at) => fired.push([id, at]));
  timers.set({ conv: 1, id: "flush", at: 1_500 });
  timers.set({ conv: 1, id: "flush", at: 1_700 });
  timers.set({ conv: 1, id: "quiet", at: 1_600 });
  timers.set({ conv: 2, id: "flush", at: 1_650 });
  timers.clear(2, "flush");
  clock.advanceTo(1_599);
  expect(fired).toEqual([]);
  clock.advanceTo(5_000);
  expect(fired).toEqual([
    ["quiet", 1_600],
    ["flush", 1_700],
  ]);
  expect(timers.count()).toBe(0);
});

test("an overdue deadline fires with a time that is not before it, also when the clock was set back", () => {
  const clock = new SimulatedClock(1_000);
  const fired: number[] = [];
  const timers = createDeadlines(
    { ...clockOf(clock), now: () => clock.now() - 3_600_000 },
    (_deadline, at) => fired.push(at),
  );
  timers.set({ conv: 1, id: "flush", at: 1_500 });
  clock.advanceTo(1_500);
  expect(fired).toEqual([1_500]);
});

const clockOf = (clock: SimulatedClock) => ({
  monotonic: () => clock.monotonic(),
  setTimer: (at: number, fire: () => void) => clock.setTimer(at, fire),
  setLimit: (ms: number, fire: () => void) => clock.setLimit(ms, fire),
  clearTimer: (timer: ReturnType<SimulatedClock["setTimer"]>) => clock.clearTimer(timer),
});
