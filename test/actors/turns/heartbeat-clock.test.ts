/** Heartbeats under clocks that jump: a machine that slept, a wall clock set back. */
import { expect, test } from "vitest";
import { openConfigs } from "../../../src/actors/journal/config-versions.ts";
import { createHeartbeats } from "../../../src/actors/turns/heartbeats.ts";
import { scenarioConfig } from "../../../src/domain/config/index.ts";
import type { Clock, StoreWrite, TimerHandle } from "../../../src/domain/ports/index.ts";
import { createTestStore } from "../../support/runtime/test-store.ts";

const minute = 60_000;
const key = "agent:main:main";
const route = {
  channel: "telegram",
  account: "default",
  thread: null,
  chat: { id: "ann", kind: "direct" },
} as const;

/** Time that may be set to anything; what is due by then fires, each timer once. */
class JumpingClock implements Clock {
  at = 1_700_000_000_000;
  readonly timers = new Map<TimerHandle, () => void>();
  now = () => this.at;
  monotonic = () => 0;
  setTimer(at: number, fire: () => void): TimerHandle {
    const timer = { at };
    this.timers.set(timer, fire);
    return timer;
  }
  setLimit(ms: number, fire: () => void): TimerHandle {
    return this.setTimer(this.at + ms, fire);
  }
  clearTimer(timer: TimerHandle): void {
    this.timers.delete(timer);
  }
  async jump(ms: number): Promise<void> {
    this.at += ms;
    for (const [timer, fire] of [...this.timers]) {
      if (timer.at > this.at) continue;
      this.timers.delete(timer);
      fire();
    }
    for (let turns = 0; turns < 5; turns += 1) await new Promise(setImmediate);
  }
}

async function pacemaker(clock: JumpingClock, store = createTestStore()) {
  const config = scenarioConfig({ heartbeat: { everyMs: 30 * minute } });
  const { configs } = await openConfigs(store, config);
  const woken: number[] = [];
  const written: Promise<unknown>[] = [];
  const heartbeats = createHeartbeats({
    clock,
    store,
    configs,
    log: () => undefined,
    onBeat: () => undefined,
    starts: () => true,
    workspaces: { read: async () => "Look at the build." },
    append(events, writes) {
      for (const { event } of events) woken.push(event.at);
      written.push(store.commit([...events.map(({ write }) => write), ...writes] as StoreWrite[]));
    },
  });
  await heartbeats.load();
  const heard = heartbeats.noteRoute(key, route);
  if (heard !== null) await store.commit([heard]);
  heartbeats.start();
  return { heartbeats, woken, store, written: () => Promise.all(written) };
}

test("a machine that slept through a night wakes its agent once, and then at the usual pace", async () => {
  const clock = new JumpingClock();
  const { woken, heartbeats } = await pacemaker(clock);
  await clock.jump(30 * minute);
  await clock.jump(8 * 60 * minute);
  const awake = clock.now();
  expect(woken).toHaveLength(2);
  await clock.jump(29 * minute);
  expect(woken).toHaveLength(2);
  await clock.jump(minute);
  expect(woken).toEqual([woken[0], awake, awake + 30 * minute]);
  expect(clock.timers.size).toBe(1);
  heartbeats.stop();
  expect(clock.timers.size).toBe(0);
});

test("a daemon that was off for a day wakes its agent once, soon after it is back", async () => {
  const clock = new JumpingClock();
  const first = await pacemaker(clock);
  await clock.jump(30 * minute);
  await first.written();
  first.heartbeats.stop();
  await clock.jump(24 * 60 * minute);
  const again = await pacemaker(clock, first.store);
  await clock.jump(0);
  await clock.jump(29 * minute);
  expect([...first.woken, ...again.woken]).toHaveLength(2);
  again.heartbeats.stop();
});

test("a wall clock set back by a day delays the next by no more than a period", async () => {
  const clock = new JumpingClock();
  const first = await pacemaker(clock);
  await clock.jump(30 * minute);
  await first.written();
  first.heartbeats.stop();
  clock.at -= 24 * 60 * minute;
  const again = await pacemaker(clock, first.store);
  await clock.jump(30 * minute);
  expect(again.woken).toHaveLength(1);
  expect(again.heartbeats.next()).toEqual([{ key, at: clock.now() + 30 * minute }]);
  again.heartbeats.stop();
});

test("a folder that is slow to read is looked into once at a time", async () => {
  const clock = new JumpingClock();
  let reads = 0;
  const config = scenarioConfig({ heartbeat: { everyMs: 30 * minute } });
  const store = createTestStore();
  const { configs } = await openConfigs(store, config);
  const heartbeats = createHeartbeats({
    clock,
    store,
    configs,
    log: () => undefined,
    onBeat: () => undefined,
    starts: () => true,
    append: () => undefined,
    workspaces: {
      read: () => {
        reads += 1;
        return new Promise(() => undefined);
      },
    },
  });
  await heartbeats.load();
  heartbeats.noteRoute(key, route);
  heartbeats.start();
  for (let beats = 0; beats < 5; beats += 1) await clock.jump(30 * minute);
  expect(reads).toBe(1);
  expect(heartbeats.looking()).toBe(1);
  heartbeats.stop();
});
