/**
 * A stop ends, whatever becomes of the store or the platform meanwhile: what it wanted to store or to send last waits
 * for the next start.
 */
import { expect, test } from "vitest";
import { EarshotError } from "../../../src/domain/errors.ts";
import type { Store } from "../../../src/domain/ports/index.ts";
import { readyDirectory } from "../../support/runtime/ready-directory.ts";
import { createTestStore } from "../../support/runtime/test-store.ts";
import { World } from "../../support/runtime/world.ts";

test("one whose store is taken away while it stores its last mark ends as well", async () => {
  const memory = createTestStore();
  let marks = 0;
  const store: Store = {
    ...memory,
    async commit(writes) {
      if (!writes.some((write) => write.kind === "meta" && write.name === "sweptSeq"))
        return memory.commit(writes);
      marks += 1;
      throw new EarshotError("EAR_STATE_LOCKED", "Cannot go on: another process has the state");
    },
  };
  const world = await new World({ store }).start();
  await world.say("hello", { id: "m1", direct: true });
  await world.pass(10_000);
  let isOver = false;
  const stopped = world.runtime.stop({ drainMs: 5_000 }).then(() => {
    isOver = true;
  });
  for (let turns = 0; turns < 200 && !isOver; turns += 1) {
    await world.pass(100);
    await new Promise(setImmediate);
  }
  expect(marks).toBe(1);
  expect(isOver).toBe(true);
  await stopped;
});

/** Forty people with an answer each, on a platform that takes so long for one, ms; null: for ever. */
async function answering(takesMs: number | null) {
  const sent: string[] = [];
  const config = { session: { dmScope: "per-peer" }, messages: { inbound: { debounceMs: 0 } } };
  const directory = readyDirectory(
    ({ id }) =>
      new Promise((done) => {
        const end = () => {
          sent.push(id);
          done({ messageIds: [id] });
        };
        if (takesMs !== null) world.clock.setTimer(world.clock.now() + takesMs, end);
      }),
  );
  const world: World = await new World({ ports: { directory }, config }).start();
  for (let one = 0; one < 40; one += 1) {
    const name = `p${one}`;
    await world.say("hello", { chat: { id: name, kind: "direct" }, author: { id: name, name } });
  }
  return { world, sent };
}

/** Stops while time passes; resolves to how much of it did, ms. */
async function stopped({ runtime, clock }: World, drainMs: number): Promise<number> {
  const before = clock.now();
  let isOver = false;
  const stop = runtime.stop({ drainMs }).then(() => {
    isOver = true;
  });
  while (!isOver) {
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    const due = clock.nextDue();
    if (!isOver && due !== null) clock.advanceTo(due);
  }
  await stop;
  return clock.now() - before;
}

test("at its limit it begins to send nothing more, and what is being sent comes to its end: nothing is in doubt", async () => {
  const { world, sent } = await answering(700);
  await world.pass(1_000);
  // Eight at a time: the last of them begin just before the limit.
  await stopped(world, 1_500);
  const left = await world.store.outboxOpen();
  expect(left.map(({ state }) => state).filter((state) => state !== "pending")).toEqual([]);
  expect(left.length).toBeGreaterThan(0);
  expect(sent.length + left.length).toBe(40);
  await world.start();
  await world.pass(60_000);
  expect(sent.length).toBe(40);
  expect(new Set(sent).size).toBe(40);
});

test("a platform that does not answer at all holds it up for no more than a second", async () => {
  const { world } = await answering(null);
  await world.pass(1_000);
  expect(await stopped(world, 1_500)).toBeLessThanOrEqual(2_550);
  const states = (await world.store.outboxOpen()).map(({ state }) => state);
  expect(states.filter((state) => state === "sending").length).toBe(8);
});
