/** The copy of all conversations: what one store says of its conversation, the copy of many says, too. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openMirrorStore } from "../../../src/adapters/stores/mirror-store.ts";
import { openKeptStore } from "../../../src/adapters/stores/sqlite-store.ts";
import { hash52 } from "../../../src/domain/key.ts";
import type {
  DeliveryChange,
  KeptRow,
  KeptStore,
  MirrorStore,
  Numbers,
  Store,
} from "../../../src/domain/ports/index.ts";
import { KeptState } from "../../../src/engines/restate/kept-state.ts";
import { property } from "../../support/property.ts";
import { World } from "../../support/runtime/world.ts";

const rooms = 3;
const acts = fc.array(
  fc.record({
    room: fc.nat(rooms - 1),
    act: fc.oneof(
      fc.record({ say: fc.constantFrom("earshot, hello?", "lunch?", "\0 \ud800") }),
      fc.record({ pass: fc.integer({ min: 0, max: 5_000 }) }),
      fc.constantFrom("passivate" as const, "restart" as const),
    ),
    /** How the copy learns of it. */
    how: fc.constantFrom("noted", "noted", "applied", "whole", "twice"),
  }),
  { maxLength: 15 },
);

/** What a store says of one conversation. */
const dump = async (store: Store, conv: number): Promise<unknown> => {
  const all = await store.conversations({ limit: 10 });
  const sessions = await store.sessions({ limit: 100, all: true, conv });
  const isOwn = (row: { readonly conv: number }) => row.conv === conv;
  const states = ["pending", "sending", "waiting", "in-doubt", "sent", "expired", "dead"] as const;
  return {
    row: all.filter(isOwn).map(({ lastSeq, ...row }) => row),
    tail: await store.tail(conv, 0),
    byMessage: await store.eventsByMessage(`m-${conv}-1`),
    outbox: (await store.outboxByState(states, 100)).filter(isOwn),
    deadlines: (await store.deadlines()).filter(isOwn),
    runs: (await store.runs()).filter(isOwn),
    sessions,
    inUse: await store.sessionOf(conv),
    lines: await Promise.all(
      sessions.map(({ sessionId }) => store.transcript({ sessionId, limit: 1_000 })),
    ),
  };
};

interface Room {
  readonly key: string;
  readonly store: KeptStore;
  readonly world: World;
  readonly kept: KeptState;
  revision: number;
}

async function openRoom(number: number, numbers: Numbers): Promise<Room> {
  const store = openKeptStore([], numbers);
  let count = 0;
  // Of all nodes, as those of a daemon are.
  const ids = { next: () => `${number}-${++count}` };
  const world = await new World({ store, ports: { numbers, ids } }).start();
  const key = `agent:main:webhook:group:room${number}`;
  return { key, store, world, kept: new KeptState([]), revision: 0 };
}

const counted = (): Numbers => {
  let last = 2 ** 40;
  return { next: () => (last += 1_000) };
};

describe("the copy of all conversations", () => {
  property([acts], { numRuns: 30 })(
    "says of each what its own store says, however it has learned of it",
    async (story) => {
      const mirror = openMirrorStore(null);
      const numbers = counted();
      const all = await Promise.all(Array.from({ length: rooms }, (_, n) => openRoom(n, numbers)));
      for (const { room: number, act, how } of story) {
        const room = all[number] as Room;
        const { world, store } = room;
        if (act === "passivate") await world.runtime.passivateAll();
        else if (act === "restart") await world.restart();
        else if ("say" in act) await world.say(act.say, { chat: { id: room.key, kind: "group" } });
        else await world.pass(act.pass);
        await world.runtime.settled();
        learn(mirror, room, store.changes(), how);
      }
      let total = 0;
      for (const { store } of all) {
        for (const { conv, key } of await store.conversations({ limit: 10 })) {
          expect(await dump(mirror, conv)).toEqual(await dump(store, conv));
          expect(hash52(key)).toBe(conv);
          total += 1;
        }
        for (const { seq, cfg } of await store.scan(0, 1_000)) {
          expect(await mirror.events([seq])).toEqual(await store.events([seq]));
          expect(await mirror.config(cfg)).toBe(await store.config(cfg));
        }
        await store.close();
      }
      expect((await mirror.conversations({ limit: 10 })).length).toBe(total);
      await mirror.close();
    },
  );
});

/** The rows are those of the one conversation of the room, whatever its key is. */
function learn(
  mirror: MirrorStore,
  room: Room,
  changes: readonly KeptRow[],
  how: "noted" | "applied" | "whole" | "twice",
): void {
  if (changes.length === 0) return;
  const { kept } = room;
  kept.apply(changes);
  room.revision += 1;
  const { revision } = room;
  const found = kept.rows().find(({ table }) => table === "conversation")?.row?.key;
  const key = typeof found === "string" ? found : room.key;
  if (how === "noted") {
    mirror.note({ key, rows: changes, revision: null });
    mirror.confirm(key, revision);
  } else if (how === "whole") mirror.apply([{ key, rows: kept.rows(), revision, isWhole: true }]);
  else {
    mirror.apply([{ key, rows: changes, revision }]);
    if (how === "twice") mirror.apply([{ key, rows: changes, revision }]);
  }
  if (found !== undefined) expect(mirror.revision(key)).toBe(revision);
}

