/**
 * Nodes that hear of what another has changed, on a simulated clock: they ask for it then, and else rarely. Nodes
 * that die, a Restate that does not answer, and nodes of an older version, of which nothing is heard, change none of it.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SimulatedClock } from "../../../../src/actors/simulation/simulated-clock.ts";
import { engineLimits } from "../../../../src/domain/ports/engine/engine-limits.ts";
import type { IngressCall } from "../../../../src/engines/restate/calls/ingress-call.ts";
import { createNodeLeases } from "../../../../src/engines/restate/leases/connection-leases.ts";
import { createSharedNews } from "../../../../src/engines/restate/leases/news.ts";
import { beaten, emptyTable } from "../../../../src/engines/restate/leases/table.ts";
import {
  beatSchema,
  type LeaseTable,
  tableSchema,
} from "../../../../src/engines/restate/leases/wire.ts";
import { createSharedTable } from "../../../../src/engines/restate/shared/table.ts";
import { accessService, scheduleService } from "../../../../src/engines/restate/shared/wire.ts";
import { property } from "../../../support/property.ts";
import { memoryRows } from "../../../support/restate/memory-rows.ts";
import { rounds } from "../../../support/rounds.ts";

/** Of each call. */
const callMs = 20;
/** What a change took to be known when each node asked once a second. */
const knownMs = engineLimits.sharedLookMs + 4 * callMs;
const log = () => undefined;

function openWorld() {
  const clock = new SimulatedClock(1_700_000_000_000);
  let table: LeaseTable = emptyTable;
  const waiters: (() => void)[] = [];
  const objects = new Map([accessService, scheduleService].map((name) => [name, memoryRows(name)]));
  let asked = 0;

  function beat(input: object): LeaseTable {
    const before = table.version;
    table = beaten(table, beatSchema.parse(input));
    if (table.version !== before) for (const wake of waiters.splice(0)) wake();
    return tableSchema.parse(structuredClone(table));
  }
  const answer: IngressCall = async (path, input = {}) => {
    const [object = "", , handler] = path.split("/");
    if (handler === "since") asked += 1;
    const rows = objects.get(object);
    if (rows !== undefined) return rows.call(path, input);
    if (handler === "beat") return beat(input);
    if ((input as { version: number }).version !== table.version) return table.version;
    return new Promise((resolve) => {
      const end = () => resolve(table.version);
      waiters.push(end);
      clock.setTimer(clock.now() + engineLimits.leaseWaitMs, end);
    });
  };
  const later = () =>
    new Promise<void>((resolve) => clock.setTimer(clock.now() + callMs / 2, resolve));

  async function pass(ms: number): Promise<void> {
    const until = clock.now() + ms;
    const settled = async () => {
      for (let turns = 0; turns < 20; turns += 1) await Promise.resolve();
      await new Promise(setImmediate);
    };
    await settled();
    while (clock.fireNext(until)) await settled();
    clock.moveTo(until);
  }

  async function start(name: string) {
    /** Deaf: beats and waits for leases are not answered, and all else is. */
    let state: "up" | "cut" | "deaf" | "dead" = "up";
    const rows = new Map<string, string>();
    const call: IngressCall = async (path, input) => {
      const reach = async () => {
        await later();
        if (state === "cut" || (state === "deaf" && path.startsWith("leases/")))
          throw new Error("there is no connection");
        if (state === "dead") await new Promise(() => undefined);
      };
      await reach();
      const found = await answer(path, input);
      await reach();
      return found;
    };
    const news = createSharedNews(false);
    const open = (service: string) =>
      createSharedTable({
        clock,
        log,
        call,
        news,
        service,
        onChanged(found) {
          for (const { name: row, body } of found)
            if (body === null) rows.delete(row);
            else rows.set(row, body);
        },
      });
    const [access, schedules] = [open(accessService), open(scheduleService)];
    const leases = createNodeLeases({ node: name, boot: name, call, clock, log, news });
    const loading = Promise.all([access.load([]), schedules.load([])]);
    await pass(2 * callMs);
    for (const { name: row, body } of (await loading).flat()) rows.set(row, body);
    access.start();
    schedules.start();
    return {
      rows,
      /** Resolves when the change is made, or it is known that it may not be. */
      async change(row: string, body: string): Promise<boolean> {
        const made = access.change([{ name: row, body }]).then(
          (isMade) => {
            if (isMade) rows.set(row, body);
            return isMade;
          },
          () => false,
        );
        let isKnown = false;
        void made.then(() => {
          isKnown = true;
        });
        // A look may be under way, after which it is made; from a dead node nobody hears.
        do await pass(callMs);
        while (!isKnown && state !== "dead");
        return isKnown && made;
      },
      is(next: typeof state) {
        state = next;
      },
      isUp: () => state === "up",
      close() {
        access.stop();
        schedules.stop();
        void leases.close();
      },
    };
  }
  /** A node of a version that says nothing of what is shared beats for as long. */
  async function passBesideOlder(ms: number, boot = "older"): Promise<void> {
    for (let beats = 1; beats <= ms / 500; beats += 1) {
      const own = { boot, node: boot, beat: beats, at: beats, wants: [], leaves: false };
      beat({ ...own, lapsed: [] });
      await pass(500);
    }
  }
  return {
    start,
    pass,
    after: (ms: number, work: () => void) => void clock.setTimer(clock.now() + ms, work),
    passBesideOlder,
    /** A change of one that says nothing of it. */
    changeUnsaid: async (known: number, row: string, body: string) =>
      objects.get(accessService)?.call(`${accessService}/all/change`, {
        known,
        rows: [{ name: row, body }],
      }),
    fates: objects.get(accessService)?.fates ?? [],
    asked: () => asked,
  };
}

