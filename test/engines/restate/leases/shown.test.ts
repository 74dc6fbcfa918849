/** What nodes are shown of each other: who runs, is silent or gone, who has which connection and who waits for it. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { engineLimits } from "../../../../src/domain/ports/engine/engine-limits.ts";
import { beaten, emptyTable } from "../../../../src/engines/restate/leases/table.ts";
import { viewOf } from "../../../../src/engines/restate/leases/view.ts";
import {
  type Beat,
  beatSchema,
  type LeaseTable,
} from "../../../../src/engines/restate/leases/wire.ts";
import { property } from "../../../support/property.ts";

const facts = {
  version: "1.0.0",
  address: "http://127.0.0.1:4747",
  startedAt: 1,
  stops: false,
  conversations: 2,
  turns: 1,
  copy: null,
  watched: [],
};
let beats = 0;
const beat = (node: string, more: Partial<Beat> = {}): Beat => {
  beats += 1;
  const own = { boot: `boot of ${node}`, node, beat: beats, at: beats, wants: [], leaves: false };
  return beatSchema.parse({ ...own, lapsed: [], facts, ...more });
};
const heardOf = (...all: readonly Beat[]) => all.reduce(beaten, emptyTable);
const lapse = (table: LeaseTable, boot: string) => ({
  lapsed: [{ boot, beat: table.nodes[boot]?.beat ?? 0 }],
});
const seen = (table: LeaseTable, more: Partial<Parameters<typeof viewOf>[0]> = {}) =>
  viewOf({
    now: 10_000,
    table,
    boot: "boot of a",
    heardAt: new Map(),
    hears: true,
    silentMs: 6_000,
    ...more,
  });

describe("of the nodes that share connections", () => {
  test("each is shown with what it says of itself, this one first", () => {
    const { nodes } = seen(
      heardOf(beat("b"), beat("a"), beat("c", { facts: { ...facts, stops: true } })),
    );
    expect(nodes.map(({ node, isOwn, state }) => [node, isOwn, state])).toEqual([
      ["a", true, "running"],
      ["b", false, "running"],
      ["c", false, "stops"],
    ]);
    expect(nodes[1]?.facts).toEqual(facts);
  });

  test("one of an older version, that says nothing of itself, is shown by its name", () => {
    const { facts: _, ...old } = beat("b");
    const { nodes } = seen(heardOf(beat("a"), beatSchema.parse(old)));
    expect(nodes[1]).toMatchObject({ node: "b", state: "running", facts: null });
  });

  test("one that has said nothing for a while is silent, or not known where nobody can be heard", () => {
    const table = heardOf(beat("a"), beat("b"));
    const heardAt = new Map([["boot of b", 1_000]]);
    expect(seen(table, { heardAt }).nodes[1]).toMatchObject({ state: "silent", heardAt: 1_000 });
    expect(seen(table, { heardAt, hears: false }).nodes[1]?.state).toBe("unknown");
  });

  test("one that died is gone, with the time, until a process of that name runs", () => {
    const table = heardOf(beat("a"), beat("b"));
    const died = beaten(table, beat("a", { at: 77, ...lapse(table, "boot of b") }));
    expect(seen(died).nodes.map(({ node }) => node)).toEqual(["a"]);
    expect(seen(died).gone).toEqual([{ node: "b", at: 77, how: "lapsed" }]);
    expect(seen(died, { now: 77 + engineLimits.leaseGoneMs }).gone).toEqual([]);
    const again = beaten(died, beat("b", { boot: "another of b" }));
    expect(seen(again).gone).toEqual([]);
    expect(seen(again).nodes.map(({ node }) => node)).toEqual(["a", "b"]);
  });

  test("one that is back before its last process was missed is not gone", () => {
    const table = heardOf(beat("a"), beat("b"), beat("b", { boot: "another of b" }));
    // Before that there are two of its name, of which one runs.
    const started = { boot: "another of b", facts: { ...facts, startedAt: 2, turns: 7 } };
    for (const both of [
      heardOf(beat("a"), beat("b"), beat("b", started)),
      heardOf(beat("a"), beat("b", started), beat("b")),
    ])
      expect(seen(both).nodes.map(({ node, facts: of }) => [node, of?.turns])).toEqual([
        ["a", 1],
        ["b", 7],
      ]);
    const own = heardOf(beat("a", { boot: "one before", facts: started.facts }), beat("a"));
    expect(seen(own).nodes).toMatchObject([{ node: "a", isOwn: true }]);
    const missed = beaten(table, beat("a", lapse(table, "boot of b")));
    expect(seen(missed).gone).toEqual([]);
    expect(seen(missed).nodes.map(({ node }) => node)).toEqual(["a", "b"]);
  });

  test("one that ended in order is stopped since then, and not gone when nobody hears of it", () => {
    const table = heardOf(beat("a"), beat("b"), beat("b", { leaves: true, at: 55 }));
    const later = beaten(table, beat("a", lapse(table, "boot of b")));
    for (const shown of [seen(table), seen(later)]) {
      expect(shown.nodes.map(({ node }) => node)).toEqual(["a"]);
      expect(shown.gone).toEqual([{ node: "b", at: 55, how: "stopped" }]);
    }
  });

  test("a connection is shown with who has it and who waits, and with nobody once it is free", () => {
    const wants = ["irc:default"];
    const live = { "irc:default": "scout" };
    const held = heardOf(
      beat("a", { wants, at: 5 }),
      beat("b", { wants }),
      beat("a", { wants, live }),
      beat("c"),
    );
    const has = { account: "irc:default", holder: "a", since: 5, isLive: true, waiting: ["b"] };
    expect(seen(held).leases).toEqual([has]);
    const free = beaten(held, beat("a", { at: 9 }));
    expect(seen(free).leases).toEqual([
      { ...has, holder: null, since: 9, isLive: false, waiting: ["b"] },
    ]);
    const next = beaten(free, beat("b", { wants, at: 11 }));
    expect(seen(next).leases).toEqual([
      { ...has, holder: "b", since: 11, isLive: false, waiting: [] },
    ]);
  });

  const name = fc.constantFrom(..."abcdefghijk");
  const act = fc.record({
    by: name,
    boot: fc.nat(2),
    lapses: fc.option(name),
    leaves: fc.boolean(),
  });
  property([fc.array(act, { maxLength: 60 })])(
    "a node runs, or is gone, and never both; few that are gone are kept",
    (acts) => {
      let table = emptyTable;
      for (const { by, boot, lapses, leaves } of acts) {
        const all = Object.entries(table.nodes).filter(([, { node }]) => node === lapses);
        const lapsed = all.map(([one, row]) => ({ boot: one, beat: row.beat }));
        table = beaten(table, beat(by, { boot: `${by} ${boot}`, lapsed, leaves }));
        const { nodes, gone } = seen(table, { now: beats });
        const running = new Set(nodes.map(({ node }) => node));
        expect(gone.filter(({ node }) => running.has(node))).toEqual([]);
        expect(new Set(gone.map(({ node }) => node)).size).toBe(gone.length);
        expect(gone.length).toBeLessThanOrEqual(engineLimits.leaseGoneKept);
      }
    },
  );
});
