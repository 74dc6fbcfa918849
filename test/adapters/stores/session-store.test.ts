/**
 * Sessions in the store: one contract, run against a real file and against a temporary
 * database; and a store of the first version, which had none.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { loadDriver } from "../../../src/adapters/stores/sqlite-driver.ts";
import { openSqliteStore, openTemporaryStore } from "../../../src/adapters/stores/sqlite-store.ts";
import type { SessionWrite, Store } from "../../../src/domain/ports/index.ts";
import {
  defaultSessionSettings,
  noUsage,
  type TranscriptLine,
} from "../../../src/domain/session.ts";
import { property } from "../../support/property.ts";

const folders: string[] = [];
const opened: Store[] = [];
const newPath = () => {
  const folder = mkdtempSync(join(tmpdir(), "earshot-session-store-"));
  folders.push(folder);
  return join(folder, "earshot.db");
};
const open = async (path = newPath()) => {
  const store = await openSqliteStore({ path });
  opened.push(store);
  return store;
};
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

type Of<Op extends SessionWrite["op"]> = Extract<SessionWrite, { op: Op }>;
const of = (conv: number, sessionId: string, at: number) => ({
  ...({
    kind: "session",
    conv,
    sessionId,
    at,
    agentId: "main",
    key: `agent:main:k${conv}`,
  } as const),
});
const first = (conv: number, sessionId: string, at = 1): Of<"open"> => ({
  ...of(conv, sessionId, at),
  op: "open",
});
const next = (conv: number, sessionId: string, fromSeq: number, at = 2): Of<"begin"> => ({
  ...of(conv, sessionId, at),
  op: "begin",
  fromSeq,
});
const used = (sessionId: string, more: Partial<Of<"used">> = {}): Of<"used"> => ({
  kind: "session",
  op: "used",
  sessionId,
  at: 9,
  aborted: null,
  used: { turns: 1, inputTokens: 10, outputTokens: 2, costUsd: 0.5 },
  ...more,
});
const line = (id: number, sessionId: string, more: Partial<TranscriptLine> = {}) =>
  ({
    kind: "transcript",
    conv: 1,
    line: { id, sessionId, at: id, turnId: `t${id}`, role: "user", text: `line ${id}`, ...more },
  }) as const;

describe.each([
  ["sqlite", () => open()],
  ["temporary", async () => openTemporaryStore()],
])("sessions in the %s store", (_, create) => {
  test("a conversation gets one first session, whoever asks for it again", async () => {
    const store = await create();
    expect(await store.commit([first(1, "s1"), first(1, "s2"), first(2, "s3")])).toEqual([1, 0, 1]);
    expect(await store.sessionOf(1)).toEqual({
      conv: 1,
      sessionId: "s1",
      key: "agent:main:k1",
      agentId: "main",
      createdAt: 1,
      updatedAt: 1,
      archivedAt: null,
      abortedLastRun: false,
      settings: defaultSessionSettings,
      usage: noUsage,
    });
    expect(await store.sessionOf(3)).toBeNull();
    expect(await store.session("s2")).toBeNull();
  });

  test("a new one archives the one in use and has its settings, and only once", async () => {
    const store = await create();
    const settings = {
      ...defaultSessionSettings,
      model: "big",
      override: { send: "deny" },
    } as const;
    await store.commit([
      first(1, "s1"),
      { kind: "session", op: "settings", conv: 1, at: 3, settings },
      next(1, "s2", 10, 4),
      next(1, "s2", 10, 5),
    ]);
    expect(await store.session("s1")).toMatchObject({ archivedAt: 4, settings });
    expect(await store.sessionOf(1)).toMatchObject({ sessionId: "s2", archivedAt: null, settings });
  });

  test("a turn belongs to the session that was in use when it was ordered", async () => {
    const store = await create();
    await store.commit([first(1, "s1"), next(1, "s2", 10), next(1, "s3", 20)]);
    const of = async (seq: number) => (await store.sessionOf(1, seq))?.sessionId;
    expect([await of(1), await of(10), await of(11), await of(20), await of(21)]).toEqual([
      "s1",
      "s1",
      "s2",
      "s2",
      "s3",
    ]);
  });

  test("what is used adds up, for the session and for its agent", async () => {
    const store = await create();
    await store.commit([first(1, "s1"), used("s1", { aborted: true }), used("s1"), used("none")]);
    await store.commit([
      next(1, "s2", 5),
      used("s2", { aborted: true }),
      used("s2", { aborted: false }),
    ]);
    const usage = { turns: 2, inputTokens: 20, outputTokens: 4, costUsd: 1 };
    expect(await store.session("s1")).toMatchObject({ usage, abortedLastRun: true, updatedAt: 9 });
    expect(await store.session("s2")).toMatchObject({ usage, abortedLastRun: false });
    expect(await store.usageByAgent()).toEqual([
      { agentId: "main", turns: 4, inputTokens: 40, outputTokens: 8, costUsd: 2 },
    ]);
    expect(await store.newestSessions()).toEqual([{ agentId: "main", sessionId: "s2" }]);
  });

  test("lists them page by page, by agent and conversation, archived ones on request", async () => {
    const store = await create();
    await store.commit([
      first(1, "s1"),
      { ...first(2, "s2"), agentId: "other" },
      next(1, "s3", 10),
      first(3, "s4"),
    ]);
    const names = async (query: Partial<Parameters<Store["sessions"]>[0]>) =>
      (await store.sessions({ limit: 10, ...query })).map(({ sessionId }) => sessionId);
    expect(await names({})).toEqual(["s2", "s3", "s4"]);
    expect(await names({ all: true, limit: 2 })).toEqual(["s1", "s2"]);
    expect(await names({ all: true, after: "s2" })).toEqual(["s3", "s4"]);
    expect(await names({ all: true, conv: 1 })).toEqual(["s1", "s3"]);
    expect(await names({ agentId: "other" })).toEqual(["s2"]);
  });

  test("gives the lines of one session, from a number on or the newest", async () => {
    const store = await create();
    const whole = {
      author: { id: "a", name: "Ann" },
      messageId: "m1",
      usage: { inputTokens: 1, outputTokens: 2, costUsd: 0 },
    };
    await store.commit([first(1, "s1"), first(2, "s2")]);
    await store.commit([
      line(1, "s1", whole),
      line(2, "s2"),
      line(3, "s1", { role: "summary", covers: 1 }),
      line(5, "s1", { role: "assistant" }),
    ]);
    const ids = async (query: Partial<Parameters<Store["transcript"]>[0]>) =>
      (await store.transcript({ sessionId: "s1", limit: 10, ...query })).map(({ id }) => id);
    expect(await ids({})).toEqual([1, 3, 5]);
    expect(await ids({ after: 1, limit: 1 })).toEqual([3]);
    expect(await ids({ newest: true, limit: 2 })).toEqual([3, 5]);
    expect((await store.transcript({ sessionId: "s1", limit: 1 }))[0]).toEqual(
      line(1, "s1", whole).line,
    );
    expect(await store.transcriptMark("s1")).toEqual(
      line(3, "s1", { role: "summary", covers: 1 }).line,
    );
    expect(await store.transcriptMark("s2")).toBeNull();
    expect(await store.lastLine()).toBe(5);
    expect((await store.sessionOfTurn("t2"))?.sessionId).toBe("s2");
    expect(await store.sessionOfTurn("t9")).toBeNull();
    expect(await store.session("s1")).toMatchObject({ updatedAt: 5 });
    expect((await store.lately(1)).map(({ sessionId }) => sessionId)).toEqual(["s1"]);
  });

  property([fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" })], { numRuns: 30 })(
    "any text comes back as it went in",
    async (text, name) => {
      const store = await create();
      const said = line(1, "s1", { text, author: { id: name, name } });
      await store.commit([said]);
      expect(await store.transcript({ sessionId: "s1", limit: 1 })).toEqual([said.line]);
    },
  );
});

describe("a store of the first version", () => {
  /** The tables as they were, as far as sessions are concerned. */
  async function old(path: string): Promise<void> {
    const { DatabaseSync } = await loadDriver();
    const store = await openSqliteStore({ path });
    await store.commit([
      ...[1, 2, 3].map((conv) => ({
        ...({ kind: "event", at: 1, eid: conv, identity: `e${conv}`, cfg: 1 } as const),
        conv,
        key: `agent:a${conv}:main`,
        body: "{}",
        messageId: null,
      })),
    ]);
    await store.close();
    const database = new DatabaseSync(path);
    database.exec("DROP TABLE transcript; DROP TABLE session; DROP TABLE access");
    database.exec(
      "CREATE TABLE transcript(id INTEGER PRIMARY KEY, conv INTEGER NOT NULL, turn TEXT NOT NULL, " +
        "role TEXT NOT NULL, at INTEGER NOT NULL, text TEXT NOT NULL); " +
        "CREATE INDEX transcript_conv ON transcript(conv, id)",
    );
    const insert = database.prepare(
      "INSERT INTO transcript(conv, turn, role, at, text) VALUES(?, ?, ?, ?, ?)",
    );
    insert.run(1, "t1", "user", 100, "hello");
    insert.run(1, "t1", "assistant", 101, "hi");
    insert.run(2, "t2", "user", 102, "other");
    insert.run(1, "t3", "user", 103, "again");
    database.exec("PRAGMA user_version = 1");
    database.close();
  }

  test("is brought to today's tables with every line in its conversation's first session", async () => {
    const path = newPath();
    await old(path);
    const store = await open(path);
    const session = await store.sessionOf(1);
    expect(session).toMatchObject({ agentId: "a1", createdAt: 100, updatedAt: 103 });
    expect(session?.sessionId).toMatch(/^[0-9A-Z]{26}$/);
    expect(session?.usage.turns).toBe(2);
    const lines = await store.transcript({ sessionId: session?.sessionId ?? "", limit: 10 });
    expect(lines.map(({ id, text }) => [id, text])).toEqual([
      [1, "hello"],
      [2, "hi"],
      [4, "again"],
    ]);
    expect((await store.sessionOfTurn("t2"))?.key).toBe("agent:a2:main");
    expect(await store.sessionOf(3)).toBeNull();
    await store.close();
    const again = await open(path);
    expect((await again.sessionOf(1))?.sessionId).toBe(session?.sessionId);
  });

  test("is left as it was when the change fails half-way", async () => {
    const path = newPath();
    await old(path);
    const { DatabaseSync } = await loadDriver();
    const database = new DatabaseSync(path);
    database.exec("UPDATE conversation SET key = 'no key' WHERE conv = 2");
    database.close();
    await expect(openSqliteStore({ path })).rejects.toMatchObject({ code: "EAR_KEY_INVALID" });
    const after = new DatabaseSync(path);
    const names = after.prepare("SELECT name FROM sqlite_schema WHERE name = 'session'").all();
    expect(names).toEqual([]);
    expect(after.prepare("PRAGMA user_version").get()).toMatchObject({ user_version: 1 });
    after.close();
  });
});
