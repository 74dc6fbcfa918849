/**
 * One contract, two ways to open the store: what the runtime relies on, run against a real file and
 * against a temporary database.
 */
import { mkdtempSync, readdirSync, readlinkSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { loadDriver } from "../../../src/adapters/stores/sqlite-driver.ts";
import { openSqliteStore, openTemporaryStore } from "../../../src/adapters/stores/sqlite-store.ts";
import {
  type EventWrite,
  noConversation,
  type OutboxRow,
  type Store,
  type StoreWrite,
} from "../../../src/domain/ports/index.ts";
import { property } from "../../support/property.ts";
import { rounds } from "../../support/rounds.ts";
import { createTestStore } from "../../support/runtime/test-store.ts";

const folders: string[] = [];
const opened: Store[] = [];
const newFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), "earshot-store-"));
  folders.push(folder);
  return folder;
};
const open = async (path = join(newFolder(), "earshot.db")) => {
  const store = await openSqliteStore({ path });
  opened.push(store);
  return store;
};
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const event = (name: string, more: Partial<EventWrite> = {}): EventWrite => ({
  kind: "event",
  at: 1_000,
  eid: 7,
  identity: name,
  conv: 1,
  key: "agent:main:main",
  cfg: 1,
  body: JSON.stringify({ type: "disengage", at: 1_000, name }),
  messageId: name,
  ...more,
});
const row = (id: string, more: Partial<OutboxRow> = {}): OutboxRow => ({
  id,
  conv: 1,
  key: "agent:main:main",
  turnId: "t1",
  index: 0,
  kind: "reply",
  state: "pending",
  createdAt: 5,
  dueAt: 5,
  attempts: 0,
  doubts: 0,
  body: "{}",
  messageIds: null,
  error: null,
  ...more,
});

const kinds: readonly [string, () => Promise<Store>][] = [
  ["sqlite", () => open()],
  ["temporary", async () => openTemporaryStore()],
];

const markedEvents = 40;
/** Commits of marks, each of an event and with a code; null: another write among them. */
const marked = fc.array(
  fc.array(
    fc.tuple(
      fc.option(fc.nat({ max: markedEvents - 1 }), { freq: 20 }),
      fc.integer({ min: 1, max: 9 }),
    ),
    { minLength: 1, maxLength: 30 },
  ),
  { maxLength: 4 },
);

