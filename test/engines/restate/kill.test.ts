/**
 * Nodes and the server end with SIGKILL under load, again and again: what was acknowledged is decided once, each
 * turn has one outcome, and no answer comes twice unless it is marked in doubt. EARSHOT_SEED repeats a run's
 * choices.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chance } from "../../crash/world.ts";
import { builtFile } from "../../support/built/files.ts";
import { NodesWorld } from "../../support/restate/nodes-world.ts";
import { haveRestate } from "../../support/restate/server.ts";
import { rounds } from "../../support/rounds.ts";

const seed = Number(process.env.EARSHOT_SEED ?? Math.floor(Math.random() * 2 ** 31));

const program = { file: builtFile("test/crash-child") };

describe.skipIf(!haveRestate)("kill -9", () => {
  const random = chance(seed);
  /** Two nodes, for what ends one of them: what is judged is everything since they began. */
  let world: NodesWorld;
  let three: NodesWorld | null = null;
  beforeAll(async () => {
    console.log(`nodes seed ${seed}`);
    world = await NodesWorld.open(2, random, program);
  });
  afterAll(async () => {
    await three?.close();
    await world?.close();
  });

  async function judge(one: NodesWorld): Promise<void> {
    await one.quiet();
    expect(await one.broken(), `seed ${seed}, log: ${one.logged.join("\n")}`).toEqual([]);
    expect(one.acked.size).toBe(one.said.length);
    await expect.poll(() => one.copiesDiffer(), { timeout: 60_000, interval: 500 }).toEqual([]);
    expect(one.received.length).toBeGreaterThan(one.kills);
  }

  test("of one of two nodes: the other goes on, nothing is lost and nothing comes twice", async () => {
    for (let round = 0; round < rounds(1, 25); round += 1) {
      await world.traffic(10 + Math.floor(random() * 20));
      const dying = Math.floor(random() * 2);
      await world.kill(dying);
      await world.traffic(10 + Math.floor(random() * 20));
      await world.start(dying);
    }
    await judge(world);
  });

  test("of any of three nodes, and of the server: the others go on", async () => {
    const random = chance(seed + 1);
    three = await NodesWorld.open(3, random, program);
    for (let round = 0; round < rounds(1, 25); round += 1) {
      await three.traffic(10 + Math.floor(random() * 20));
      const dying = Math.floor(random() * 4);
      if (dying === 3 || round === 0) await three.killServer();
      if (dying < 3) await three.kill(dying);
      await three.traffic(10 + Math.floor(random() * 20));
      if (dying < 3) await three.start(dying);
    }
    await judge(three);
    await three.close();
    three = null;
  });

  test("a node that stands still: the other takes over, and when it wakes up it sends nothing twice", async () => {
    for (let round = 0; round < rounds(1, 3); round += 1) {
      const stopped = round % 2;
      await world.traffic(30);
      world.signal(stopped, "SIGSTOP");
      await world.traffic(20);
      await world.answeredBy(1 - stopped);
      world.signal(stopped, "SIGCONT");
      await world.traffic(20);
    }
    await judge(world);
  });

  test("SIGTERM of a node under load: its conversations go on at the other, and nothing comes twice", async () => {
    const before = world.twice().length;
    for (let round = 0; round < rounds(1, 10); round += 1) {
      await world.traffic(20);
      await world.stop(round % 2);
      await world.traffic(20);
      await world.start(round % 2);
    }
    await judge(world);
    expect(world.twice().slice(before)).toEqual([]);
  });
});
