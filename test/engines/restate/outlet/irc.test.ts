/**
 * Two daemons, in the full rounds three, one Restate, one account on a real IRC server: the node that has the
 * connection is killed, ended in order and frozen while people ask in rooms that are active on any node. Every
 * question is answered once; an answer that comes twice is marked as in doubt.
 */
import { hostname } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { missingPackages } from "../../../support/irc/ircd.ts";
import { forgetful, IrcNodes } from "../../../support/restate/irc-nodes.ts";
import { haveRestate } from "../../../support/restate/server.ts";
import { rounds } from "../../../support/rounds.ts";

type Node = IrcNodes["nodes"][number];
const isPossible = haveRestate && missingPackages("inspircd") === "";

describe.skipIf(!isPossible)("an account that may connect once, on several nodes", () => {
  let world: IrcNodes;
  beforeAll(async () => {
    world = await IrcNodes.open(rounds(2, 3));
  });
  afterAll(() => world?.close());

  const others = (holder: Node) => world.running().filter((node) => node !== holder);

  test("one has the connection; the others name it, and are ready", async () => {
    const holder = await world.holder();
    for (const node of others(holder)) {
      expect(await world.knows(node, holder)).toMatchObject({ state: "elsewhere" });
      expect(await world.isReady(node)).toBe(true);
    }
    await world.ask(rounds(3, 9));
    await world.answered();
  });

  const nameOf = ({ name }: Node) => `${hostname()}${name}`;
  /** Who has the connection as a node shows it, and the state of each node by its name. */
  const shownBy = async (node: Node) => {
    const { connections, nodes } = await world.engine(node);
    const [{ holder = null, waiting = [], live = false } = {}] = connections;
    return { holder, live, waiting, nodes: nodes.map((one) => `${one.node} ${one.state}`).sort() };
  };
  const soon = (read: () => unknown) => expect.poll(read, { timeout: 60_000, interval: 250 });

  test("any of them shows all nodes, who has the connection and who waits: API, status, doctor", async () => {
    const holder = await world.holder();
    const waiting = others(holder).map(nameOf).sort();
    const running = world.nodes.map((node) => `${nameOf(node)} running`).sort();
    for (const node of world.nodes)
      await soon(() => shownBy(node)).toEqual({
        holder: nameOf(holder),
        live: true,
        waiting,
        nodes: running,
      });
    const { schedule } = await world.engine(holder);
    expect(world.nodes.map(nameOf)).toContain(schedule?.holder);
    const [other] = others(holder) as [Node];
    const status = await world.run(other, "status");
    expect(status).toContain(`${nameOf(holder)}, since`);
    expect(status).toContain(`${nameOf(other)} (this one), since`);
    expect(status.replaceAll(/\s+/gu, " ")).toContain(`elsewhere; ${nameOf(holder)} has it since`);
    const config = ["--config", join(other.folder, "earshot.json5")];
    const found = JSON.parse(await world.run(other, "doctor", ...config, "--json"));
    const engine = (found as { check: string; state: string; says: string }[]).filter(
      ({ check }) => check === "engine",
    );
    expect(engine.map(({ state }) => state)).toEqual(["ok", "ok", "ok"]);
    expect(engine[1]?.says).toMatch(new RegExp(`^${world.nodes.length} nodes run: `, "u"));
    expect(engine[2]?.says).toBe(`irc:default: ${nameOf(holder)} has it, and is connected`);
  });

  test("one that stands still: another one answers, and it sends nothing when it goes on", async () => {
    for (let round = 0; round < rounds(1, 2); round += 1) {
      const holder = await world.holder();
      await world.ask(rounds(3, 6));
      world.signal(holder, "SIGSTOP");
      await world.ask(rounds(3, 6));
      const next = await world.holder(others(holder));
      const said = world.said().length;
      world.signal(holder, "SIGCONT");
      await world.ask(rounds(3, 6));
      await world.knows(holder, next);
      await world.answered();
      expect(said).toBeGreaterThan(0);
    }
  });

  /** What a node says that nobody heard. */
  const gapsOf = async (node: Node) => (await world.gaps(node)).map(({ id }) => id).sort();

  test("after SIGKILL of the one that has it another one answers (bench leases measures how soon)", async () => {
    for (let round = 0; round < rounds(1, 2); round += 1) {
      const holder = await world.holder();
      await world.ask(rounds(3, 6));
      const from = performance.now();
      await world.end(holder, "SIGKILL");
      await world.ask(rounds(3, 6));
      const next = await world.holder(others(holder));
      const ms = performance.now() - from;
      for (const node of others(holder)) {
        await soon(async () => (await shownBy(node)).holder).toBe(nameOf(next));
        expect((await shownBy(node)).nodes).toContain(`${nameOf(holder)} gone`);
      }
      await world.ask(3);
      await world.answered();
      console.log(`connected ${Math.round(ms)} ms after SIGKILL`);
      await world.start(holder);
      await soon(async () => (await shownBy(next)).nodes).toContain(`${nameOf(holder)} running`);
    }
  });

  /** What was said while all of them ran. */
  let known: readonly string[] = [];

  test("what nobody heard meanwhile each node says", async () => {
    const [first, ...more] = world.running() as [Node, ...Node[]];
    await soon(async () => (await world.gaps(first)).length).toBeGreaterThan(0);
    await soon(async () => {
      known = await gapsOf(first);
      return (await Promise.all(more.map(gapsOf))).every((shown) => `${shown}` === `${known}`);
    }).toBe(true);
  });

  test("after SIGTERM another one has it, and answers what was asked meanwhile", async () => {
    for (let round = 0; round < rounds(1, 2); round += 1) {
      const holder = await world.holder();
      await world.ask(rounds(3, 6));
      const ended = world.end(holder, "SIGTERM");
      await world.ask(rounds(3, 6));
      const next = await world.holder(others(holder));
      await ended;
      await world.ask(3);
      await world.answered();
      const { holder: shown } = await world.shown(next);
      expect(shown?.epoch).toBeGreaterThan(0);
      if (round < rounds(0, 2)) await world.start(holder);
    }
  });

  test("and though the one that found it out is gone, until it was seen", async () => {
    const [one] = world.running() as [Node];
    const found = await world.gaps(one);
    expect(known.length).toBeGreaterThan(0);
    expect(found.map(({ id }) => id)).toEqual(expect.arrayContaining([...known]));
    for (const { rooms, from, to } of found) {
      expect(rooms).toEqual([forgetful]);
      expect(to).toBeGreaterThan(from);
    }
    const channels = await world.run(one, "channels");
    expect(channels).toContain("irc/default: messages may be lost from");
    // Each end of a holder may leave one, and the last may be said only now.
    const leftOnceSeen = async () => {
      for (const { id } of await world.gaps(one)) await world.see(one, id);
      return (await Promise.all(world.running().map(gapsOf))).flat();
    };
    await soon(leftOnceSeen).toEqual([]);
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