describe.each(kinds)("the %s store", (_kind, create) => {
  test("numbers events in the order committed, without gaps in one commit", async () => {
    const store = await create();
    const first = await store.commit([event("a"), event("b", { eid: 8 })]);
    expect(first[1]).toBe((first[0] as number) + 1);
    const [third] = await store.commit([event("c", { eid: 9 })]);
    expect(third).toBeGreaterThan(first[1] as number);
    expect(await store.lastSeq()).toBe(third);
  });

  test("takes an identity once a conversation, and answers 0 for the copy", async () => {
    const store = await create();
    expect(
      await store.commit([event("a"), event("a"), event("a", { conv: 2, key: "k2" })]),
    ).toEqual([1, 0, 2]);
    expect((await store.commit([event("a")]))[0]).toBe(0);
    expect(await store.tail(1, 0)).toHaveLength(1);
  });

  test("keeps two identities whose hashes collide apart", async () => {
    const store = await create();
    const answers = await store.commit([event("a"), event("b"), event("b"), event("a")]);
    expect(answers.map((answer) => answer > 0)).toEqual([true, true, false, false]);
    expect((await store.tail(1, 0)).map(({ body }) => JSON.parse(body).name)).toEqual(["a", "b"]);
  });

  property([marked], { numRuns: rounds(10, 25) })(
    "takes marks in any number and order, and of one event only the first",
    async (commits) => {
      const store = await create();
      const events = Array.from({ length: markedEvents }, (_, n) => event(`e${n}`, { eid: n }));
      const seqs = await store.commit(events);
      const codes = new Map<number, number>();
      for (const marks of commits) {
        const writes = marks.map(([n, code]): StoreWrite => {
          if (n === null) return { kind: "meta", name: "x", value: "1" };
          return { kind: "applied", seq: seqs[n] as number, code };
        });
        const expected = marks.map(([n, code]) => {
          if (n !== null && codes.has(n)) return 0;
          if (n !== null) codes.set(n, code);
          return 1;
        });
        expect(await store.commit(writes)).toEqual(expected);
      }
      const stored = (await store.scan(0, markedEvents)).map(({ code }) => code);
      expect(stored).toEqual(events.map((_, n) => codes.get(n) ?? null));
      await store.close();
    },
  );

  test("knows an event as applied only once it was marked", async () => {
    const store = await create();
    const [seq] = await store.commit([event("a")]);
    await store.commit([event("denied", { eid: 9, code: 5 })]);
    expect((await store.scan(0, 10)).map(({ code }) => code)).toEqual([null, 5]);
    expect((await store.unapplied(0, 10)).map((found) => found.seq)).toEqual([seq]);
    expect(await store.unapplied(seq as number, 10)).toEqual([]);
    await store.commit([{ kind: "applied", seq: seq as number, code: 3 }]);
    expect(await store.unapplied(0, 10)).toEqual([]);
    expect((await store.events([seq as number])).map(({ code }) => code)).toEqual([3]);
  });

  test("keeps the access book by name, also what comes with an event, but not with its copy", async () => {
    const store = await create();
    const set = (name: string, body: string | null) => ({ kind: "access", name, body }) as const;
    await store.commit([set("b", "1"), set("a", "2"), set("c", "3"), set("c", null)]);
    const accessStore = async () =>
      (await store.access()).map(({ name, body }) => `${name}=${body}`);
    expect(await accessStore()).toEqual(["a=2", "b=1"]);
    const denied = event("m1", { conv: noConversation, key: "", code: 5 });
    const notice = { kind: "outbox", row: row("n", { conv: noConversation }) } as const;
    await store.commit([{ ...denied, also: [set("b", "4"), notice] }]);
    expect(await accessStore()).toEqual(["a=2", "b=4"]);
    expect((await store.outboxOpen()).map(({ id }) => id)).toEqual(["n"]);
    const again = { ...notice, row: { ...notice.row, id: "n2" } };
    expect(await store.commit([{ ...denied, also: [set("b", "5"), again] }])).toEqual([0]);
    expect(await accessStore()).toEqual(["a=2", "b=4"]);
    expect(await store.outboxOpen()).toHaveLength(1);
  });

  test("gives a tail with the marks of its events, up to where it is asked for", async () => {
    const store = await create();
    const seqs = await store.commit(["a", "b", "c"].map((name, eid) => event(name, { eid })));
    const [first, , third] = seqs as [number, number, number];
    await store.commit([{ kind: "applied", seq: first, code: 7 }]);
    await store.commit([{ kind: "applied", seq: first, code: 8 }]);
    const tail = await store.tail(1, 0, third);
    expect(tail).toEqual(await store.scan(0, 2));
    expect(tail.map(({ code }) => code)).toEqual([7, null]);
    expect(store.dirtySize()).toBe(1);
  });

  test("keeps what admission ended apart from every conversation", async () => {
    const store = await create();
    const denied = { conv: noConversation, key: "", code: 4 };
    expect(await store.commit([event("a", denied), event("a", denied)])).toEqual([1, 0]);
    expect(await store.dirty(10)).toEqual([]);
    expect(await store.conversations({ limit: 10 })).toEqual([]);
    expect(await store.lowWater()).toBe(1);
    expect(await store.eventsByMessage("a")).toMatchObject([{ conv: noConversation, code: 4 }]);
  });

  test("gives a conversation's tail after its record, and the whole of it on demand", async () => {
    const store = await create();
    const writes = ["a", "b", "c"].map((name, eid) => event(name, { eid }));
    const seqs = await store.commit([...writes, event("x", { eid: 90, conv: 2, key: "k2" })]);
    const [, second] = seqs as [number, number, number];
    const record = {
      kind: "checkpoint",
      conv: 1,
      recordSeq: second,
      epoch: 1,
      record: "R",
    } as const;
    expect(await store.commit([record])).toEqual([1]);
    expect((await store.tail(1, second)).map(({ seq }) => seq)).toEqual([seqs[2]]);
    expect(await store.tail(1, 0)).toHaveLength(3);
    expect(await store.conversation(1)).toMatchObject({ record: "R", recordSeq: second, epoch: 1 });
    expect((await store.conversations({ limit: 1 }))[0]).toMatchObject({ lastSeq: seqs[2] });
    expect(await store.lowWater()).toBe(second);
    expect(await store.dirty(10)).toEqual([
      { conv: 1, first: seqs[2], last: seqs[2] },
      { conv: 2, first: seqs[3], last: seqs[3] },
    ]);
  });

  test("refuses the record of a host that has been replaced", async () => {
    const store = await create();
    await store.commit([event("a")]);
    const put = (epoch: number, recordSeq: number, record: string) =>
      store.commit([{ kind: "checkpoint", conv: 1, recordSeq, epoch, record }]);
    expect(await put(2, 1, "new")).toEqual([1]);
    expect(await put(1, 1, "stale")).toEqual([0]);
    expect((await store.conversation(1))?.record).toBe("new");
  });

  test("an outbox row that became another kind is read as it was written", async () => {
    const store = await create();
    const edit = row("t1:1", { kind: "edit", body: '{"edits":"t1:0"}' });
    const message = { ...edit, kind: "reply", body: "{}", attempts: 1 } as const;
    for (const written of [edit, message]) await store.commit([{ kind: "outbox", row: written }]);
    expect(await store.outboxRow("t1:1")).toMatchObject(message);
    expect(await store.outboxOpen()).toMatchObject([message]);
  });

  test("replaces an outbox row by its id and lists the open ones, oldest first", async () => {
    const store = await create();
    const put = (written: OutboxRow) => store.commit([{ kind: "outbox", row: written }]);
    await put(row("t1:0"));
    await put(row("t1:1", { index: 1 }));
    await put(row("t1:0", { state: "sent", messageIds: '["9"]', attempts: 1 }));
    await put(row("t2:0", { turnId: "t2", state: "in-doubt", doubts: 1, error: "reset" }));
    expect((await store.outboxOpen()).map(({ id }) => id)).toEqual(["t1:1", "t2:0"]);
    expect(await store.outboxRow("t1:0")).toEqual(
      row("t1:0", { state: "sent", messageIds: '["9"]', attempts: 1 }),
    );
    expect((await store.outboxByTurn("t1")).map(({ id }) => id)).toEqual(["t1:0", "t1:1"]);
    expect(await store.outboxCounts()).toEqual({ sent: 1, pending: 1, "in-doubt": 1 });
    expect((await store.outboxByState(["in-doubt"], 5)).map(({ doubts }) => doubts)).toEqual([1]);
    expect(await store.outboxRow("none")).toBeNull();
  });

  test("keeps deadlines, runs, cursors, configs and meta", async () => {
    const store = await create();
    const run = {
      conv: 1,
      key: "k",
      agentId: "main",
      turnId: null,
      state: "waiting",
      since: 3,
    } as const;
    const writes: StoreWrite[] = [
      { kind: "deadline", conv: 1, id: "flush", at: 50 },
      { kind: "deadline", conv: 1, id: "quiet", at: 40 },
      { kind: "deadline", conv: 1, id: "flush", at: 30 },
      { kind: "deadline", conv: 1, id: "quiet", at: null },
      { kind: "deadline", conv: 1, id: "flush", at: null, onlyAt: 50 },
      { kind: "run", conv: 1, row: run },
      { kind: "run", conv: 2, row: { ...run, conv: 2 } },
      { kind: "run", conv: 2, row: null },
      { kind: "cursor", channel: "telegram", account: "default", identity: "42", value: "1" },
      { kind: "cursor", channel: "telegram", account: "default", identity: "42", value: "2" },
      { kind: "config", version: 1, json: "{}" },
      { kind: "config", version: 2, json: '{"a":1}' },
      { kind: "meta", name: "boot", value: "4" },
    ];
    await store.commit(writes);
    expect(await store.deadlines()).toEqual([{ conv: 1, id: "flush", at: 30 }]);
    expect(await store.runs()).toEqual([run]);
    expect(await store.cursor("telegram", "default", "42")).toBe("2");
    expect(await store.cursor("telegram", "default", "43")).toBeNull();
    expect(await store.config(1)).toBe("{}");
    expect(await store.latestConfig()).toEqual({ version: 2, json: '{"a":1}' });
    expect(await store.meta("boot")).toBe("4");
  });

  test("keeps nothing of a commit of which one write fails, and goes on", async () => {
    const store = await create();
    const said = { id: 1, sessionId: "s", at: 1, turnId: "t", role: "user", text: "hi" } as const;
    const line = { kind: "transcript", conv: 1, line: said } as const;
    await store.commit([event("a")]);
    await expect(store.commit([event("b", { eid: 8 }), line, line])).rejects.toMatchObject({
      code: "EAR_STORE_FAILED",
    });
    expect(await store.lastSeq()).toBe(1);
    expect(await store.tail(1, 0)).toHaveLength(1);
    expect(await store.lastLine()).toBe(0);
    expect(await store.commit([event("b", { eid: 8 }), line])).toEqual([2, 1]);
  });

  test("finds a platform message in every conversation that heard it", async () => {
    const store = await create();
    await store.commit([event("m1"), event("m1", { conv: 2, key: "k2" }), event("m2", { eid: 8 })]);
    expect((await store.eventsByMessage("m1")).map(({ conv }) => conv)).toEqual([1, 2]);
    expect(await store.eventsByMessage("m3")).toEqual([]);
  });

  test("lists conversations page by page and by key", async () => {
    const store = await create();
    await store.commit([1, 2, 3].map((conv) => event(`m${conv}`, { conv, key: `k${conv}` })));
    const page = await store.conversations({ limit: 2 });
    expect(page.map(({ key }) => key)).toEqual(["k1", "k2"]);
    expect(page.map(({ lastSeq }) => lastSeq)).toEqual([1, 2]);
    const rest = await store.conversations({ after: 2, limit: 2 });
    expect(rest.map(({ key }) => key)).toEqual(["k3"]);
  });

  test("knows how many conversations there are, also of those made while it counts", async () => {
    const store = await create();
    const make = (conv: number) =>
      store.commit([event(`of ${conv}`, { conv, key: `agent:main:${conv}` })]);
    await store.commit(
      Array.from({ length: 25_000 }, (_, conv) =>
        event(`of ${conv}`, { eid: conv + 1, conv: conv * 2 + 2, key: `agent:main:${conv}` }),
      ),
    );
    const counting = store.conversationCount();
    for (const conv of [1, 24_999, 49_999, 60_001]) {
      await make(conv);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await counting;
    await make(24_999);
    expect(await store.conversationCount()).toBe(25_004);
    await make(60_003);
    expect(await store.conversationCount()).toBe(25_005);
  });

  test("prunes only rows that are old by receipt and covered by a record", async () => {
    const store = await create();
    const body = (at: number) => JSON.stringify({ type: "disengage", at });
    await store.commit([
      event("a", { eid: 1, at: 0, body: body(10) }),
      event("b", { eid: 2, at: 0, body: body(20) }),
      event("c", { eid: 3, at: 0, body: body(90) }),
      event("x", { eid: 4, at: 0, conv: 2, key: "k2", body: body(20) }),
    ]);
    expect(await store.prune(50, 10)).toBe(0);
    await store.commit([{ kind: "checkpoint", conv: 1, recordSeq: 3, epoch: 1, record: "R" }]);
    expect(await store.prune(50, 1)).toBe(1);
    expect(await store.prune(50, 10)).toBe(1);
    expect((await store.scan(0, 10)).map(({ seq }) => seq)).toEqual([3, 4]);
  });

  test("any text comes back as it went in", async () => {
    const store = await create();
    let eid = 0;
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "grapheme" }), async (text) => {
        eid += 1;
        const [seq] = await store.commit([
          event(`id ${eid}`, { eid, at: 5, body: JSON.stringify({ text }), messageId: text }),
        ]);
        const [found] = await store.events([seq as number]);
        expect(JSON.parse(found?.body as string)).toEqual({ text });
      }),
      { numRuns: rounds(15, 50) },
    );
  });
});

