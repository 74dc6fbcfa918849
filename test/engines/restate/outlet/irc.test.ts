/**
 * Three daemons, one Restate, one account on a real IRC server: the node that has the connection is killed, ended
 * in order and frozen while people ask in rooms that are active on any node. Every question is answered once; an
 * answer that comes twice is marked as in doubt.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { missingPackages } from "../../../support/irc/ircd.ts";
import { IrcNodes } from "../../../support/restate/irc-nodes.ts";
import { haveRestate } from "../../../support/restate/server.ts";
import { rounds } from "../../../support/rounds.ts";

const isPossible = haveRestate && missingPackages("inspircd") === "";

describe.skipIf(!isPossible)("an account that may connect once, on three nodes", () => {
  let world: IrcNodes;
  beforeAll(async () => {
    world = await IrcNodes.open(3);
  });
  afterAll(() => world?.close());

  const others = (holder: IrcNodes["nodes"][number]) =>
    world.nodes.filter((node) => node !== holder);

  test("one has the connection; the others name it, and are ready", async () => {
    const holder = await world.holder();
    for (const node of others(holder)) {
      expect(await world.knows(node, holder)).toMatchObject({ state: "elsewhere" });
      expect(await world.isReady(node)).toBe(true);
    }
    await world.ask(9);
    await world.answered();
  });

  test("after SIGKILL of the one that has it another one answers (bench leases measures how soon)", async () => {
    for (let round = 0; round < rounds(1, 2); round += 1) {
      const holder = await world.holder();
      await world.ask(6);
      const from = performance.now();
      await world.end(holder, "SIGKILL");
      await world.ask(6);
      await world.holder(others(holder));
      const ms = performance.now() - from;
      await world.ask(3);
      await world.answered();
      console.log(`connected ${Math.round(ms)} ms after SIGKILL`);
      await world.start(holder);
    }
  });

  test("after SIGTERM another one has it, and answers what was asked meanwhile", async () => {
    for (let round = 0; round < rounds(1, 2); round += 1) {
      const holder = await world.holder();
      await world.ask(6);
      const ended = world.end(holder, "SIGTERM");
      await world.ask(6);
      const next = await world.holder(others(holder));
      await ended;
      await world.ask(3);
      await world.answered();
      const { holder: shown } = await world.shown(next);
      expect(shown?.epoch).toBeGreaterThan(0);
      await world.start(holder);
    }
  });

  test("one that stands still: another one answers, and it sends nothing when it goes on", async () => {
    for (let round = 0; round < rounds(1, 2); round += 1) {
      const holder = await world.holder();
      await world.ask(6);
      world.signal(holder, "SIGSTOP");
      await world.ask(6);
      const next = await world.holder(others(holder));
      const said = world.said().length;
      world.signal(holder, "SIGCONT");
      await world.ask(6);
      await world.knows(holder, next);
      await world.answered();
      expect(said).toBeGreaterThan(0);
    }
  });

  test("afterwards every question was heard and answered once", async () => {
    expect(await world.broken(), world.logged).toEqual([]);
    const asked = [...world.asked.values()].flat();
    expect(new Set(world.answers())).toEqual(new Set(asked));
    console.log(
      `${asked.length} questions, ${world.answers().length - asked.length} answered again`,
    );
  });
});
