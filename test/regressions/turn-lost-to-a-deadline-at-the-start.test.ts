/**
 * A turn runs, another message waits for its window to close, and the process is killed. The next one
 * found that window due before it knew of the turn, and gave the conversation a slot for a second
 * turn, with a row in the place of the first one's. Killed again before it had tried the first turn
 * again, it left nothing that said so: the turn had no outcome, and the conversation no further turn.
 *
 * Found by the campaign (seed 750 of its first thousand).
 */
import { expect, test } from "vitest";
import { heldStore } from "../support/runtime/test-store.ts";
import { World } from "../support/runtime/world.ts";

async function kill({ disk, runtime }: World): Promise<void> {
  disk.drop(true);
  await runtime.stop();
  disk.drop(false);
}

test("a turn that a killed process left is tried again, although a deadline was due first", async () => {
  const { store, hold, letGo } = heldStore();
  const world = await new World({ store }).start();
  world.runs.push({ afterMs: 0, steps: [{ hang: true }] });
  await world.say("first", { direct: true });
  await world.pass(1_000);
  expect(await store.runs()).toMatchObject([{ state: "running" }]);
  await world.say("second", { direct: true });
  await world.runtime.settled();

  // By the time that it starts again, the window has closed.
  await kill(world);
  world.clock.moveTo(world.clock.now() + 10_000);
  hold();
  await world.start();
  world.clock.advanceTo(world.clock.now());
  while ((await store.deadlines()).length > 0) await new Promise(setImmediate);

  await kill(world);
  letGo();
  await world.start();
  await world.pass(10_000);
  expect(world.sent.map(({ text }) => text)).toEqual(["ok", "ok"]);
  expect(await store.runs()).toEqual([]);
  await world.runtime.stop();
});