describe("the sqlite store on disk", () => {
  test("finds everything again after it was closed, tails included", async () => {
    const path = join(newFolder(), "earshot.db");
    const before = await open(path);
    await before.commit([event("a"), event("b", { eid: 8 }), event("c", { eid: 9, conv: 2 })]);
    await before.commit([{ kind: "checkpoint", conv: 1, recordSeq: 1, epoch: 1, record: "R" }]);
    await before.close();

    const after = await open(path);
    // A commit before the scan at start has ended must not lose its place.
    const [seq] = await after.commit([event("d", { eid: 10 })]);
    expect((await after.tail(1, 1)).map((found) => found.seq)).toEqual([2, seq]);
    expect((await after.tail(2, 0)).map((found) => found.seq)).toEqual([3]);
    expect((await after.commit([event("a")]))[0]).toBe(0);
  });

  test("a record written while the scan at start runs is respected", async () => {
    const path = join(newFolder(), "earshot.db");
    const before = await open(path);
    await before.commit(Array.from({ length: 20 }, (_, eid) => event(`m${eid}`, { eid })));
    await before.close();
    const after = await open(path);
    await after.commit([{ kind: "checkpoint", conv: 1, recordSeq: 15, epoch: 1, record: "R" }]);
    expect((await after.dirty(5))[0]).toEqual({ conv: 1, first: 16, last: 20 });
  });

  test("nothing of a failed commit is kept", async () => {
    const path = join(newFolder(), "earshot.db");
    let fail = false;
    const store = await openSqliteStore({
      path,
      onPoint: (point) => {
        if (fail && point === "before-commit") throw new Error("disk gone");
      },
    });
    opened.push(store);
    await store.commit([event("a")]);
    fail = true;
    await expect(store.commit([event("b", { eid: 8 })])).rejects.toMatchObject({
      code: "EAR_STORE_FAILED",
    });
    fail = false;
    expect(await store.scan(0, 10)).toHaveLength(1);
    expect(await store.dirty(5)).toEqual([{ conv: 1, first: 1, last: 1 }]);
    expect((await store.commit([event("b", { eid: 8 })]))[0]).toBe(2);
  });

  test("its files are readable by their owner only", async () => {
    const path = join(newFolder(), "earshot.db");
    const store = await open(path);
    await store.commit([event("a")]);
    for (const file of [path, `${path}-wal`]) {
      expect(statSync(file).mode & 0o777).toBe(0o600);
    }
  });

  test("a database of another version is refused by name", async () => {
    const path = join(newFolder(), "earshot.db");
    const { DatabaseSync } = await loadDriver();
    const other = new DatabaseSync(path);
    other.exec("PRAGMA user_version = 77");
    other.close();
    await expect(openSqliteStore({ path })).rejects.toMatchObject({ code: "EAR_STORE_VERSION" });
  });

  test("a database of the second version gets an access book, and keeps what it has", async () => {
    const path = join(newFolder(), "earshot.db");
    const first = await openSqliteStore({ path });
    await first.commit([event("a")]);
    await first.close();
    const { DatabaseSync } = await loadDriver();
    const old = new DatabaseSync(path);
    old.exec("DROP TABLE access; PRAGMA user_version = 2");
    old.close();
    const store = await open(path);
    expect(await store.access()).toEqual([]);
    await store.commit([{ kind: "access", name: "n", body: "{}" }]);
    expect(await store.access()).toEqual([{ name: "n", body: "{}" }]);
    expect(await store.scan(0, 10)).toHaveLength(1);
  });

  test("a file that is no database is refused, not overwritten", async () => {
    const path = join(newFolder(), "earshot.db");
    const { writeFileSync, readFileSync } = await import("node:fs");
    writeFileSync(path, "this is a diary, not a database. ".repeat(200));
    await expect(openSqliteStore({ path })).rejects.toMatchObject({ code: "EAR_STORE_DAMAGED" });
    expect(readFileSync(path, "utf8").startsWith("this is a diary")).toBe(true);
  });

  test("a full disk is told apart from a broken store", async () => {
    const path = join(newFolder(), "earshot.db");
    const store = await openSqliteStore({
      path,
      onPoint: (point) => {
        if (point === "after-insert") {
          throw Object.assign(new Error("database or disk is full"), { errcode: 13 });
        }
      },
    });
    opened.push(store);
    await expect(store.commit([event("a")])).rejects.toMatchObject({ code: "EAR_STORE_FULL" });
  });
});

