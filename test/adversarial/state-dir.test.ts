/**
 * A22, A38, A39, A41: the daemon's own records. What others laid in its place, what another machine or
 * another daemon wrote, what is quoted wrongly on purpose, and clocks that lie.
 */
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { chmod, chown } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { openSqliteStore } from "../../src/adapters/stores/sqlite-store.ts";
import { type Daemon, type DaemonOptions, startDaemon } from "../../src/daemon/daemon.ts";
import { machineName } from "../../src/daemon/state/machine-id.ts";
import { prepareStateDir } from "../../src/daemon/state/state-dir.ts";
import { parseConfig } from "../../src/domain/config/index.ts";
import { inboundSchema, momentMax } from "../../src/domain/message.ts";
import type { AgentDriver, OutboxRow } from "../../src/domain/ports/index.ts";
import type { TranscriptLine } from "../../src/domain/session.ts";
import { resolveRoute } from "../../src/machines/routing/routing.ts";
import { createRecorder } from "../support/agents/recording-agent.ts";
import { newFolder } from "../support/daemon/folder.ts";
import { startSmallServer } from "../support/daemon/small-server.ts";
import { anyCharacter, property } from "../support/property.ts";
import { rounds } from "../support/rounds.ts";
import { World } from "../support/runtime/world.ts";

const quiet = { port: 0, workers: 0, env: {}, writeLog: () => undefined } satisfies DaemonOptions;
let daemon: Daemon | null = null;
afterEach(async () => {
  await daemon?.stop({ drainMs: 0 });
  daemon = null;
});
const start = async (stateDir: string, more: DaemonOptions = {}) => {
  daemon = await startDaemon({ ...quiet, stateDir, ...more });
  return daemon;
};
/** What keeps a daemon from starting there. */
const refusal = (stateDir: string, more: DaemonOptions = {}) =>
  start(stateDir, more).then(
    () => "it started",
    (error: { code?: string; message: string }) => `${error.code}: ${error.message}`,
  );

describe("A38: a state directory is refused", () => {
  test("that is a link, or open to others, or another user's", async () => {
    const link = join(newFolder(), "link");
    symlinkSync(newFolder(), link);
    expect(await refusal(link)).toMatch(/^EAR_STATE_UNSAFE: .*symbolic link/);
    for (const mode of [0o777, 0o755, 0o710]) {
      const open = newFolder();
      await chmod(open, mode);
      expect(await refusal(open)).toMatch(/^EAR_STATE_UNSAFE: .*others may enter it/);
    }
    // Only root can give a folder away; anybody can be refused root's.
    const foreign = process.getuid?.() === 0 ? newFolder() : "/root";
    if (foreign !== "/root") await chown(foreign, 4_242, 4_242);
    expect(await refusal(foreign)).toMatch(/^EAR_STATE_UNSAFE: .*(belongs to user|cannot be made)/);
  });

  test("whose journal was written on another machine, until somebody says it was moved", async () => {
    const here = newFolder();
    await prepareStateDir(here, Promise.resolve("f".repeat(32)));
    if ((await machineName()) === null) return expect(await refusal(here)).toBe("it started");
    const said = await refusal(here);
    expect(said).toMatch(/^EAR_STATE_UNSAFE: .*written on another machine/);
    const fix = /rm (\S+)$/.exec(said)?.[1] ?? "";
    expect(fix).toBe(join(here, "machine"));
    writeFileSync(fix, "");
    expect(await refusal(here)).toBe("it started");
  });

  test("of no machine in particular where machines have no id (the twin)", async () => {
    expect(await machineName([join(newFolder(), "none")])).toBeNull();
    const id = join(newFolder(), "id");
    writeFileSync(id, `${"a1".repeat(16)}\n`);
    const name = await machineName([id]);
    expect(name).toMatch(/^[0-9a-f]{32}$/);
    expect(name).not.toBe("a1".repeat(16));
    for (const reported of [null, name]) {
      const folder = newFolder();
      await prepareStateDir(folder, Promise.resolve(reported));
      await prepareStateDir(folder, Promise.resolve(reported));
      await prepareStateDir(folder, Promise.resolve(null));
    }
  });

  test("that another daemon has, also as a copy of its lock", async () => {
    const stateDir = newFolder();
    const first = await startDaemon({ ...quiet, stateDir });
    expect(await refusal(stateDir)).toMatch(/^EAR_STATE_LOCKED: .*pid/);
    const copy = newFolder();
    cpSync(join(stateDir, "lock"), join(copy, "lock"));
    expect(await refusal(copy)).toMatch(/^EAR_STATE_LOCKED/);
    await first.stop({ drainMs: 0 });
    expect(await refusal(stateDir)).toBe("it started");
  });

  test("in which somebody laid a link, or a folder, where the journal is to be", async () => {
    const stateDir = newFolder();
    const victim = join(newFolder(), "victim");
    writeFileSync(victim, "precious");
    symlinkSync(victim, join(stateDir, "earshot.db"));
    expect(await refusal(stateDir)).toMatch(/^EAR_STATE_UNSAFE: .*link/);
    expect(readFileSync(victim, "utf8")).toBe("precious");
    const other = newFolder();
    mkdirSync(join(other, "earshot.db"));
    expect(await refusal(other)).toMatch(/^EAR_STORE_FAILED/);
  });

  test("whose journal is no journal, without a change to it", async () => {
    const stateDir = newFolder();
    const path = join(stateDir, "earshot.db");
    writeFileSync(path, "not a database, but long enough to be looked at as one".repeat(40));
    expect(await refusal(stateDir)).toMatch(/^EAR_STORE_/);
    expect(readFileSync(path, "utf8")).toMatch(/^not a database/);
  });
});