const event = (seq: number, conv: number, body = "{}") => ({
  table: "journal",
  id: `[${seq}]`,
  row: { seq, eid: seq, conv, at: 1, cfg: 1, identity: String(seq), mid: null, body, sum: null },
});
const mark = (seq: number) => ({ table: "applied", id: `[${seq}]`, row: { seq, code: 1 } });

describe("a change of the copy", () => {
  const key = "agent:main:main";
  const conv = hash52(key);

  test("names the events that are applied by it, each once", () => {
    const mirror = openMirrorStore(null);
    const rows = [event(10, conv), mark(10), event(11, conv)];
    expect(mirror.apply([{ key, rows, revision: 1 }])).toEqual([10]);
    expect(mirror.apply([{ key, rows: [mark(11)], revision: 2 }])).toEqual([11]);
    const all = [...rows, mark(11)];
    expect(mirror.apply([{ key, rows: all, revision: 3, isWhole: true }])).toEqual([]);
  });

  const row = { key, turn: "t", idx: 0, kind: "reply", created: 1, due: 1, body: "{}" };
  const send = (id: string, state: string, attempts: number, error: string | null = null) => ({
    table: "outbox",
    id: JSON.stringify([id]),
    row: { ...row, id, conv, state, attempts, doubts: 0, mids: null, error, sum: null },
  });

  test("says of each delivery in it what it was and is, if that is asked", () => {
    const mirror = openMirrorStore(null);
    let revision = 0;
    const said = (isWhole: boolean, ...rows: readonly KeptRow[]) => {
      const changes: DeliveryChange[] = [];
      revision += 1;
      mirror.apply([isWhole ? { key, rows, revision, isWhole } : { key, rows, revision }], changes);
      return changes;
    };
    const is = (id: string, state: string, attempts: number, error: string | null = null) => {
      return { id, conv, state, attempts, doubts: 0, error };
    };
    // Nobody knows what became of them when.
    expect(said(true, send("a", "sent", 1), send("b", "pending", 0))).toEqual([]);
    expect(said(false, send("b", "sending", 1), send("c", "pending", 0), event(10, conv))).toEqual([
      { before: is("b", "pending", 0), after: is("b", "sending", 1) },
      { before: null, after: is("c", "pending", 0) },
    ]);
    const waits = send("b", "waiting", 1, "busy");
    mirror.note({ key, rows: [send("c", "sending", 1)], revision: null });
    expect(said(true, send("a", "sent", 1), waits, send("d", "sent", 2))).toEqual([
      { before: is("a", "sent", 1), after: is("a", "sent", 1) },
      { before: is("b", "sending", 1), after: is("b", "waiting", 1, "busy") },
      { before: null, after: is("d", "sent", 2) },
    ]);
    expect(said(false, { ...send("a", "sent", 1), row: null })).toEqual([]);
  });

  test("that may not be stored makes the revision unknown, until it is", () => {
    const mirror = openMirrorStore(null);
    expect(mirror.revision(key)).toBe(0);
    mirror.apply([{ key, rows: [event(10, conv)], revision: 4 }]);
    mirror.note({ key, rows: [event(11, conv)], revision: null });
    expect(mirror.revision(key)).toBe(null);
    mirror.confirm(key, 5);
    expect(mirror.revision(key)).toBe(5);
    expect(mirror.revisions("", null)).toEqual([[key, 5]]);
    mirror.apply([{ key, rows: [], revision: 0, isWhole: true }]);
    expect(mirror.revisions("", null)).toEqual([]);
  });

  test("comes in an order of its own, whatever the numbers of its events are", async () => {
    const mirror = openMirrorStore(null);
    const other = hash52("agent:main:other");
    mirror.apply([{ key, rows: [event(900, conv)], revision: 1 }]);
    mirror.apply([{ key: "agent:main:other", rows: [event(20, other)], revision: 1 }]);
    const found = await mirror.arrivals(0, 10);
    expect(found.map(({ row }) => row.seq)).toEqual([900, 20]);
    expect(await mirror.arrivals(found[0]?.place ?? 0, 10)).toHaveLength(1);
    expect(await mirror.lastPlace()).toBe(found[1]?.place);
  });

  test("is there after a start; a damaged file is begun again", async () => {
    const folder = mkdtempSync(join(tmpdir(), "earshot-mirror-"));
    const path = join(folder, "mirror.db");
    const mirror = openMirrorStore(path);
    mirror.note({ key, rows: [event(10, conv)], revision: 1 });
    await mirror.close();
    const again = openMirrorStore(path);
    expect(again.revision(key)).toBe(1);
    await again.close();
    rmSync(`${path}-wal`, { force: true });
    writeFileSync(
      path,
      "no database at all, and longer than the header of one would be ".repeat(99),
    );
    const empty = openMirrorStore(path);
    expect(empty.revisions("", null)).toEqual([]);
    await empty.close();
    rmSync(folder, { recursive: true });
  });
});
