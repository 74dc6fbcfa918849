/**
 * Entries of the schedule that several nodes share, on a simulated clock: any node changes them, one says them, and
 * nodes, calls and answers are lost at any moment.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Speech } from "../../../src/actors/protocol/speech.ts";
import { createSchedules } from "../../../src/actors/schedules/schedules.ts";
import { SimulatedClock } from "../../../src/actors/simulation/simulated-clock.ts";
import { scenarioConfig } from "../../../src/domain/config/index.ts";
import type { ConnectionLeases, LeaseListener } from "../../../src/domain/ports/index.ts";
import { type Schedule, scheduleSchema } from "../../../src/domain/schedule.ts";
import { createNodeSchedules } from "../../../src/engines/restate/shared/schedules.ts";
import { scheduleService } from "../../../src/engines/restate/shared/wire.ts";
import { property } from "../../support/property.ts";
import { memoryRows } from "../../support/restate/memory-rows.ts";
import { rounds } from "../../support/rounds.ts";

const begin = 1_700_000_000_000;
const minute = 60_000;
/** Until another node has the lease of one that died. */
const lapseMs = 10_000;
const to = { channel: "telegram", chat: { id: "room", kind: "group" } };
const moment = (name: string, ms: number): Schedule =>
  scheduleSchema.parse({ name, to, text: "Tea.", at: new Date(begin + ms).toISOString() });

function openNodes(count: number, more: Record<string, unknown> = {}) {
  const clock = new SimulatedClock(begin);
  const log = () => undefined;
  const { call, fates, hold: holdCalls } = memoryRows(scheduleService);
  const config = scenarioConfig(more);
  /** What was said, as its conversation would take it: the first with an id. */
  const said = new Map<string, { readonly at: number; readonly node: number }>();
  let holder: number | null = null;
  const listeners = new Map<number, LeaseListener>();

  function lose(): void {
    if (holder === null) return;
    const listener = listeners.get(holder);
    holder = null;
    listener?.onLost("it is another's");
  }
  function hold(node: number): void {
    const listener = listeners.get(node);
    if (holder !== null || listener === undefined) return;
    holder = node;
    const isValid = () => holder === node && listeners.get(node) === listener;
    listener.onHeld({ holder: { node: String(node), epoch: 1, since: 0 }, isValid });
  }
  const leasesOf = (node: number): ConnectionLeases => ({
    want(_channel, _account, listener) {
      listeners.set(node, listener);
      if (holder === null) hold(node);
      return { live: () => undefined, giveBack: async () => undefined };
    },
  });
  const settled = async () => {
    for (let turns = 0; turns < 30; turns += 1) await Promise.resolve();
    await new Promise(setImmediate);
  };

  async function start(node: number) {
    const shared = createNodeSchedules({ clock, log, call, leases: leasesOf(node) });
    const schedules = createSchedules({
      clock,
      wall: () => clock.now(),
      log,
      rows: shared,
      shared,
      config: () => config,
      check: () => undefined,
      onRun: () => undefined,
      say: async (speech: Speech) => {
        const id = speech.id as string;
        if (!said.has(id)) said.set(id, { at: clock.now() - begin, node });
        return { id, key: "k", route: speech.place as never, parts: [], turn: false };
      },
    });
    await shared.load([]);
    await schedules.load();
    schedules.start();
    shared.start();
    return { schedules, shared };
  }
  const nodes: (Awaited<ReturnType<typeof start>> | null)[] = [];

  return {
    clock,
    fates,
    holdCalls,
    said,
    nodes,
    hold,
    lose,
    async up() {
      for (let node = 0; node < count; node += 1) nodes.push(await start(node));
    },
    schedulesOf: (node: number) => nodes[node]?.schedules ?? null,
    kill(node: number) {
      const one = nodes[node];
      if (one === null || one === undefined) return;
      nodes[node] = null;
      listeners.delete(node);
      one.schedules.stop();
      void one.shared.stop();
      if (holder === node) {
        holder = null;
        clock.setTimer(clock.now() + lapseMs, () => {
          for (const next of listeners.keys()) hold(next);
        });
      }
    },
    async revive(node: number) {
      if (nodes[node] === null) nodes[node] = await start(node);
    },
    async pass(ms: number) {
      const until = clock.now() + ms;
      await settled();
      while (clock.fireNext(until)) await settled();
      clock.moveTo(until);
      await settled();
    },
    timesOf: (name: string) =>
      [...said].flatMap(([id, { at }]) => (id.split("|")[1] === name ? [at] : [])),
  };
}

