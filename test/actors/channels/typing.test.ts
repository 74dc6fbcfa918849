/**
 * Typing on the platform: refreshed while it lasts, ended by itself at the latest, silent after the
 * end.
 */
import { expect, test } from "vitest";
import { createTyping } from "../../../src/actors/channels/typing-indicators.ts";
import { SimulatedClock } from "../../../src/actors/simulation/simulated-clock.ts";
import type { ChannelOutbound } from "../../../src/domain/ports/index.ts";

const route = {
  channel: "telegram",
  account: "default",
  chat: { id: "room", kind: "group" },
  thread: null,
} as const;
const settings = { intervalMs: 6_000, ttlMs: 120_000 };

function world() {
  const clock = new SimulatedClock();
  const reported: string[] = [];
  const state = { ready: true, fail: false, slowMs: 0 };
  const outbound = {
    sendTyping: async (_route: unknown, on: boolean, signal: AbortSignal) => {
      reported.push(`${on ? "on" : "off"} ${clock.now()}`);
      if (state.fail) throw new Error("down");
      if (state.slowMs === 0) return;
      await new Promise<void>((resolve) => {
        clock.setTimer(clock.now() + state.slowMs, resolve);
        signal.addEventListener("abort", () => {
          reported.push(`called off ${clock.now()}`);
          resolve();
        });
      });
    },
  } as unknown as ChannelOutbound;
  const typing = createTyping({
    clock,
    log: () => undefined,
    mayAct: () => true,
    directory: {
      outbound: () => outbound,
      ready: () => state.ready,
      typingIntervalMs: () => 5_000,
    },
  });
  /** Lets time pass, one timer after the other. */
  const pass = async (until: number) => {
    const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
    await settle();
    while (clock.fireNext(until)) await settle();
    clock.advanceTo(until);
    await settle();
  };
  return { clock, reported, state, typing, pass };
}

test("it is refreshed as often as the platform asks, and not after the end", async () => {
  const { clock, reported, typing, pass } = world();
  typing.on(1, route, settings);
  await pass(11_000);
  typing.off(1, route);
  await pass(60_000);
  expect(reported).toEqual(["on 0", "on 5000", "on 10000", "off 11000"]);
  expect(clock.nextDue()).toBeNull();
});

test("it ends by itself when nobody ends it", async () => {
  const { clock, reported, typing, pass } = world();
  typing.on(1, route, { intervalMs: 6_000, ttlMs: 12_000 });
  await pass(600_000);
  expect(reported).toEqual(["on 0", "on 5000", "on 10000"]);
  expect(clock.nextDue()).toBeNull();
});

test("of several conversations in one place the last one ends it, or its own time", async () => {
  const { clock, reported, typing, pass } = world();
  typing.on(1, route, settings);
  typing.on(2, route, { ...settings, ttlMs: 8_000 });
  await pass(2_000);
  typing.off(1, route);
  await pass(4_000);
  expect(reported).toEqual(["on 0"]);
  typing.off(2, route);
  await pass(60_000);
  expect(reported).toEqual(["on 0", "off 4000"]);
  typing.on(2, route, { ...settings, ttlMs: 8_000 });
  typing.on(1, route, settings);
  await pass(70_000);
  typing.off(1, route);
  await pass(600_000);
  expect(reported.slice(2)).toEqual(["on 60000", "on 65000", "on 70000", "off 70000"]);
  expect(clock.nextDue()).toBeNull();
});

test("started again it has one rhythm, not two", async () => {
  const { clock, reported, typing, pass } = world();
  typing.on(1, route, settings);
  await pass(2_000);
  typing.on(1, route, settings);
  await pass(7_000);
  expect(reported).toEqual(["on 0", "on 2000", "on 7000"]);
  typing.stop();
  expect(clock.nextDue()).toBeNull();
});

test("a platform that fails or is away does not stop anything", async () => {
  const { reported, state, typing, pass } = world();
  state.fail = true;
  typing.on(1, route, settings);
  await pass(5_000);
  state.ready = false;
  await pass(10_000);
  expect(reported).toEqual(["on 0", "on 5000"]);
});

test("what was missed while the account was away is shown when it is back, once", async () => {
  const { reported, state, typing, pass } = world();
  state.ready = false;
  typing.on(1, route, settings);
  await pass(1_000);
  typing.wake("telegram", "default");
  state.ready = true;
  typing.wake("telegram", "other");
  expect(reported).toEqual([]);
  typing.wake("telegram", "default");
  typing.wake("telegram", "default");
  expect(reported).toEqual(["on 1000"]);
  await pass(5_000);
  expect(reported).toEqual(["on 1000", "on 5000"]);
});

test("what ended while the account was away is not shown when it is back", async () => {
  const { reported, state, typing } = world();
  state.ready = false;
  typing.on(1, route, settings);
  typing.off(1, route);
  state.ready = true;
  typing.wake("telegram", "default");
  expect(reported).toEqual([]);
});

test("an end calls off a slow beginning and comes after it, so that nothing starts anew", async () => {
  const { reported, state, typing, pass } = world();
  state.slowMs = 3_000;
  typing.on(1, route, settings);
  await pass(1_000);
  typing.off(1, route);
  await pass(60_000);
  expect(reported).toEqual(["on 0", "called off 1000", "off 1000"]);
});

test("a beginning behind a slow end comes after it", async () => {
  const { reported, state, typing, pass } = world();
  typing.on(1, route, settings);
  await pass(1_000);
  state.slowMs = 3_000;
  typing.off(1, route);
  await pass(2_000);
  state.slowMs = 0;
  typing.on(1, route, { intervalMs: 60_000, ttlMs: 1_000 });
  await pass(60_000);
  expect(reported).toEqual(["on 0", "off 1000", "on 4000"]);
});

test("a platform slower than the refresh gets no second call while the first is out", async () => {
  const { reported, state, typing, pass } = world();
  state.slowMs = 7_000;
  typing.on(1, route, settings);
  await pass(16_000);
  expect(reported).toEqual(["on 0", "on 10000"]);
});
