/** A conversation that waits for a slot across a restart is granted it like any other. */
import { expect, test } from "vitest";
import { EarshotError } from "../../src/domain/errors.ts";
import type { RunRow, Store } from "../../src/domain/ports/index.ts";
import { createTestStore } from "../support/runtime/test-store.ts";
import { World } from "../support/runtime/world.ts";

const config = { turn: { maxConcurrentTurns: 1 } };
const mention = { mentions: [{ id: "bot", isSelf: true }] };

/** A disk that takes nothing more once a slot was granted to a conversation that had waited. */
function disk() {
  const memory = createTestStore();
  let isFull = false;
  let armed = false;
  const granted: RunRow[] = [];
  const store = Object.create(memory) as Store;
  store.commit = async (writes) => {
    if (isFull) throw new EarshotError("EAR_STORE_FAILED", "Cannot write as the power is gone");
    const numbers = await memory.commit(writes);
    const isGrant = writes.some(
      (write) => write.kind === "event" && JSON.parse(write.body).type === "lane.granted",
    );
    for (const write of isGrant ? writes : [])
      if (write.kind === "run" && write.row !== null) granted.push(write.row);
    isFull = armed && isGrant;
    return numbers;
  };
  const failAtGrant = (is: boolean) => {
    armed = is;
    isFull = false;
  };
  return { store, granted, failAtGrant };
}

/** One room is being answered, another waits for the only slot, and the process starts again. */
async function waitingAfterRestart(store: Store): Promise<World> {
  const world = await new World({ store, config }).start();
  world.runs.push({ afterMs: 0, steps: [{ waitMs: 2_000 }, { text: "lost" }] });
  world.runs.push({ afterMs: 0, steps: [{ waitMs: 2_000 }, { text: "first" }] });
  world.runs.push({ afterMs: 0, steps: [{ text: "second" }] });
  world.runs.push({ afterMs: 0, steps: [{ text: "third" }] });
  await world.say("hello", { id: "a", chat: { id: "one", kind: "group" }, ...mention });
  await world.pass(1_000);
  await world.say("hello", { id: "b", chat: { id: "two", kind: "group" }, ...mention });
  await world.pass(600);
  expect(world.runtime.status().turns).toEqual({ running: 1, waiting: 1 });
  await world.restart();
  return world;
}

test("the row of its turn names the turn and the moment it was granted", async () => {
  const { store, granted } = disk();
  const world = await waitingAfterRestart(store);
  const before = granted.length;
  const restartedAt = world.clock.now();
  await world.pass(10_000);
  expect(granted.slice(before)).toMatchObject([
    { key: expect.stringContaining("two"), turnId: expect.any(String), state: "waiting" },
  ]);
  expect(granted.at(-1)?.since).toBeGreaterThan(restartedAt);
  expect(world.sent.map(({ text }) => text)).toEqual(["first", "second"]);
});

test("another crash right after it was granted finds it granted, and it is not granted twice", async () => {
  const { store, granted, failAtGrant } = disk();
  const world = await waitingAfterRestart(store);
  const before = granted.length;
  failAtGrant(true);
  await world.pass(5_000);
  expect(granted).toHaveLength(before + 1);
  await world.runtime.stop();
  failAtGrant(false);
  await world.start();
  await world.pass(10_000);
  expect(granted).toHaveLength(before + 1);
  expect(world.events("agent_end")).toMatchObject([{ outcome: "replied" }, { outcome: "replied" }]);
  expect(world.runtime.status().turns).toEqual({ running: 0, waiting: 0 });
  expect(await store.runs()).toEqual([]);
});
