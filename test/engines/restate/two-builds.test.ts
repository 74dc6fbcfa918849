/**
 * A rolling upgrade: nodes of two versions run beside each other, and each takes over what the other has written.
 * The limit of turns holds for each of them, over all conversations that are active on it.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { machineVersion } from "../../../src/machines/snapshot/snapshot.ts";
import { chance } from "../../crash/world.ts";
import { builtFile } from "../../support/built/files.ts";
import { buildNewer, type NewerBuild } from "../../support/restate/newer-build.ts";
import { NodesWorld } from "../../support/restate/nodes-world.ts";
import { haveRestate } from "../../support/restate/server.ts";
import { rounds } from "../../support/rounds.ts";

const seed = Number(process.env.EARSHOT_SEED ?? Math.floor(Math.random() * 2 ** 31));

/** How many turns a node runs at a time. */
const turnsMax = 2;

describe.skipIf(!haveRestate)("two versions", () => {
  let newer: NewerBuild;
  let world: NodesWorld;

  beforeAll(async () => {
    console.log(`two builds seed ${seed}`);
    process.env.EARSHOT_CRASH_TURNS = String(turnsMax);
    newer = await buildNewer();
    const older = { file: builtFile("test/crash-child") };
    world = await NodesWorld.open(2, chance(seed), older, newer);
  });
  afterAll(async () => {
    delete process.env.EARSHOT_CRASH_TURNS;
    await world?.close();
    newer?.remove();
  });

  /** The machine versions of the records of all rooms. */
  const versions = async () => new Set((await world.records()).map((record) => record[1]));

  /** The answer of the handler that the newer one has; null: Restate does not know it. */
  async function later(): Promise<unknown> {
    const path = `conversation/${encodeURIComponent("agent:main:direct:peer0")}/later`;
    const answer = await fetch(`${world.ingress}/${path}`, { method: "POST" });
    return answer.ok ? answer.json() : null;
  }

  test("no node runs more turns than it may, one does so with six busy rooms, and those that wait are answered", async () => {
    world.agentMs = 300;
    await world.traffic(18, 0);
    await world.quiet();
    world.agentMs = null;
    expect(await world.broken()).toEqual([]);
    expect(world.acked.size).toBe(18);
    // Of two nodes, one has three of six rooms at least.
    expect(Math.max(...world.turnsAtOnce)).toBe(turnsMax);
  });

  test("records go from one to the other and back, while both run and while one does", async () => {
    // Of six rooms.
    const [both, one] = [rounds(12, 30), rounds(6, 12)];
    await world.traffic(both);
    await world.kill(1);
    await world.traffic(one);
    await world.quiet();
    expect(await versions()).toEqual(new Set([machineVersion]));
    await world.start(1);
    await world.traffic(both);
    await world.kill(0);
    await world.traffic(one);
    await world.quiet();
    expect(await versions()).toEqual(new Set([newer.machineVersion]));
    // Also where the older one has registered the address last.
    await expect.poll(later, { timeout: 90_000, interval: 250 }).toBe(true);
    await world.start(0);
    await world.traffic(both);
    await world.stop(1);
    await world.traffic(one);
    await world.quiet();
    expect(await versions()).toEqual(new Set([machineVersion]));
    expect(await world.broken(), `seed ${seed}, log: ${world.logged.join("\n")}`).toEqual([]);
    expect(world.acked.size).toBe(world.said.length);
  });
});
