/**
 * Nothing of a turn is sent after its stop: not what waits, not once more what was on its way and did not arrive,
 * and nothing after a process that ended right after the stop.
 */
import { describe, expect, onTestFinished, test } from "vitest";
import { type Fate, World } from "../../support/runtime/world.ts";

const config = {
  stream: { mode: "block", break: "message_end", coalesceIdleMs: 0 },
  commands: { ownerAllowFrom: ["telegram:ann"] },
};
const texts = ["one", "two", "three"];

/** The agent has said all of it, and the platform has met these fates so far. */
async function answered(...fates: Fate[]): Promise<World> {
  const world = await new World({ config }).start();
  onTestFinished(() => world.runtime.stop());
  world.fates.push(...fates);
  const steps = texts.flatMap((text) => [{ text }, { messageEnd: true as const }]);
  world.runs.push({ afterMs: 0, steps });
  await world.say("go", { id: "m1", direct: true });
  return world;
}

const stop = (world: World) => world.say("/stop", { direct: true });
/** What the room sees of the answer in the end. */
async function said(world: World): Promise<readonly string[]> {
  await world.pass(120_000);
  const [why] = await world.runtime.why("m1");
  expect(why?.fate).toMatchObject({ outcome: "cancelled", reason: "stop" });
  return world.sent.map(({ text }) => text).filter((text) => texts.includes(text));
}

describe("a part that is on its way when its turn is stopped", () => {
  test.each<[Fate, string[]]>([
    ["429", []],
    ["fail", []],
    ["odd", []],
    ["ok", ["one"]],
  ])("and meets %s is not sent again, nor is what follows it", async (fate, shown) => {
    const world = await answered(fate);
    let go = () => {};
    world.held = new Promise((resolve) => {
      go = resolve;
    });
    await world.pass(600);
    expect(world.fates).toEqual([fate]);
    await stop(world);
    await world.runtime.settled();
    go();
    expect(await said(world)).toEqual(shown);
  });
});

describe("a process that ends right after a stop", () => {
  test.each([2, 3, 4, 5])("with commit %d leaves nothing to be sent", async (at) => {
    for (const fate of ["429", "hang"] as const) {
      const world = await answered(fate);
      await world.pass(600);
      world.disk.fail({ at, forever: true });
      await stop(world);
      await world.runtime.settled();
      world.disk.drop(true);
      world.disk.heal();
      await world.kill();
      expect(await said(world)).toEqual([]);
    }
  });
});