describe("a temporary store", () => {
  /** Bytes in files without a name that this process has open. */
  const nameless = () => {
    let bytes = 0;
    for (const fd of readdirSync("/proc/self/fd")) {
      const path = `/proc/self/fd/${fd}`;
      const file = statSync(path, { throwIfNoEntry: false });
      if (file !== undefined && /etilqs.*deleted/.test(readlinkSync(path))) bytes += file.size;
    }
    return bytes;
  };

  test.skipIf(process.platform !== "linux")(
    "moves to a file without a name when it outgrows its cache, and gives it back at its end",
    async () => {
      const store = openTemporaryStore();
      const before = nameless();
      const text = "x".repeat(10_000);
      const body = (n: number) => JSON.stringify({ type: "disengage", at: n, text });
      const count = 8_000;
      for (let n = 1; n <= count; n += 200)
        await store.commit(
          Array.from({ length: 200 }, (_, i) =>
            event(`m${n + i}`, { eid: n + i, at: n + i, body: body(n + i) }),
          ),
        );
      expect(nameless() - before).toBeGreaterThan(40_000_000);
      expect((await store.scan(0, count)).map(({ body: found }) => JSON.parse(found).at)).toEqual(
        Array.from({ length: count }, (_, n) => n + 1),
      );
      expect(await store.commit([event("m1", { eid: 1, at: 1 })])).toEqual([0]);
      await store.close();
      expect(nameless() - before).toBeLessThan(1_000_000);
    },
  );
});

describe("a test store's faults", () => {
  test("the n-th commit fails once, or for ever until healed, and writes nothing", async () => {
    const store = createTestStore();
    store.fail({ at: 2 });
    await store.commit([event("a", { eid: 1 })]);
    await expect(store.commit([event("b", { eid: 2 })])).rejects.toMatchObject({
      code: "EAR_STORE_FAILED",
    });
    expect(await store.lastSeq()).toBe(1);
    await store.commit([event("b", { eid: 2 })]);
    store.fail({ at: 1, forever: true, code: "EAR_STORE_FULL" });
    for (let tries = 0; tries < 3; tries += 1) {
      await expect(store.commit([event("c", { eid: 3 })])).rejects.toMatchObject({
        code: "EAR_STORE_FULL",
      });
    }
    store.heal();
    expect(await store.commit([event("c", { eid: 3 })])).toEqual([3]);
  });
});
