/**
 * Nodes and the server end with SIGKILL under load, again and again: what was acknowledged is decided once, each
 * turn has one outcome, no answer comes twice unless it is marked in doubt, and what an operator orders meanwhile is
 * carried out once. EARSHOT_SEED repeats a run's choices.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { conversationOf, decodeEvent } from "../../../src/actors/protocol/event-codec.ts";
import { openKeptStore } from "../../../src/adapters/stores/sqlite-store.ts";
import { createSystemClock } from "../../../src/adapters/system/clock.ts";
import { createIds } from "../../../src/adapters/system/ids.ts";
import { ingressCaller } from "../../../src/engines/restate/calls/ingress-call.ts";
import { createOrders } from "../../../src/engines/restate/orders.ts";
import { chance } from "../../crash/world.ts";
import { builtFile } from "../../support/built/files.ts";
import { NodesWorld } from "../../support/restate/nodes-world.ts";
import { haveRestate } from "../../support/restate/server.ts";
import { rounds } from "../../support/rounds.ts";

const seed = Number(process.env.EARSHOT_SEED ?? Math.floor(Math.random() * 2 ** 31));

const program = { file: builtFile("test/crash-child") };

describe.skipIf(!haveRestate)("kill -9", () => {
  const random = chance(seed);
  /** Two nodes, and in one test a third: what is judged is everything since they began. */
  let world: NodesWorld;
  /** The two. */
  let pair: readonly number[] = [0, 1];
  /** One of them, in turn, and the other one. */
  const inTurn = (round: number) => pair[round % 2] as number;
  beforeAll(async () => {
    console.log(`nodes seed ${seed}`);
    world = await NodesWorld.open(2, random, program);
  });
  afterAll(async () => {
    await world?.close();
  });

  /** Says 10 to 30 things, or half as many. */
  const talk = () => world.traffic(rounds(5, 10) + Math.floor(random() * rounds(10, 20)));

  async function judge(): Promise<void> {
    await world.quiet();
    expect(await world.broken(), `seed ${seed}, log: ${world.logged.join("\n")}`).toEqual([]);
    expect(world.acked.size).toBe(world.said.length);
    await expect.poll(() => world.copiesDiffer(), { timeout: 60_000, interval: 500 }).toEqual([]);
    expect(world.received.length).toBeGreaterThan(world.kills);
  }

  test("while nodes die each order is carried out once, and answered", async () => {
    const orders = createOrders({
      clock: createSystemClock(),
      ids: createIds(),
      call: ingressCaller(world.ingress),
      waitMs: 30_000,
    });
    const keys = Array.from({ length: 6 }, (_, room) => `agent:main:direct:peer${room}`);
    await world.traffic(rounds(6, 12));
    await world.quiet();
    let resets = 0;
    for (let round = 0; round < rounds(1, 20); round += 1) {
      const given = keys.map((key) => {
        resets += 1;
        return orders.give(key, { does: "act", by: "operator", action: { does: "new" } }, true);
      });
      const traffic = world.traffic(rounds(6, 10) + Math.floor(random() * rounds(6, 10)));
      const dying = inTurn(round);
      await new Promise((done) => setTimeout(done, random() * 60));
      await world.kill(dying);
      await world.start(dying);
      await traffic;
      for (const answer of await Promise.all(given))
        expect(answer).toEqual({ answer: { refused: null, messages: [] } });
    }
    await world.quiet();
    expect(await world.broken(), `seed ${seed}, log: ${world.logged.join("\n")}`).toEqual([]);
    let made = 0;
    for (const key of keys) {
      const store = openKeptStore(await world.rows(key));
      const events = (await store.scan(0, 1_000_000)).map(decodeEvent);
      made += events.filter(({ type }) => type === "session.reset").length;
      const all = await store.sessions({ conv: conversationOf(key).conv, all: true, limit: 100 });
      expect(all.length).toBe(events.filter(({ type }) => type === "session.reset").length + 1);
      await store.close();
    }
    expect(made).toBe(resets);
  });

  test("of one of two nodes: the other goes on, nothing is lost and nothing comes twice", async () => {
    for (let round = 0; round < rounds(1, 25); round += 1) {
      await talk();
      const dying = Math.floor(random() * 2);
      await world.kill(dying);
      await talk();
      await world.start(dying);
    }
    await judge();
  });

  test("of any of three nodes, and of the server: the others go on", async () => {
    const third = await world.add();
    for (let round = 0; round < rounds(1, 25); round += 1) {
      await talk();
      const dying = Math.floor(random() * 4);
      if (dying === 3 || round === 0) await world.killServer();
      if (dying < 3) await world.kill(dying);
      await talk();
      if (dying < 3 && round < rounds(0, 25)) await world.start(dying);
    }
    await judge();
    if (world.running().length > 2) await world.kill(third);
    pair = world.running();
  });

  test("a node that stands still: the other takes over, and when it wakes up it sends nothing twice", async () => {
    for (let round = 0; round < rounds(1, 3); round += 1) {
      const stopped = inTurn(round);
      await world.traffic(rounds(12, 30));
      world.signal(stopped, "SIGSTOP");
      await world.traffic(rounds(6, 20));
      await world.answeredBy(inTurn(round + 1));
      world.signal(stopped, "SIGCONT");
      await world.traffic(rounds(6, 20));
    }
    await judge();
  });

  test("SIGTERM of a node under load: its conversations go on at the other, and nothing comes twice", async () => {
    const before = world.twice().length;
    for (let round = 0; round < rounds(1, 10); round += 1) {
      await world.traffic(rounds(10, 20));
      await world.stop(inTurn(round));
      await world.traffic(rounds(10, 20));
      if (round < rounds(0, 10)) await world.start(inTurn(round));
    }
    await judge();
    expect(world.twice().slice(before)).toEqual([]);
  });
});
