/**
 * What accounts could not recover, on nodes that die and calls that are lost, on a simulated clock: each node shows
 * it, until a person has seen it on any of them.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createGaps } from "../../../../src/actors/channels/gaps.ts";
import { SimulatedClock } from "../../../../src/actors/simulation/simulated-clock.ts";
import { limits } from "../../../../src/domain/limits.ts";
import { createNodeGaps } from "../../../../src/engines/restate/shared/gaps.ts";
import { gapService } from "../../../../src/engines/restate/shared/wire.ts";
import { property } from "../../../support/property.ts";
import { memoryRows } from "../../../support/restate/memory-rows.ts";
import { rounds } from "../../../support/rounds.ts";

const begin = 1_700_000_000_000;
const log = () => undefined;

function openNodes() {
  const clock = new SimulatedClock(begin);
  const { call, fates } = memoryRows(gapService);
  const settled = async () => {
    for (let turn = 0; turn < 30; turn += 1) await Promise.resolve();
    await new Promise(setImmediate);
  };
  return {
    fates,
    clock,
    async pass(ms: number) {
      await settled();
      for (let at = 0; at < ms; at += 500) {
        clock.advanceTo(clock.now() + 500);
        await settled();
      }
    },
    async start() {
      const shared = createNodeGaps({ clock, log, call });
      const gaps = createGaps(clock, shared);
      shared.start();
      await settled();
      return {
        add: (from: number, ...rooms: string[]) =>
          gaps.add("irc", "bot", { from, to: from + 1, rooms, lost: "messages" }, log),
        see: (from: number) => gaps.forget(`gap:irc:bot:messages:${from}:${from + 1}`),
        shown: () => gaps.of("irc", "bot").map(({ from, rooms }) => [from, [...rooms].sort()]),
        stop: () => shared.stop(),
      };
    },
  };
}

describe("what an account could not recover", () => {
  test("is shown by each node, by one that starts after the death of its reporter, and by none once seen", async () => {
    const { start, pass } = openNodes();
    const [one, two] = [await start(), await start()];
    one.add(1, "#garden");
    await pass(5_000);
    expect(two.shown()).toEqual([[1, ["#garden"]]]);
    await one.stop();
    const three = await start();
    expect(three.shown()).toEqual(two.shown());
    expect(three.see(1)).toBe(true);
    await pass(5_000);
    expect([two.shown(), three.shown(), (await start()).shown()]).toEqual([[], [], []]);
    expect(two.see(1)).toBe(false);
  });

  test("is stored once Restate can be reached again, also by a node that stops then", async () => {
    const { start, pass, fates } = openNodes();
    const one = await start();
    fates.push("call lost", "call lost");
    one.add(1, "#garden");
    await pass(3_000);
    expect((await start()).shown()).toEqual([[1, ["#garden"]]]);
    one.add(2, "#shed");
    await one.stop();
    expect((await start()).shown()).toHaveLength(2);
  });

  test("is kept for three days, and of an account so many, for all nodes", async () => {
    const { start, pass, clock } = openNodes();
    const one = await start();
    for (let from = 0; from < limits.gapsKeptMax + 5; from += 1) one.add(from, "#garden");
    await pass(1_000);
    const newest = one.shown();
    expect(newest).toHaveLength(limits.gapsKeptMax);
    expect((await start()).shown()).toEqual(newest);
    clock.advanceTo(clock.now() + limits.gapKeptMsMax + 1);
    one.add(100, "#shed");
    await pass(1_000);
    expect((await start()).shown()).toEqual([[100, ["#shed"]]]);
  });

  const step = fc.oneof(
    fc.record({
      does: fc.constant("add" as const),
      node: fc.nat(2),
      from: fc.nat(3),
      room: fc.constantFrom("a", "b"),
    }),
    fc.record({ does: fc.constant("see" as const), node: fc.nat(2), from: fc.nat(3) }),
    fc.record({ does: fc.constant("pass" as const), ms: fc.constantFrom(500, 2_000, 6_000) }),
    fc.record({
      does: fc.constant("lose" as const),
      fates: fc.array(fc.constantFrom("call lost" as const, "answer lost" as const), {
        maxLength: 4,
      }),
    }),
  );
  property([fc.array(step, { maxLength: 25 })], { numRuns: rounds(30, 300) })(
    "whatever is reported, seen and lost: in the end all nodes show the same",
    async (steps) => {
      const world = openNodes();
      const nodes = [await world.start(), await world.start(), await world.start()] as const;
      const reported = new Set<number>();
      const seen = new Set<number>();
      for (const one of steps)
        if (one.does === "add") {
          nodes[one.node as 0].add(one.from, one.room);
          reported.add(one.from);
        } else if (one.does === "see") {
          nodes[one.node as 0].see(one.from);
          seen.add(one.from);
        } else if (one.does === "pass") await world.pass(one.ms);
        else world.fates.push(...one.fates);
      world.fates.length = 0;
      await world.pass(12_000);
      const late = await world.start();
      const shown = [...nodes, late].map((node) => node.shown().sort());
      expect(new Set(shown.map((one) => JSON.stringify(one))).size).toBe(1);
      const kept = new Set(late.shown().map(([from]) => from));
      for (const from of reported) if (!seen.has(from)) expect(kept).toContain(from);
      for (const from of kept) expect(reported).toContain(from);
      for (const node of [...nodes, late]) await node.stop();
    },
  );
});
