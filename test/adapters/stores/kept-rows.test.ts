/** A store whose rows are kept elsewhere: what it says has changed is enough to open it again as it was. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openKeptStore } from "../../../src/adapters/stores/sqlite-store.ts";
import type { KeptRow, KeptStore, Numbers } from "../../../src/domain/ports/index.ts";
import { KeptState } from "../../../src/engines/restate/kept-state.ts";
import { property } from "../../support/property.ts";
import { rounds } from "../../support/rounds.ts";
import { World } from "../../support/runtime/world.ts";

const acts = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ say: fc.constantFrom("earshot, hello?", "lunch?", "\0 \ud800") }),
    },
    { weight: 2, arbitrary: fc.record({ pass: fc.integer({ min: 0, max: 5_000 }) }) },
    { weight: 1, arbitrary: fc.constant("passivate" as const) },
    { weight: 1, arbitrary: fc.constant("restart" as const) },
  ),
  { maxLength: 12 },
);

const inOrder = (rows: readonly KeptRow[]) => rows.map((row) => JSON.stringify(row)).sort();

/** As a node gives them: each trillions of rows behind the one before. */
const farApart = (): Numbers => {
  let last = 2 ** 42;
  return { next: () => (last += 2 ** 40) };
};

/** Everything in a store, as rows. */
const dump = async (store: KeptStore): Promise<unknown> => ({
  events: await store.scan(0, 1_000),
  unapplied: await store.unapplied(0, await store.lastSeq()),
  conversations: await store.conversations({ limit: 10 }),
  outbox: await store.outboxByState(["pending", "sending", "waiting", "sent", "dead"], 1_000),
  deadlines: await store.deadlines(),
  runs: await store.runs(),
  sessions: await store.sessions({ limit: 100, all: true }),
  lines: await store.lastLine(),
  config: await store.latestConfig(),
});

