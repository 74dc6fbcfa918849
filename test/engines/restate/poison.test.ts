/**
 * A message that ends each process which steps it has an end: after some deaths it is in quarantine, where an operator
 * sees it, and its conversation goes on.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openKeptStore } from "../../../src/adapters/stores/sqlite-store.ts";
import { chance } from "../../crash/world.ts";
import { builtFile } from "../../support/built/files.ts";
import { NodesWorld } from "../../support/restate/nodes-world.ts";
import { haveRestate } from "../../support/restate/server.ts";

const seed = Number(process.env.EARSHOT_SEED ?? Math.floor(Math.random() * 2 ** 31));
/** The text of one of the first messages, and its room. */
const poison = "m00008";
const key = "agent:main:direct:peer2";

describe.skipIf(!haveRestate)("a message that kills every node", () => {
  let world: NodesWorld;
  beforeAll(async () => {
    process.env.EARSHOT_CRASH_POISON = poison;
    world = await NodesWorld.open(2, chance(seed), { file: builtFile("test/crash-child") });
  });
  afterAll(async () => {
    delete process.env.EARSHOT_CRASH_POISON;
    await world?.close();
  });

  async function quarantined(): Promise<readonly { readonly error: string }[]> {
    const store = openKeptStore(await world.rows(key));
    const listed = JSON.parse((await store.meta("quarantine")) ?? "[]");
    await store.close();
    return listed;
  }

  test("is in quarantine after some of them, and everything else is answered", async () => {
    console.log(`poison seed ${seed}`);
    await world.traffic(18);
    let deaths = 0;
    let isOver = false;
    // Beside the question, which a node answers: both may be dead.
    const reviving = (async () => {
      while (!isOver) {
        deaths += await world.revive();
        world.redeliver();
        await new Promise((next) => setTimeout(next, 100));
      }
    })();
    while ((await quarantined()).length === 0) await new Promise((next) => setTimeout(next, 100));
    isOver = true;
    await reviving;
    // Two or three that nobody watched, and four.
    expect(deaths).toBeLessThanOrEqual(7);
    await world.revive();
    await world.traffic(12);
    await world.quiet();
    expect(await quarantined()).toEqual([
      expect.objectContaining({ key, error: expect.stringContaining("processes ended") }),
    ]);
    // On each node, as `status`, Health and the Room page read it.
    const ofPoison = expect.stringMatching(/direct:peer2.*processes ended/u);
    await expect.poll(() => world.quarantined(), { timeout: 20_000 }).toEqual([ofPoison, ofPoison]);
    // Its row, and no other's.
    expect(await world.broken()).toEqual([expect.stringMatching(/^row \d+ has the verdict -3$/u)]);
    const answers = world.received.map(({ text }) => text);
    expect(answers.some((text) => text.includes("m00026"))).toBe(true);
    expect(answers.some((text) => text.includes(poison))).toBe(false);
  });
});