const quoting = fc.oneof(
  fc.constantFrom(
    "'; DROP TABLE event; --",
    '" OR 1=1 --',
    "a\0b",
    "%_[^]",
    "\\'",
    "); DELETE FROM event",
    "?1",
    ":key",
    "half of a pair: \ud83d",
    "\ufffe0000",
    "x".repeat(1_000_000),
  ),
  fc.string({ unit: anyCharacter, minLength: 1, maxLength: 30 }),
);

describe("A39: SQL", () => {
  property([quoting, quoting, quoting, quoting], { numRuns: rounds(5, 15) })(
    "takes every text as a value, and gives it back as it was",
    async (one, two, three, four) => {
      const store = await openSqliteStore({ path: join(newFolder(), "earshot.db") });
      const body = JSON.stringify({ type: "message.received", text: one });
      const own = { conv: 7, key: two };
      const session = { conv: 7, key: two, agentId: three, sessionId: four, at: 1 };
      const row: OutboxRow = {
        ...own,
        id: one,
        turnId: three,
        index: 0,
        kind: "reply",
        state: "pending",
        createdAt: 1,
        dueAt: 1,
        attempts: 0,
        doubts: 0,
        body,
        messageIds: one,
        error: four,
      };
      const line: TranscriptLine = {
        id: 1,
        sessionId: four,
        at: 1,
        turnId: two,
        role: "user",
        text: three,
        author: { id: one, name: two },
        messageId: four,
      };
      const event = { kind: "event", at: 1, eid: 5, identity: one, cfg: 1, ...own } as const;
      try {
        await store.commit([
          { kind: "config", version: 1, json: one },
          { ...event, body, messageId: four },
          { kind: "checkpoint", conv: 7, recordSeq: 1, epoch: 1, record: three },
          { kind: "outbox", row },
          { kind: "deadline", conv: 7, id: two, at: 9 },
          {
            kind: "run",
            conv: 7,
            row: { ...own, agentId: one, turnId: two, state: "running", since: 1 },
          },
          { kind: "session", op: "open", ...session },
          { kind: "transcript", conv: 7, line },
          { kind: "cursor", channel: one, account: two, identity: three, value: four },
          { kind: "meta", name: one, value: two },
          { kind: "access", name: three, body: four },
        ]);
        expect(await store.commit([{ ...event, body, messageId: four }])).toEqual([0]);
        expect(await store.config(1)).toBe(one);
        expect(await store.eventsByMessage(four)).toMatchObject([{ seq: 1, conv: 7, body }]);
        expect(await store.conversation(7)).toMatchObject({ key: two, record: three });
        expect(await store.outboxRow(one)).toEqual(row);
        expect(await store.outboxByTurn(three)).toEqual([row]);
        expect(await store.deadlines()).toEqual([{ conv: 7, id: two, at: 9 }]);
        expect(await store.runs()).toMatchObject([{ key: two, agentId: one, turnId: two }]);
        expect(await store.session(four)).toMatchObject({ agentId: three, key: two });
        expect(await store.transcript({ sessionId: four, limit: 9 })).toMatchObject([line]);
        expect(await store.cursor(one, two, three)).toBe(four);
        expect(await store.meta(one)).toBe(two);
        expect(await store.access()).toEqual([{ name: three, body: four }]);
        expect(await store.lastSeq()).toBe(1);
      } finally {
        await store.close();
      }
    },
  );
});