describe("kept rows", () => {
  property([acts, fc.boolean()], { numRuns: rounds(15, 40) })(
    "the changes of a store, folded whenever it is asked, open an equal store, whoever numbers its rows",
    async (story, isNumbered) => {
      const numbers = isNumbered ? farApart() : undefined;
      const store = openKeptStore([], numbers);
      const kept = new KeptState([]);
      const ports = numbers === undefined ? {} : { numbers };
      const world = await new World({ store, ports }).start();
      for (const act of story) {
        if (act === "passivate") await world.runtime.passivateAll();
        else if (act === "restart") await world.restart();
        else if ("say" in act) await world.say(act.say);
        else await world.pass(act.pass);
        await world.runtime.settled();
        kept.apply(kept.placed(store.changes()));
      }
      await world.runtime.stop();
      kept.apply(kept.placed(store.changes()));
      const again = openKeptStore(kept.rows(), numbers);
      expect(await dump(again)).toEqual(await dump(store));
      for (const { seq, conv } of await store.scan(0, 1_000)) {
        expect(await again.tail(conv, 0, seq + 1)).toEqual(await store.tail(conv, 0, seq + 1));
        expect(await again.numberBefore(seq, 3)).toBe(await store.numberBefore(seq, 3));
      }
      expect(again.changes()).toEqual([]);
      await again.close();
      await store.close();
    },
  );

  test("a change that is undone in its commit is none", async () => {
    const store = openKeptStore([]);
    const write = { kind: "meta", name: "a", value: "1" } as const;
    const broken = { kind: "checkpoint", conv: 1, recordSeq: {}, epoch: 1, record: "" };
    await expect(store.commit([write, broken as never])).rejects.toThrow();
    expect(store.changes()).toEqual([]);
    await store.commit([write]);
    expect(store.changes()).toHaveLength(1);
    expect(store.changes()).toEqual([]);
    await store.close();
  });

  test("a row of a newer version is read without its new columns, and one of an unknown table is refused", async () => {
    const row = { table: "meta", id: '["a"]', row: { name: "a", value: "1", colour: "red" } };
    const store = openKeptStore([row]);
    expect(await store.meta("a")).toBe("1");
    await store.close();
    expect(() => openKeptStore([{ table: "cars", id: "[1]", row: { id: 1 } }])).toThrow(
      "this version has no such table",
    );
  });

  property([
    fc.array(
      fc.record({
        table: fc.constantFrom("journal", "applied", "meta"),
        number: fc.integer({ min: 1, max: 60 }),
        value: fc.option(fc.integer()),
      }),
      { maxLength: 60 },
    ),
  ])("what is kept is the last state of each row, and what changed says all of it", (changes) => {
    const kept = new KeptState([]);
    const stored = new Map<string, Readonly<Record<string, unknown>>>();
    const expected = new Map<string, KeptRow>();
    for (const { table, number, value } of changes) {
      const change = { table, id: `[${number}]`, row: value === null ? null : { value } };
      for (const [key, group] of kept.apply([change]))
        if (group === null) stored.delete(key);
        else stored.set(key, group);
      if (value === null) expected.delete(table + number);
      else expected.set(table + number, change);
    }
    expect(inOrder(kept.rows())).toEqual(inOrder([...expected.values()]));
    const again = new KeptState(stored as unknown as Iterable<readonly [string, never]>);
    expect(inOrder(again.rows())).toEqual(inOrder(kept.rows()));
  });

  const outboxActs = fc.array(
    fc.record({
      id: fc.integer({ min: 1, max: 80 }),
      state: fc.option(fc.constantFrom("sending", "sent", "sent", "sent", "in-doubt"), { freq: 9 }),
      /** By a version that puts nothing aside. */
      isOlder: fc.boolean(),
      /** The node has ended since: the next one reads what is stored. */
      isRead: fc.boolean(),
    }),
    { minLength: 40, maxLength: 200 },
  );

  property([outboxActs], { numRuns: rounds(40, 100) })(
    "what is sent is put aside: it is there once, in its order, wherever it was changed, and few rows are stored again",
    (acts) => {
      const groups = new Map<string, Readonly<Record<string, never>>>();
      let kept = new KeptState([]);
      const expected = new Map<string, string>();
      for (const { id: number, state, isOlder, isRead } of acts) {
        if (isRead) kept = new KeptState(new Map(groups));
        const id = JSON.stringify([String(number)]);
        const change = { table: "outbox", id, row: state === null ? null : { id, state } };
        // An older version deletes none of those that are aside.
        const changes = isOlder && state !== null ? [change] : kept.placed([change]);
        const applied = kept.apply(changes);
        for (const [key, group] of applied)
          if (group === null) groups.delete(key);
          else groups.set(key, group as Readonly<Record<string, never>>);
        if (state === null) expected.delete(id);
        else expected.set(id, state);
        // Each change with a name of its own is stored there, by any version.
        const named = changes.filter(({ table }) => table !== "outbox");
        for (const { table } of named) expect(applied.has(`rows/${table}`)).toBe(true);
      }
      const rows = new KeptState(groups).rows();
      const last = new Map(rows.map(({ id, row }) => [id, row?.state]));
      expect([...last].sort()).toEqual([...expected].sort());
      const sizes = [...groups].map(([key, group]) => [key, Object.keys(group).length] as const);
      for (const [key, size] of sizes) if (key !== "rows/outbox") expect(size).toBeLessThan(17);
    },
  );

  property([fc.integer({ min: 1, max: 100 }), fc.integer({ min: 0, max: 100 })], {
    numRuns: rounds(20, 50),
  })(
    "of what an older version deletes, what is aside comes back as sent; the next newer one deletes it for good",
    (count, deleted) => {
      const newer = new KeptState([]);
      const groups = new Map<string, Readonly<Record<string, never>>>();
      const store = (applied: ReturnType<KeptState["apply"]>) => {
        for (const [key, group] of applied)
          if (group === null) groups.delete(key);
          else groups.set(key, group as Readonly<Record<string, never>>);
      };
      const ids = Array.from({ length: count }, (_, number) => JSON.stringify([`o${number}`]));
      for (const id of ids)
        for (const state of ["pending", "sending", "sent"])
          store(newer.apply(newer.placed([{ table: "outbox", id, row: { id, state } }])));
      const gone = ids.slice(0, deleted).map((id) => ({ table: "outbox", id, row: null }));
      // As it is, without `placed`.
      store(new KeptState(groups).apply(gone));
      const back = new KeptState(groups);
      for (const { row } of back.rows()) expect(row?.state).toBe("sent");
      const left = back.rows().map(({ id }) => id);
      expect(new Set(left).size).toBe(left.length);
      expect(ids).toEqual(expect.arrayContaining(left));
      store(back.apply(back.placed(left.map((id) => ({ table: "outbox", id, row: null })))));
      expect(new KeptState(groups).rows()).toEqual([]);
      expect([...groups.keys()]).toEqual([]);
    },
  );

  test("a thousand answers: the next one stores a few of them again, and all are in their order", () => {
    const kept = new KeptState([]);
    let most = 0;
    for (let number = 0; number < 1_000; number += 1)
      for (const state of ["sending", "sent"]) {
        const id = JSON.stringify([`o${number}`]);
        const applied = kept.apply(kept.placed([{ table: "outbox", id, row: { id, state } }]));
        const stored = [...applied.values()].map((group) => Object.keys(group ?? {}).length);
        most = Math.max(most, ...stored);
      }
    expect(most).toBeLessThan(18);
    const ids = kept.rows().map(({ id }) => id);
    expect(ids).toEqual(
      Array.from({ length: 1_000 }, (_, number) => JSON.stringify([`o${number}`])),
    );
  });
});
