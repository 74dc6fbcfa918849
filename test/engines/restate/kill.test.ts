/**
 * Nodes and the server end with SIGKILL under load, again and again: what was acknowledged is decided once, each
 * turn has one outcome, no answer comes twice unless it is marked in doubt, and an operator's orders are carried out
 * once. Then a rolling upgrade: nodes of two versions side by side take over what the other has written. Then a
 * message that ends each process which steps it is in quarantine, where an operator sees it, and its conversation
 * goes on. A process takes a second of processor time to start, so this is one life of a few nodes: each test begins
 * with those that the one before it has left.
 * EARSHOT_SEED repeats a run's choices.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { conversationOf, decodeEvent } from "../../../src/actors/protocol/event-codec.ts";
import { openKeptStore } from "../../../src/adapters/stores/sqlite-store.ts";
import { createSystemClock } from "../../../src/adapters/system/clock.ts";
import { createIds } from "../../../src/adapters/system/ids.ts";
import type { EngineStatus } from "../../../src/daemon/api-types/engine.ts";
import type { Need } from "../../../src/daemon/api-types/needs.ts";
import { limits } from "../../../src/domain/limits.ts";
import { ingressCaller } from "../../../src/engines/restate/calls/ingress-call.ts";
import { createOrders } from "../../../src/engines/restate/orders.ts";
import { machineVersion } from "../../../src/machines/snapshot/snapshot.ts";
import { crashConfig } from "../../crash/protocol.ts";
import { chance } from "../../crash/world.ts";
import { runCommand } from "../../support/built/command.ts";
import { builtFile } from "../../support/built/files.ts";
import { createLiveDaemon, type LiveDaemon } from "../../support/daemon/live-daemon.ts";
import { haveChromium } from "../../support/pages/chromium.ts";
import { createPagesRig } from "../../support/pages/pages-daemon.ts";
import { makeNewer, type NewerBuild } from "../../support/restate/newer-build.ts";
import { NodesWorld } from "../../support/restate/nodes-world.ts";
import { haveRestate } from "../../support/restate/server.ts";
import { rounds } from "../../support/rounds.ts";

const seed = Number(process.env.EARSHOT_SEED ?? Math.floor(Math.random() * 2 ** 31));

const program = { file: builtFile("test/crash-child") };
/** In npm test a node of the newer version is among those that die. */
const isFull = rounds(0, 1) > 0;
/** How many turns a node runs at a time, where that is limited. */
const turnsMax = 2;
/** A text that kills each process which steps it, and its room. */
const poison = "m90002";
const poisoned = "agent:main:direct:peer2";
/** So many processes end while they step it, where somebody watches. In the full rounds the limit is what it is. */
const deathsMax = rounds(1, limits.poisonDeathsMax) + 1;
/** Each look is a call to the server, or to a daemon. */
const lookMs = 250;
const soon = (read: () => unknown) => expect.poll(read, { timeout: 60_000, interval: lookMs });