describe("A41: clocks of others", () => {
  const moments = [0, 1, 253_402_300_799_999, momentMax];
  const mention = { mentions: [{ id: "we", isSelf: true }] };

  test("a message of 1970, of 9999 and of the last moment there is is answered, and has its age", async () => {
    for (const sentAt of moments) {
      const world = await new World().start();
      await world.say("earshot, hello", { ...mention, id: "m", sentAt });
      await world.pass(5_000);
      expect(world.decisions().map(({ decision }) => decision)).toEqual(["engage"]);
      expect(world.sent).toHaveLength(1);
      // The credit begins now, whenever the words are said to be from, and ends in a quarter hour.
      await world.say("and this", { sentAt });
      await world.pass(5_000);
      expect(world.decisions().at(-1)).toMatchObject({ decision: "engage", rule: "sticky" });
      const [why] = await world.runtime.why("m");
      expect(why?.at).toBe(1_700_000_000_000);
      expect(why?.participants.every(({ lastSeenAt }) => lastSeenAt <= world.clock.now())).toBe(
        true,
      );
      await world.pass(3_600_000);
      await world.say("still there?", { sentAt: world.clock.now() - 3_599_000 });
      await world.pass(1_000);
      expect(world.decisions().at(-1)).toMatchObject({ decision: "observe" });
      await world.runtime.stop();
    }
  });

  test("the agent is told no moment that has not been", async () => {
    for (const sentAt of moments) {
      const agent = createRecorder();
      const agents = { defaults: { driver: { kind: "recording" } } };
      const world = new World({ config: { agents }, drivers: [agent.driver as AgentDriver] });
      await world.start();
      await world.say("hello", { direct: true, sentAt });
      await world.pass(5_000);
      const [, reported = ""] = /^\[id \S+, (.*) UTC\]/m.exec(agent.turns[0]?.prompt ?? "") ?? [];
      expect(Date.parse(`${reported}Z`)).toBeLessThanOrEqual(world.clock.now());
      await world.runtime.stop();
    }
  });

  test("no moment after the last is taken, nor one before the first", () => {
    const message = {
      channel: "x",
      chat: { id: "1", kind: "direct" },
      id: "1",
      author: { id: "1" },
    };
    for (const sentAt of [momentMax + 1, -1, 1.5, Number.MAX_SAFE_INTEGER, "0", Number.NaN])
      expect(inboundSchema.safeParse({ ...message, sentAt }).success).toBe(false);
    expect(inboundSchema.safeParse({ ...message, sentAt: momentMax }).success).toBe(true);
  });

  test("what is told again when the memory of it is gone is told by the journal", async () => {
    const dedupe = { entries: 1, ttlMs: 1_000 };
    const world = await new World({ config: { messages: { dedupe } } }).start();
    await world.say("once", { direct: true, id: "old", sentAt: 5 });
    await world.pass(3_600_000);
    for (const id of ["other", "another"]) await world.say("hm", { direct: true, id });
    await world.pass(3_600_000);
    const answered = world.sent.length;
    await world.say("once", { direct: true, id: "old", sentAt: 5 });
    await world.pass(60_000);
    expect(world.decisions().at(-1)).toMatchObject({ id: "old", decision: "duplicate" });
    expect(world.sent).toHaveLength(answered);
    await world.runtime.stop();
  });

  test("what is told again after its row was deleted is heard as new, at its own time of receipt", async () => {
    const dedupe = { entries: 1, ttlMs: 1_000, retentionMs: 86_400_000 };
    const world = await new World({ config: { messages: { dedupe } } }).start();
    await world.say("once", { direct: true, id: "old", sentAt: 5 });
    await world.pass(10 * 86_400_000);
    await world.say("once", { direct: true, id: "old", sentAt: 5 });
    await world.pass(60_000);
    const [first, second] = world.decisions().filter(({ id }) => id === "old");
    expect(second?.decision).toMatch(/^(engage|duplicate)$/);
    expect((second?.t ?? 0) - (first?.t ?? 0)).toBeGreaterThanOrEqual(10 * 86_400_000);
    await world.runtime.stop();
  });
});

describe("A22: a key or an agent that a caller offers", () => {
  test("is no field of what is taken, over HTTP as well", async () => {
    const server = await startSmallServer();
    const keys = { sessionKey: "agent:main:main", key: "agent:main:main", agentId: "root" };
    const message = { chat: { id: "c", kind: "direct" }, id: "1", author: { id: "a" }, text: "hi" };
    await server.post("/api/inbound", {
      ...message,
      ...keys,
      owner: true,
      authority: { owner: true },
    });
    expect(server.runtime.heard).toHaveLength(1);
    const [heard] = server.runtime.heard;
    for (const name of [...Object.keys(keys), "owner", "authority"])
      expect(heard).not.toHaveProperty(name);
    const config = parseConfig({ agents: { list: [{ id: "main" }, { id: "root" }] } });
    const offered = { ...(heard as NonNullable<typeof heard>), ...keys };
    expect(resolveRoute(config, offered)).toEqual(
      resolveRoute(config, heard as NonNullable<typeof heard>),
    );
    await server.stop();
  });
});
