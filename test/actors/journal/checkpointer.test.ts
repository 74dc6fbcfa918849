/**
 * The checkpointer: quiet conversations get their records, old rows are deleted, and the history
 * stays the same.
 */

import { expect, test } from "vitest";
import { createCheckpointer } from "../../../src/actors/journal/checkpointer.ts";
import { openConfigs } from "../../../src/actors/journal/config-versions.ts";
import { eventLoop } from "../../../src/actors/util/scheduling.ts";
import { scenarioConfig } from "../../../src/domain/config/index.ts";
import type { Store } from "../../../src/domain/ports/index.ts";
import { createTestJournal } from "../../support/runtime/test-journal.ts";
import { World } from "../../support/runtime/world.ts";

async function checkpointerOf(world: World, store: Store = world.store) {
  const config = scenarioConfig({ agents: { defaults: { driver: { kind: "scripted" } } } });
  const { clock } = world;
  const journal = createTestJournal({ clock, store });
  const { configs } = await openConfigs(store, config);
  return createCheckpointer({
    clock,
    scheduler: eventLoop,
    store,
    journal,
    configs,
    log: () => undefined,
  });
}

test("a conversation that has gone quiet is folded into its record and goes on from there", async () => {
  const world = await new World().start();
  await world.say("hello", { direct: true, id: "m1" });
  await world.pass(5_000);
  await world.say("just talk", { id: "m2" });
  await world.pass(10);
  await world.runtime.stop();

  const checkpointer = await checkpointerOf(world);
  expect(await checkpointer.round()).toBe(0);
  expect(await checkpointer.round()).toBe(2);
  expect(await world.store.dirty(10)).toEqual([]);
  expect(await world.store.meta("sweptSeq")).toBe(String(await world.store.lastSeq()));

  await world.start();
  await world.say("hello again", { direct: true, id: "m3" });
  await world.pass(5_000);
  expect(world.events("agent_end")).toMatchObject([{ turn: 1 }, { turn: 2 }]);
});

test("an event that is still under way keeps its conversation out of the sweep", async () => {
  const world = await new World().start();
  await world.say("hello", { id: "m1" });
  await world.pass(10);
  await world.runtime.stop();
  await world.store.commit([
    {
      kind: "event",
      at: 0,
      eid: 1,
      identity: "x",
      conv: (await world.store.dirty(1))[0]?.conv as number,
      key: "agent:main:telegram:group:room",
      cfg: 1,
      body: JSON.stringify({ type: "disengage", at: 5 }),
      messageId: null,
    },
  ]);
  const checkpointer = await checkpointerOf(world);
  await checkpointer.round();
  expect(await checkpointer.round()).toBe(0);
  expect(await world.store.dirty(10)).toHaveLength(1);
});

test("rows older than the retention go once every record covers them, and not before", async () => {
  const world = await new World().start();
  await world.say("hello", { id: "m1" });
  await world.pass(10);
  await world.runtime.stop();
  world.clock.advanceTo(world.clock.now() + 200_000_000);
  const checkpointer = await checkpointerOf(world);
  await checkpointer.round();
  expect(await world.store.scan(0, 10)).toHaveLength(1);
  await checkpointer.round();
  expect(await world.store.scan(0, 10)).toHaveLength(0);
});

test("more old rows than a round deletes are deleted within seconds, not one round after the other", async () => {
  const world = await new World().start();
  await world.say("hello", { id: "m1" });
  await world.runtime.stop();
  /** Slices of old rows that are left, and how many were deleted. */
  let [left, deleted] = [350, 0];
  const store: Store = new Proxy(world.store, {
    get(target, name) {
      if (name !== "prune") return Reflect.get(target, name);
      return async (_before: number, limit: number) => {
        left -= 1;
        deleted += 1;
        return left >= 0 ? limit : 0;
      };
    },
  });
  const checkpointer = await checkpointerOf(world, store);
  checkpointer.start();
  const { clock } = world;
  const after = async (ms: number) => {
    const before = deleted;
    clock.advanceTo(clock.now() + ms);
    // The next timer is set when the work of this one is done.
    await expect.poll(() => clock.nextDue() !== null && deleted > before).toBe(true);
    return deleted - before;
  };
  expect(await after(30_000)).toBe(100);
  expect([await after(1_000), await after(1_000), await after(1_000)]).toEqual([100, 100, 51]);
  const next = clock.nextDue() ?? 0;
  expect(next - clock.now()).toBe(30_000);
  checkpointer.stop();
});
