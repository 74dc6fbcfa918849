/** Limits of turns hold for a node, over all conversations that are active on it, whichever of them speaks. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chance } from "../../crash/world.ts";
import { builtFile } from "../../support/built/files.ts";
import { NodesWorld } from "../../support/restate/nodes-world.ts";
import { haveRestate } from "../../support/restate/server.ts";

const seed = Number(process.env.EARSHOT_SEED ?? Math.floor(Math.random() * 2 ** 31));
const limit = 2;

describe.skipIf(!haveRestate)("turn.maxConcurrentTurns on two nodes", () => {
  let world: NodesWorld;
  beforeAll(async () => {
    process.env.EARSHOT_CRASH_TURNS = String(limit);
    world = await NodesWorld.open(2, chance(seed), { file: builtFile("test/crash-child") });
  });
  afterAll(async () => {
    delete process.env.EARSHOT_CRASH_TURNS;
    await world?.close();
  });

  test("no node runs more, one reaches it with six busy rooms, and those that wait are answered", async () => {
    console.log(`turn limits seed ${seed}`);
    world.agentMs = 300;
    await world.traffic(18, 0);
    await world.quiet();
    expect(await world.broken()).toEqual([]);
    expect(world.acked.size).toBe(18);
    // Of two nodes, one has three of six rooms at least.
    expect(Math.max(...world.turnsAtOnce)).toBe(limit);
  });
});