describe("entries that nodes share", () => {
  test("are said by one node, and by another one when it dies, however many fell due meanwhile", async () => {
    const world = openNodes(2);
    await world.up();
    for (let entry = 1; entry <= 20; entry += 1)
      expect(await world.schedulesOf(entry % 2)?.add(moment(`e${entry}`, entry * 2_000))).toBe(
        "added",
      );
    await world.pass(9_000);
    expect([...world.said.values()].map(({ node }) => node)).toEqual([0, 0, 0, 0]);
    world.kill(0);
    await world.pass(minute);
    const times = Array.from({ length: 20 }, (_, entry) => world.timesOf(`e${entry + 1}`));
    expect(times.map(({ length }) => length)).toEqual(Array.from({ length: 20 }, () => 1));
    expect(times[4]).toEqual([9_000 + lapseMs]);
    expect(times.at(-1)).toEqual([40_000]);
    expect(world.schedulesOf(1)?.list()).toEqual([]);
    expect(world.schedulesOf(1)?.sayer()).toBe("1");
  });

  test("of the config begin once, and are shown and paused alike on all nodes", async () => {
    const hourly = { name: "hourly", to, text: "Tea.", cron: "0 * * * *" };
    const world = openNodes(2, { schedule: [hourly] });
    await world.up();
    const first = 46 * minute + 40_000;
    await world.pass(first + minute);
    expect(world.timesOf("hourly")).toEqual([first]);
    await world.pass(2_000);
    for (const node of [0, 1])
      expect(world.schedulesOf(node)?.list()).toMatchObject([
        { name: "hourly", origin: "config", last: { result: "said" } },
      ]);
    expect(await world.schedulesOf(1)?.pause("hourly", true)).toBe(true);
    await world.pass(60 * minute);
    expect(world.timesOf("hourly")).toEqual([first]);
    expect(world.schedulesOf(0)?.list()).toMatchObject([{ paused: true, next: null }]);
    expect(await world.schedulesOf(0)?.remove("hourly")).toBe("configured");
  });

  test("with the same name are taken by one of two nodes that add it at once", async () => {
    const world = openNodes(2);
    await world.up();
    const added = await Promise.all(
      [0, 1].map((node) => world.schedulesOf(node)?.add(moment("tea", minute))),
    );
    expect(added.sort()).toEqual(["added", "taken"]);
    await world.pass(2 * minute);
    expect(world.timesOf("tea")).toEqual([minute]);
  });

  test("that one node removes are not brought back by another that has not heard of it yet", async () => {
    const world = openNodes(2);
    await world.up();
    const [one, two] = [world.schedulesOf(0), world.schedulesOf(1)];
    await one?.add(moment("tea", minute));
    await world.pass(2_000);
    expect(await one?.remove("tea")).toBe("removed");
    // Its look for changes is under way when it makes one of its own.
    const release = world.holdCalls();
    await world.pass(1_000);
    const paused = two?.pause("tea", true);
    release();
    expect(await paused).toBe(false);
    expect(await two?.add(moment("tea", 2 * minute))).toBe("added");
    await world.pass(3 * minute);
    expect(world.timesOf("tea")).toEqual([2 * minute]);
  });

  const act = fc.oneof(
    fc.record({ does: fc.constant("add" as const), entry: fc.nat(5), inMs: fc.nat(90_000) }),
    fc.record({ does: fc.constantFrom("pause" as const, "remove" as const), entry: fc.nat(5) }),
    fc.record({ does: fc.constantFrom("kill" as const, "revive" as const, "move" as const) }),
    fc.record({
      does: fc.constant("lose" as const),
      what: fc.array(fc.constantFrom("call lost", "answer lost", "answered"), { maxLength: 4 }),
    }),
  );
  const story = fc.array(
    fc.record({ node: fc.nat(1), act, afterMs: fc.integer({ min: 0, max: 20_000 }) }),
    { maxLength: 25 },
  );
  property([story], { numRuns: rounds(40, 1_000) })(
    "each that stays is said once, and none that was paused or removed before its time",
    async (steps) => {
      const world = openNodes(2);
      await world.up();
      /** Of each that was added: when it is due, and and when it was paused or removed; unsure: nobody knows. */
      const known = new Map<string, { due: number; offAt: number | null; isUnsure: boolean }>();
      let names = 0;
      const latest = new Map<number, string>();
      for (const { node, act: one, afterMs } of steps) {
        const schedules = world.schedulesOf(node);
        if (one.does === "kill" && world.nodes.filter((up) => up !== null).length > 1)
          world.kill(node);
        else if (one.does === "revive") {
          world.fates.length = 0;
          await world.revive(node);
        } else if (one.does === "move") {
          world.lose();
          world.hold(node);
        } else if (one.does === "lose") world.fates.push(...(one.what as never[]));
        else if (schedules !== null && one.does === "add") {
          const name = `n${names++}`;
          const due = world.clock.now() - begin + 1 + one.inMs;
          const entry = { due, offAt: null, isUnsure: false };
          known.set(name, entry);
          latest.set(one.entry, name);
          await schedules.add(moment(name, due)).catch(() => {
            entry.isUnsure = true;
          });
        } else if (schedules !== null && "entry" in one) {
          const name = latest.get(one.entry) ?? "";
          const entry = known.get(name);
          const isDone = await (one.does === "pause"
            ? schedules.pause(name, true)
            : schedules.remove(name).then((answer) => answer === "removed")
          ).catch(() => null);
          if (entry !== undefined && isDone === null) entry.isUnsure = true;
          if (entry !== undefined && isDone === true) entry.offAt ??= world.clock.now() - begin;
        }
        await world.pass(afterMs);
      }
      world.fates.length = 0;
      await world.revive(0);
      await world.revive(1);
      world.hold(0);
      await world.pass(3 * minute);
      for (const [name, { due, offAt, isUnsure }] of known) {
        const times = world.timesOf(name);
        expect(times.length, name).toBeLessThanOrEqual(1);
        if (isUnsure) continue;
        if (offAt === null) expect(times, name).toHaveLength(1);
        else for (const at of times) expect(at, name).toBeLessThanOrEqual(offAt);
        for (const at of times) expect(at, name).toBeGreaterThanOrEqual(due);
      }
    },
  );
});
