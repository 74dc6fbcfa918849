/**
 * What a start has not applied yet is counted, and a stop waits for it: nobody takes a daemon for idle that
 * has not begun with what the one before left.
 */
import { expect, test } from "vitest";
import { conversationOf, newEvent } from "../../../src/actors/protocol/event-codec.ts";
import type { MessageReceived } from "../../../src/machines/events/events.ts";
import { heldStore } from "../../support/runtime/test-store.ts";
import { World } from "../../support/runtime/world.ts";

const left = 40;

/** A world whose process was killed when it had journalled messages and stepped on none of them. */
async function killedWorld() {
  const { store, hold, letGo } = heldStore();
  const world = await new World({ store }).start();
  await world.say("first", { id: "m0", direct: true });
  await world.pass(10_000);
  await world.runtime.stop();
  const [row] = await store.eventsByMessage("m0");
  const first = JSON.parse(row?.body ?? "") as MessageReceived;
  const { key } = (await store.conversation(row?.conv ?? 0)) ?? { key: "" };
  const writes = Array.from({ length: left }, (_, n) => {
    const message = { ...first.message, id: `left${n}` };
    const named = { identity: `left${n}`, messageId: message.id };
    return newEvent(conversationOf(key), row?.cfg ?? 0, { ...first, message }, named).write;
  });
  await store.commit(writes);
  const unapplied = async () => (await store.unapplied(0, Number.MAX_SAFE_INTEGER)).length;
  return { world, store, hold, letGo, unapplied };
}

const turnOfLoop = () => new Promise(setImmediate);

test("what was left is counted while it is read, found and applied, and then no more", async () => {
  const { world, hold, letGo, unapplied } = await killedWorld();
  hold();
  await world.start();
  // Nothing is known yet: no turn, and no event either.
  const { turns, unapplied: first } = world.runtime.status();
  expect(turns).toEqual({ running: 0, waiting: 0 });
  expect(first).toEqual({ events: 0, reading: true });
  letGo();
  const counts: number[] = [];
  for (;;) {
    const { events, reading } = world.runtime.status().unapplied;
    counts.push(events);
    if (!reading) {
      expect(events).toBeGreaterThanOrEqual(await unapplied());
      if (events === 0) break;
    }
    await turnOfLoop();
  }
  expect(Math.max(...counts)).toBe(left);
  await world.pass(10_000);
  expect(world.runtime.status().unapplied).toEqual({ events: 0, reading: false });
  expect(world.decisions().filter(({ id }) => String(id).startsWith("left"))).toHaveLength(left);
  await world.runtime.stop();
});

test("copies, retried marks and events of admission leave nothing behind in the count", async () => {
  const world = await new World().start();
  for (let copy = 0; copy < 3; copy += 1) {
    await world.say("hello", { id: "m1" });
    await world.say("/status", { id: "m2", direct: true });
    await world.say("hello again", { id: "m3", direct: true });
    if (copy === 0) world.disk.fail({ at: 1 });
    await world.pass(20_000);
  }
  await world.restart();
  await world.pass(20_000);
  expect(world.runtime.status().unapplied).toEqual({ events: 0, reading: false });
  await world.runtime.stop();
});

test("a stop that may wait does so until what was left is applied", async () => {
  const { world, hold, letGo, unapplied } = await killedWorld();
  hold();
  await world.start();
  let isOver = false;
  const stopped = world.runtime.stop({ drainMs: 60_000 }).then(() => {
    isOver = true;
  });
  const wait = async () => {
    world.clock.advanceTo(world.clock.nextDue() ?? world.clock.now());
    await turnOfLoop();
  };
  for (let looks = 0; looks < 100; looks += 1) await wait();
  expect(isOver).toBe(false);
  letGo();
  while (!isOver) await wait();
  await stopped;
  expect(await unapplied()).toBe(0);
});

test("a stop does not wait for what a failed start will not apply", async () => {
  const { world, store } = await killedWorld();
  const { unapplied } = store;
  store.unapplied = () => Promise.reject(new Error("the disk is gone"));
  await world.start();
  for (let turns = 0; turns < 10; turns += 1) await turnOfLoop();
  expect(world.runtime.status()).toMatchObject({ ready: false, unapplied: { reading: true } });
  // No time passes: it would wait for ever.
  await world.runtime.stop({ drainMs: 60_000 });
  store.unapplied = unapplied;
});
