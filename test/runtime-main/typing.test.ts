/**
 * Typing on the platform: refreshed while it lasts, ended by itself at the latest, silent after the
 * end.
 */
import { expect, test } from "vitest";
import { SimulatedClock } from "../../src/actors/clock.ts";
import { createTyping } from "../../src/actors/typing.ts";
import type { ChannelOutbound } from "../../src/domain/ports.ts";

const route = {
  channel: "telegram",
  account: "default",
  chat: { id: "room", kind: "group" },
  thread: null,
} as const;
const settings = { intervalMs: 6_000, ttlMs: 120_000 };

function world() {
  const clock = new SimulatedClock();
  const told: string[] = [];
  const state = { ready: true, fail: false };
  const outbound = {
    sendTyping: async (_route: unknown, on: boolean) => {
      told.push(`${on ? "on" : "off"} ${clock.now()}`);
      if (state.fail) throw new Error("down");
    },
  } as unknown as ChannelOutbound;
  const typing = createTyping({
    clock,
    log: () => undefined,
    directory: {
      outbound: () => outbound,
      ready: () => state.ready,
      textLimit: () => 4_096,
      typingIntervalMs: () => 5_000,
      isLocal: () => false,
      refreshMembership: () => undefined,
      membership: () => null,
    },
  });
  return { clock, told, state, typing };
}

test("it is refreshed as often as the platform asks, and not after the end", () => {
  const { clock, told, typing } = world();
  typing.on(route, settings);
  clock.advanceTo(11_000);
  typing.off(route);
  clock.advanceTo(60_000);
  expect(told).toEqual(["on 0", "on 5000", "on 10000", "off 11000"]);
  expect(clock.nextDue()).toBeNull();
});

test("it ends by itself when nobody ends it", () => {
  const { clock, told, typing } = world();
  typing.on(route, { intervalMs: 6_000, ttlMs: 12_000 });
  clock.advanceTo(600_000);
  expect(told).toEqual(["on 0", "on 5000", "on 10000"]);
  expect(clock.nextDue()).toBeNull();
});

test("started again it has one rhythm, not two", () => {
  const { clock, told, typing } = world();
  typing.on(route, settings);
  clock.advanceTo(2_000);
  typing.on(route, settings);
  clock.advanceTo(7_000);
  expect(told).toEqual(["on 0", "on 2000", "on 7000"]);
  typing.stop();
  expect(clock.nextDue()).toBeNull();
});

test("a platform that fails or is away does not stop anything", async () => {
  const { clock, told, state, typing } = world();
  state.fail = true;
  typing.on(route, settings);
  clock.advanceTo(5_000);
  state.ready = false;
  clock.advanceTo(10_000);
  await Promise.resolve();
  expect(told).toEqual(["on 0", "on 5000"]);
});

test("what was missed while the account was away is shown when it is back, once", () => {
  const { clock, told, state, typing } = world();
  state.ready = false;
  typing.on(route, settings);
  clock.advanceTo(1_000);
  typing.wake("telegram", "default");
  state.ready = true;
  typing.wake("telegram", "other");
  expect(told).toEqual([]);
  typing.wake("telegram", "default");
  typing.wake("telegram", "default");
  expect(told).toEqual(["on 1000"]);
  clock.advanceTo(5_000);
  expect(told).toEqual(["on 1000", "on 5000"]);
});

test("what ended while the account was away is not shown when it is back", () => {
  const { told, state, typing } = world();
  state.ready = false;
  typing.on(route, settings);
  typing.off(route);
  state.ready = true;
  typing.wake("telegram", "default");
  expect(told).toEqual([]);
});