describe.skipIf(!haveRestate)("kill -9", () => {
  const random = chance(seed);
  let world: NodesWorld;
  let newer: NewerBuild;
  /** Its number; null: it was not started yet. */
  let upgraded: number | null = null;
  /** Another node, on which nothing is active. */
  let other: LiveDaemon | null = null;
  /** The last order is given in a page in the full rounds, elsewhere by a command (test/pages/needs has pages). */
  const rig = haveChromium && isFull ? createPagesRig({ kept: true }) : null;
  /** The two. */
  let pair: readonly number[] = [0, 1];
  /** One of them, in turn, and the other one. */
  const inTurn = (round: number) => pair[round % 2] as number;
  beforeAll(async () => {
    console.log(`nodes seed ${seed}`);
    newer = makeNewer();
    world = await NodesWorld.open(2, random, program);
  });
  afterAll(async () => {
    for (const name of ["TURNS", "POISON", "DEATHS"]) delete process.env[`EARSHOT_CRASH_${name}`];
    await other?.close();
    await world?.close();
  });

  const log = () => `seed ${seed}, log: ${world.logged.join("\n")}`;
  /** Says 10 to 30 things, or half as many. */
  const talk = () => world.traffic(rounds(5, 10) + Math.floor(random() * rounds(10, 20)));

  async function judge(): Promise<void> {
    await world.quiet();
    expect(await world.broken(), log()).toEqual([]);
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
    for (let round = 0; round < rounds(1, 8); round += 1) {
      const given = keys.map((key) => {
        resets += 1;
        return orders.give(key, { does: "act", by: "operator", action: { does: "new" } }, true);
      });
      const traffic = world.traffic(rounds(6, 10) + Math.floor(random() * rounds(6, 10)));
      const dying = inTurn(round);
      await new Promise((done) => setTimeout(done, random() * 60));
      await world.kill(dying);
      if (isFull) await world.start(dying);
      await traffic;
      for (const answer of await Promise.all(given))
        expect(answer).toEqual({ answer: { refused: null, messages: [] } });
      await world.caughtUp();
    }
    await world.quiet();
    expect(await world.broken(), log()).toEqual([]);
    let made = 0;
    for (const key of keys) {
      const store = openKeptStore(await world.lastRows(key));
      const events = (await store.scan(0, 1_000_000)).map(decodeEvent);
      made += events.filter(({ type }) => type === "session.reset").length;
      const all = await store.sessions({ conv: conversationOf(key).conv, all: true, limit: 100 });
      expect(all.length).toBe(events.filter(({ type }) => type === "session.reset").length + 1);
      await store.close();
    }
    expect(made).toBe(resets);
  });

  test("of one of two nodes: the other goes on, nothing is lost and nothing comes twice", async () => {
    // In npm test it was killed while orders were given.
    await talk();
    for (let round = 0; round < rounds(0, 8); round += 1) {
      await talk();
      const dying = Math.floor(random() * 2);
      await world.kill(dying);
      await talk();
      await world.start(dying);
      await world.caughtUp();
    }
    await judge();
  });

  test("of any of three nodes, and of the server: the others go on", async () => {
    const third = await world.add(isFull ? program : newer);
    if (!isFull) upgraded = third;
    for (let round = 0; round < rounds(1, 8); round += 1) {
      await talk();
      const dying = isFull ? Math.floor(random() * 4) : 3;
      if (dying === 3 || round === 0) await world.killServer();
      if (dying < 3) await world.kill(dying);
      await talk();
      if (dying < 3) await world.start(dying);
      await world.caughtUp();
    }
    await judge();
    if (isFull) await world.kill(third);
    pair = world.running();
  });

  test("a node that stands still: the other takes over, and when it wakes up it sends nothing twice", async () => {
    for (let round = 0; round < rounds(1, 2); round += 1) {
      const stopped = inTurn(round);
      await world.traffic(rounds(6, 30));
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
    for (let round = 0; round < rounds(1, 6); round += 1) {
      await world.traffic(rounds(10, 20));
      await world.stop(inTurn(round));
      await world.traffic(rounds(6, 20));
      if (round < rounds(0, 6)) await world.start(inTurn(round));
    }
    await judge();
    expect(world.twice().slice(before)).toEqual([]);
  });

  /** The machine versions of the records of all rooms. */
  const versions = async () => new Set((await world.records()).map((record) => record[1]));

  /** The answer of the handler that the newer one has; null: Restate does not know it. */
  async function later(): Promise<unknown> {
    const path = `conversation/${encodeURIComponent("agent:main:direct:peer0")}/later`;
    const answer = await fetch(`${world.ingress}/${path}`, { method: "POST" });
    return answer.ok ? answer.json() : null;
  }

  test("of two versions: records go from one to the other and back, while both run and while one does", async () => {
    // Of six rooms.
    const [both, one] = [rounds(12, 30), rounds(6, 12)];
    const next = upgraded ?? (await world.add(newer));
    if (isFull) {
      await world.traffic(both);
      await world.kill(next);
      await world.traffic(one);
      await judge();
      expect(await versions()).toEqual(new Set([machineVersion]));
      await world.start(next);
      await world.traffic(both);
      for (const node of pair) await world.kill(node);
      await world.traffic(one);
      await judge();
    }
    // In npm test it has gone on alone when the other one got SIGTERM.
    expect(world.running()).toEqual([next]);
    expect(await versions()).toEqual(new Set([newer.machineVersion]));
    // Restate knows what only that one serves (address.test.ts: also where an older one has registered last).
    await expect.poll(later, { timeout: 90_000, interval: lookMs }).toBe(true);
    process.env.EARSHOT_CRASH_TURNS = String(turnsMax);
    process.env.EARSHOT_CRASH_POISON = poison;
    process.env.EARSHOT_CRASH_DEATHS = String(deathsMax - 1);
    await world.start(0);
    await world.traffic(both);
    await world.stop(next);
    await world.traffic(one);
    await judge();
    expect(await versions()).toEqual(new Set([machineVersion]));
  });

  test("no node runs more turns than it may, this one does so with six busy rooms, and those that wait are answered", async () => {
    expect(world.running()).toEqual([0]);
    world.agentMs = 300;
    world.turnsAtOnce.length = 0;
    await world.traffic(12, 0);
    await judge();
    world.agentMs = null;
    expect(world.turnsAtOnce).toEqual([turnsMax]);
  });

  async function quarantined(): Promise<readonly { readonly error: string }[]> {
    const rows = await world.rows(poisoned);
    const listed = rows.find(({ table, row }) => table === "meta" && row?.name === "quarantine");
    return JSON.parse(String(listed?.row?.value ?? "[]"));
  }

  /** Starts those of the nodes that have ended until it holds; resolves to how many there were. */
  async function revivingUntil(
    holds: () => Promise<boolean>,
    nodes: readonly number[] = [0, 1],
  ): Promise<number> {
    let deaths = 0;
    let isOver = false;
    // Beside the question, which a node answers: all may be dead.
    const reviving = (async () => {
      while (!isOver) {
        const ended = await world.revive(nodes);
        deaths += ended;
        // What the dead had taken is said again.
        if (ended > 0) world.redeliver();
        await new Promise((next) => setTimeout(next, 50));
      }
    })();
    try {
      const held = expect.poll(holds, { timeout: 240_000, interval: lookMs }).toBe(true);
      await Promise.race([held, reviving]);
    } catch (cause) {
      throw new Error(log(), { cause });
    } finally {
      isOver = true;
      await reviving;
    }
    return deaths + (await world.revive(nodes));
  }

  test("a message that kills every node is in quarantine after some of them, and everything else is answered", async () => {
    await world.start(1);
    await world.traffic(rounds(6, 12));
    world.say(poison);
    await world.traffic(6);
    const isThere = async () => world.quarantined().some((one) => one.includes("processes ended"));
    const deaths = await revivingUntil(isThere);
    // Two or three that nobody watched, and those.
    expect(deaths).toBeLessThanOrEqual(3 + deathsMax);
    const before = world.said.length;
    await world.traffic(rounds(6, 12));
    await world.quiet();
    expect(await quarantined()).toEqual([
      expect.objectContaining({ key: poisoned, error: expect.stringContaining("processes ended") }),
    ]);
    // On each node, as `status`, Health and the Room page read it.
    const ofPoison = expect.stringMatching(/direct:peer2.*processes ended/u);
    await soon(() => world.quarantined()).toEqual([ofPoison, ofPoison]);
    // Its row, and no other's.
    expect(await world.broken()).toEqual([expect.stringMatching(/^row \d+ has the verdict -3$/u)]);
    const answers = world.received.map(({ text }) => text);
    const later = world.said.slice(before).filter((id) => Number(id.slice(1)) % 6 === 2);
    for (const id of later) expect(answers.some((text) => text.includes(id))).toBe(true);
    expect(answers.some((text) => text.includes(poison))).toBe(false);
  });

  const needs = async () => {
    const answer = (await other?.ask("/needs")) as { readonly needs: readonly Need[] };
    return answer.needs;
  };
  const titles = async () => (await needs()).map(({ title }) => title);
  /** Conversations that the other node has not read. */
  const copyBehind = async () => {
    const status = (await other?.ask("/status")) as { readonly engine: EngineStatus };
    return status.engine.nodes[0]?.copy?.behind;
  };
  /** What `earshot` prints for the other node; it exits with 1 while something needs somebody. */
  const run = (...args: readonly string[]) =>
    runCommand([...args, "--state-dir", other?.stateDir ?? ""]);

  test("a node that never had that message shows it; tried again there while it still kills, it comes back", async () => {
    const { agents: _, ...config } = crashConfig;
    const engine = world.engine(0);
    other = await createLiveDaemon({
      pagesDir: rig?.pagesDir ?? "",
      config: { ...config, engine },
    });
    await other.start();
    await soon(titles).toContain("One event is in quarantine");
    await soon(copyBehind).toBe(0);
    // A send that two kills cut off waits for an operator, too.
    for (const { kind, id } of await needs())
      if (kind === "delivery") expect((await run("needs", "do", id, "drop")).err).toBe("");
    await soon(titles).toEqual(["One event is in quarantine"]);
    const [need] = (await needs()) as [Need];
    expect(need).toMatchObject({ kind: "quarantine", key: poisoned, tries: 0 });
    expect(need.meaning).toMatch(
      / continues without it; the journal keeps it\. \d processes ended/u,
    );
    const { out } = await run("needs");
    expect(out).toContain(`Try again: earshot needs do ${need.id} retry`);
    if (!isFull) await world.stop(1);
    const dying = world.running();
    let refused = "";
    const given = run("needs", "do", need.id, "retry").then(({ err }) => {
      refused = err;
    });
    const again = "One event is in quarantine again";
    await revivingUntil(async () => refused !== "" || (await titles()).includes(again), dying);
    await given;
    expect(refused).toBe("");
    expect((await needs()).map(({ meaning }) => meaning)).toEqual([
      expect.stringMatching(/processes ended.*Retried once, failed each time\.$/u),
    ]);
  });

  test("that message is answered when it is tried again there once a repaired build runs, and needs nobody", async () => {
    delete process.env.EARSHOT_CRASH_POISON;
    for (const node of [0, 1]) await world.stop(node);
    for (const node of [0, 1].slice(0, rounds(1, 2))) await world.start(node);
    // While both nodes were away, other things may have needed somebody.
    const need = (await needs()).find(({ title }) => title.includes("in quarantine")) as Need;
    if (rig === null) {
      expect((await run("needs", "do", need.id, "retry")).err).toBe("");
    } else {
      const page = await rig.open(other?.address("/health") ?? "");
      const shown = page.getByRole("region", { name: "Needs you" }).locator(".need");
      const again = shown.getByRole("button", { name: "Try again", exact: true });
      await again.click();
      await again.click();
      await page.getByRole("heading", { name: "Nothing needs you" }).waitFor();
    }
    await soon(titles).toEqual([]);
    await world.quiet();
    expect(await quarantined()).toEqual([]);
    const answers = world.received.map(({ text }) => text);
    expect(answers.filter((text) => text.includes(poison))).toHaveLength(1);
  });
});