describe("what nodes share", () => {
  test("is known to the others sooner than if each asked once a second, and asked for then only", async () => {
    const { start, pass, asked } = openWorld();
    const nodes = [await start("a"), await start("b"), await start("c")] as const;
    await pass(10_000);
    const before = asked();
    expect(await nodes[0].change("ann", "1")).toBe(true);
    await pass(8 * callMs);
    for (const { rows } of nodes) expect([...rows]).toEqual([["ann", "1"]]);
    expect(asked() - before).toBe(2);
    for (const node of nodes) node.close();
  });

  test("is rarely asked for by nodes at which nothing changes", async () => {
    const { start, pass, asked } = openWorld();
    const nodes = [await start("a"), await start("b")] as const;
    await pass(5_000);
    const before = asked();
    await pass(300_000);
    // Of each node, for each of two objects, once in half a minute.
    expect(asked() - before).toBeLessThanOrEqual(2 * 2 * 10);
    expect(asked() - before).toBeGreaterThan(0);
    for (const node of nodes) node.close();
  });

  test("of a node that dies before it has said so is known to the others all the same", async () => {
    const { start, pass, after } = openWorld();
    const [a, b] = [await start("a"), await start("b")] as const;
    await pass(10_000);
    after(0.75 * callMs, () => a.is("dead"));
    await a.change("ann", "1");
    await pass(4_000);
    expect([...b.rows]).toEqual([]);
    await pass(engineLimits.sharedRareLookMs - 4_000);
    expect([...b.rows]).toEqual([["ann", "1"]]);
    for (const node of [a, b]) node.close();
  });

  test("is asked for each second beside a node of an older version, which says nothing", async () => {
    const { start, pass, passBesideOlder, changeUnsaid, asked } = openWorld();
    const [a, b] = [await start("a"), await start("b")] as const;
    await pass(60_000);
    await passBesideOlder(4_000);
    await changeUnsaid(0, "ann", "1");
    await passBesideOlder(knownMs, "older too");
    for (const { rows } of [a, b]) expect([...rows]).toEqual([["ann", "1"]]);
    // Both are gone for long.
    await pass(30_000);
    const before = asked();
    await pass(60_000);
    expect(asked() - before).toBeLessThanOrEqual(2 * 2 * 2);
    for (const node of [a, b]) node.close();
  });

  test("is asked for by a node that could not reach Restate as soon as it can", async () => {
    const { start, pass } = openWorld();
    const [a, b] = [await start("a"), await start("b")] as const;
    await pass(10_000);
    b.is("cut");
    await pass(5_000);
    await a.change("ann", "1");
    await pass(60_000);
    expect([...b.rows]).toEqual([]);
    b.is("up");
    await pass(knownMs);
    expect([...b.rows]).toEqual([["ann", "1"]]);
    for (const node of [a, b]) node.close();
  });

  test("is asked for each second by a node whose beats are not answered", async () => {
    const { start, pass } = openWorld();
    const [a, b] = [await start("a"), await start("b")] as const;
    await pass(10_000);
    b.is("deaf");
    await pass(3_000);
    await a.change("ann", "1");
    await pass(knownMs);
    expect([...b.rows]).toEqual([["ann", "1"]]);
    for (const node of [a, b]) node.close();
  });

  test("and was stored by a call whose answer was lost is known to all", async () => {
    const { start, pass, fates } = openWorld();
    const [a, b] = [await start("a"), await start("b")] as const;
    await pass(10_000);
    fates.push("answer lost");
    expect(await a.change("ann", "1")).toBe(false);
    await pass(knownMs + 6 * callMs);
    for (const { rows } of [a, b]) expect([...rows]).toEqual([["ann", "1"]]);
    for (const node of [a, b]) node.close();
  });

  const act = fc.oneof(
    fc.record({ does: fc.constant("change" as const), row: fc.nat(3), body: fc.nat(9) }),
    fc.record({
      does: fc.constantFrom("up" as const, "cut" as const, "deaf" as const, "dead" as const),
    }),
    fc.record({ does: fc.constant("older" as const), ms: fc.nat(6_000) }),
    fc.record({
      does: fc.constant("lose" as const),
      what: fc.constantFrom("call lost" as const, "answer lost" as const),
    }),
  );
  const story = fc.array(fc.record({ node: fc.nat(2), act, afterMs: fc.nat(40_000) }), {
    maxLength: 15,
  });
  property([story], { numRuns: rounds(8, 300) })(
    "whatever is lost, cut off or dies: once all can be heard again, all know the same",
    async (steps) => {
      const world = openWorld();
      const nodes = [await world.start("a"), await world.start("b"), await world.start("c")];
      const dead = new Set<number>();
      const isDead = (place: number) => dead.has(place);
      for (const { node: place, act: one, afterMs } of steps) {
        const node = nodes[place] as (typeof nodes)[number];
        if (one.does === "change") await node.change(`row ${one.row}`, String(one.body));
        else if (one.does === "older") await world.passBesideOlder(one.ms, `older ${place}`);
        else if (one.does === "lose") world.fates.push(one.what);
        else if (one.does === "dead" && dead.size < 2) {
          node.is("dead");
          dead.add(place);
        } else if (one.does !== "dead" && !isDead(place)) node.is(one.does);
        await world.pass(afterMs);
      }
      world.fates.length = 0;
      for (const [place, node] of nodes.entries()) if (!isDead(place)) node.is("up");
      await world.pass(engineLimits.sharedRareLookMs + knownMs);
      const late = await world.start("late");
      const stored = JSON.stringify([...late.rows].sort());
      const shown = (place: number) => JSON.stringify([...(nodes[place]?.rows ?? [])].sort());
      for (const place of nodes.keys()) if (!isDead(place)) expect(shown(place)).toBe(stored);
      // And from then on each hears of a change at once.
      await world.pass(15_000);
      expect(await late.change("last", "1")).toBe(true);
      await world.pass(10 * callMs);
      for (const [place, node] of nodes.entries())
        if (!isDead(place)) expect(node.rows.get("last")).toBe("1");
      for (const node of [...nodes, late]) node.close();
    },
  );
});
