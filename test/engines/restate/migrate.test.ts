/**
 * `earshot migrate`: the conversations of a daemon go on in Restate where they were, whatever cuts the command off,
 * and what is there already is left as it is.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  openConversationSource,
  type WholeConversation,
} from "../../../src/adapters/stores/conversation-rows.ts";
import type { SharedSource } from "../../../src/adapters/stores/shared-rows-source.ts";
import { openKeptStore, openSqliteStore } from "../../../src/adapters/stores/sqlite-store.ts";
import { createSystemClock } from "../../../src/adapters/system/clock.ts";
import { sha256 } from "../../../src/adapters/system/digest.ts";
import type { KeptRow } from "../../../src/domain/ports/index.ts";
import { ingressCaller } from "../../../src/engines/restate/calls/ingress-call.ts";
import { createSharedFiles } from "../../../src/engines/restate/files/shared-files.ts";
import { hashOfRows } from "../../../src/engines/restate/filling.ts";
import { createInbox } from "../../../src/engines/restate/inbox.ts";
import { registerNodes } from "../../../src/engines/restate/registration.ts";
import { fillCursors } from "../../../src/engines/restate/shared/filling.ts";
import { createNodeSchedules } from "../../../src/engines/restate/shared/schedules.ts";
import { createSharedRows } from "../../../src/engines/restate/shared/shared-rows.ts";
import { runCommand } from "../../support/built/command.ts";
import { builtMain } from "../../support/built/files.ts";
import { newFolder } from "../../support/daemon/folder.ts";
import { freePort } from "../../support/free-port.ts";
import { IngressProxy } from "../../support/restate/ingress-proxy.ts";
import { beside, cursor, filesBeside } from "../../support/restate/migrated.ts";
import { openTalkingNode, openTestNode, type TalkingNode } from "../../support/restate/node.ts";
import { askObject, called } from "../../support/restate/offers.ts";
import { haveRestate, type RestateServer, startRestate } from "../../support/restate/server.ts";
import { rounds } from "../../support/rounds.ts";
import { World } from "../../support/runtime/world.ts";

const rooms = rounds(12, 30);
/** Of a room of `World`. */
const keyOf = (room: string) => `agent:main:telegram:group:${room}`;

const mainKey = "agent:main:main";

describe.skipIf(!haveRestate)("earshot migrate --to restate", () => {
  const stateDir = newFolder();
  const path = join(stateDir, "journal.db");
  const configFile = join(stateDir, "nodes.json5");
  let restate: RestateServer;
  let port: number;
  /** Through which the command reaches it. */
  let proxy: IngressProxy;
  let node: TalkingNode | null = null;
  let source: ReadonlyMap<string, WholeConversation>;
  let sharedRows: SharedSource;
  /** Texts of files that move, by id. */
  let files: Readonly<Record<string, string>>;

  function read(): ReadonlyMap<string, WholeConversation> {
    const opened = openConversationSource(path);
    const all = [...opened.conversations()].map((one) => [one.key, one] as const);
    opened.close();
    return new Map(all);
  }

  beforeAll(async () => {
    const world = await new World({
      store: await openSqliteStore({ path }),
      ports: { workspaces: { folder: (folder) => folder, read: async () => null } },
    }).start();
    for (let room = 0; room < rooms; room += 1)
      await world.say(`@earshot what about ${room}?`, {
        chat: { id: `room-${room}`, kind: "group" },
        mentions: [{ id: "we", isSelf: true }],
      });
    await world.pass(600_000);
    expect(world.sent).toHaveLength(rooms);
    await beside(world);
    files = await filesBeside(stateDir);
    // One is cut off before it is answered, just now.
    world.clock.advanceTo(Date.now() - 5_000);
    await world.say("@earshot and now?", {
      chat: { id: "room-cut", kind: "group" },
      mentions: [{ id: "we", isSelf: true }],
    });
    await world.runtime.stop();
    await world.store.close();
    source = read();
    const opened = openConversationSource(path);
    sharedRows = opened.shared();
    opened.close();

    restate = await startRestate();
    port = await freePort();
    proxy = await IngressProxy.open(restate.ingress);
    const engine = { kind: "restate", ingress: proxy.url, admin: restate.admin, port };
    writeFileSync(configFile, JSON.stringify({ engine, store: { path } }), { mode: 0o600 });
  });
  afterAll(async () => {
    await node?.close();
    await proxy?.close();
    await restate?.stop();
  });

  const command = ["migrate", "--to", "restate", "--config", configFile, "--json"];
  const env = { HOME: stateDir, EARSHOT_STATE_DIR: stateDir };
  const parsed = (line: string): Record<string, unknown> => JSON.parse(line);

  /** Runs it to its end. */
  async function moved() {
    const { code, err, out } = await runCommand(command, { env });
    return { code, err, lines: out.trim().split("\n").map(parsed) };
  }
  /** Begins to run it in a process that can be killed. */
  function migrate() {
    const child = spawn(process.execPath, [builtMain, ...command], {
      env: { PATH: process.env.PATH, ...env },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const lines: Record<string, unknown>[] = [];
    const reader = createInterface({ input: child.stdout });
    reader.on("line", (line) => lines.push(parsed(line)));
    const ended = once(child, "close").then(([code]) => ({ code: code as number | null, lines }));
    return { child, reader, lines, ended };
  }
  const fill = (key: string, input: unknown) =>
    askObject(restate.ingress, "conversation", key, "fill", input);
  const rowsIn = async (key: string) =>
    (await askObject(restate.ingress, "conversation", key, "rows")).body as readonly KeptRow[];

  /**
   * Runs it until it is about to store something, and ends it with SIGKILL then: the call is lost, or is made after its
   * end, when nobody answers Restate, or is done and its answer lost. Resolves to what it was about to store, which is
   * none of `passed`.
   */
  async function cutOff(
    fate: "lost" | "made" | "done",
    passed: readonly string[],
  ): Promise<string> {
    const run = migrate();
    let where = "";
    proxy.take = async ({ url, make }) => {
      if (where !== "") return true;
      const [, object = "", , handler = ""] = url.split("/");
      if (!["change", "set", "fill"].includes(handler) || passed.includes(object)) return false;
      where = object;
      // The next test begins with conversations that are not there.
      const isShared = handler !== "fill";
      if (isShared && fate === "done") await make();
      run.child.kill("SIGKILL");
      // It is answered once the next run has begun.
      if (isShared && fate === "made") void run.ended.then(make);
      return true;
    };
    const { code } = await run.ended;
    proxy.take = async () => false;
    expect(code).toBe(null);
    return where;
  }

  test("ended with SIGKILL at each kind of thing that nodes share: it is there once, as it was", async () => {
    const cut: string[] = [];
    const fates = ["lost", "done", "made", "done", "made"] as const;
    // In the full rounds also at one after the other of the same kind.
    while (cut.at(-1) !== "conversation") {
      const passed = rounds(0, 1) === 0 ? cut : [];
      cut.push(await cutOff(fates[cut.length % fates.length] ?? "done", passed));
    }
    if (rounds(0, 1) > 0) expect(cut.slice(0, 3)).toEqual(["access", "access", "schedules"]);
    expect([...new Set(cut)]).toEqual(["access", "schedules", "cursors", "conversation"]);
    const reading = await openTestNode({ port });
    const { ingress, admin } = restate;
    await registerNodes(admin, `http://127.0.0.1:${port}`);
    const { access, schedules, cursors } = sharedRows;
    const sorted = (rows: readonly { readonly name: string }[]) =>
      [...rows].sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const [object, rows] of [
      ["access", access],
      ["schedules", schedules],
    ] as const) {
      const { body } = await askObject(ingress, object, "all", "since", { known: 0 });
      const stored = body as { readonly version: number; readonly rows: typeof rows };
      expect(sorted(stored.rows)).toEqual(sorted(rows));
      // Changed once.
      expect(stored.version).toBe(1);
    }
    for (const { channel, account, values } of cursors) {
      const { body } = await askObject(ingress, "cursors", `${channel}:${account}`, "all");
      expect(body).toEqual(values);
    }
    await reading.close();
  });

  test("an end with SIGKILL and a second run: every conversation is there, with the same hash", async () => {
    expect([...source.keys()]).toContain(keyOf("room-cut"));
    const own = source.get(mainKey)?.rows.filter(({ table }) => table === "meta") ?? [];
    expect(own.map(({ row }) => row?.name)).toContain(`heartbeat|${mainKey}`);
    // A node as it was before the move: what it has taken is that of a run that was cut off.
    const { ingress, admin } = restate;
    const taking = await openTestNode({ port });
    await registerNodes(admin, `http://127.0.0.1:${port}`);
    const begun = source.get(keyOf("room-0")) as WholeConversation;
    const part = { place: 0, rows: begun.rows.slice(1, 4), whole: false, dueAt: null };
    expect((await fill(begun.key, part)).status).toBe(200);
    const filling = await askObject(ingress, "conversation", begun.key, "filling");
    expect(filling.body).toBe(true);
    expect((await fill(begun.key, { ...part, place: 2 })).status).toBe(409);
    for (const row of [
      { table: "journal", id: '["1"]', row: {} },
      { table: "journal", id: "1", row: {} },
      { table: "no/table", id: "[1]", row: {} },
      { table: "run", id: "[1]", row: null },
    ])
      expect((await fill(begun.key, { ...part, rows: [row] })).status).toBe(400);
    await taking.close();

    const first = migrate();
    // What nodes share comes first.
    while (!first.lines.some(({ key }) => key !== undefined)) await once(first.reader, "line");
    first.child.kill("SIGKILL");
    const { lines } = await first.ended;
    const second = await moved();
    expect(second).toMatchObject({ code: 0, err: "" });
    const { filled, same } = second.lines.at(-1) as { filled: number; same: number };
    expect(filled + same).toBe(source.size);
    expect(same).toBeGreaterThanOrEqual(lines.filter(({ key }) => key !== undefined).length);
    expect(second.lines.at(-1)).toMatchObject({ shared: { same: 4, filled: 0, other: 0 } });
    expect(second.lines.at(-1)).toMatchObject({ files: { same: 4, filled: 0, other: 0 } });

    const reading = await openTestNode({ port });
    const stored = createSharedFiles(ingressCaller(ingress));
    for (const [id, text] of Object.entries(files)) {
      const file = await stored.about(id);
      if (file === null) throw new Error(`${text} is not there`);
      const parts = [];
      for await (const part of stored.read(id, file)) parts.push(part);
      expect(String(Buffer.concat(parts))).toBe(text);
      const owner = { sent: '["message","message"]', drawn: '["answer","turn:0"]' }[text] ?? null;
      expect(file.owner, text).toBe(owner);
    }
    for (const { key, rows } of source.values())
      expect(hashOfRows(sha256, await rowsIn(key)), key).toBe(hashOfRows(sha256, rows));
    await reading.close();
    const third = await moved();
    const all = { done: true, filled: 0, same: source.size, other: 0 };
    expect(third.lines.at(-1)).toMatchObject({ ...all, shared: { filled: 0, same: 4, other: 0 } });
    // The source is what it was.
    expect(hashesOf(read())).toEqual(hashesOf(source));
  });

  test("who may speak, the schedule and cursors go along, each read back, and only what is missing", async () => {
    const { ingress, admin } = restate;
    const reading = await openTestNode({ port });
    await registerNodes(admin, `http://127.0.0.1:${port}`);
    const call = ingressCaller(ingress);
    const ports = { clock: createSystemClock(), log: () => undefined, call };
    const shared = createSharedRows({ ...ports, onChanged: () => undefined });
    expect(await shared.load([])).toEqual(sharedRows.access);
    expect(await shared.cursor("telegram", "default", "updates")).toBe("17");
    expect(await shared.cursor("matrix", "work", "sync")).toBe("s42");
    const schedules = createNodeSchedules({ ...ports, leases: null });
    await schedules.load([]);
    expect([...schedules.all().keys()].sort()).toEqual(["schedules", "schedule|tea"]);
    expect(JSON.parse(schedules.all().get("schedule|tea") ?? "")).toMatchObject({
      spec: { name: "tea", text: "Tea." },
      paused: true,
    });

    // What a run that was cut off has stored is left; a value that nodes have changed is not replaced.
    const digest = sha256;
    const values = { one: "1", two: "2", three: "3" };
    await shared.store([{ ...cursor("irc", "default", "two"), value: "2" }]);
    expect(await fillCursors({ call, digest }, "irc", "default", values)).toBe("filled");
    expect(await fillCursors({ call, digest }, "irc", "default", values)).toBe("same");
    await shared.store([{ ...cursor("irc", "default", "two"), value: "5" }]);
    expect(await fillCursors({ call, digest }, "irc", "default", values)).toBe("other");
    expect(await shared.cursor("irc", "default", "two")).toBe("5");
    await shared.store([{ kind: "access", name: "zoe", body: "{}" }]);
    await reading.close();
    const { code, err, lines } = await moved();
    expect(code).toBe(1);
    expect(err).toContain("what nodes share could not be moved as a whole");
    expect(lines.filter(({ shared: of }) => of === "access")).toMatchObject([{ result: "other" }]);
    expect(lines.at(-1)).toMatchObject({ shared: { filled: 0, same: 3, other: 1 } });
  });

  test("a node goes on: with what was under way at once, with the others when somebody speaks", async () => {
    // What was said is years old by this clock.
    node = await openTalkingNode(port, {}, { retentionMs: () => Number.POSITIVE_INFINITY });
    const { ingress, admin } = restate;
    await registerNodes(admin, `http://127.0.0.1:${port}`);
    const cut = keyOf("room-cut");
    await node.says(cut, 1);

    const key = keyOf("room-7");
    const before = source.get(key) as WholeConversation;
    const events = before.rows.filter(({ table }) => table === "journal");
    const last = Math.max(...events.map(({ row }) => Number(row?.seq)));
    await createInbox(ingress).offer(key, called("room-7", "901"));
    await node.says(key, 1);
    await node.rested(key);
    const store = openKeptStore(await rowsIn(key));
    const record = await store.conversation(before.conv);
    expect(record?.recordSeq).toBeGreaterThan(last);
    expect((await store.tail(before.conv, 0)).length).toBeGreaterThan(events.length);
    const lines = before.rows.filter(({ table }) => table === "transcript");
    expect(lines.length).toBeGreaterThan(0);
    const [session, ...others] = await store.sessions({ conv: before.conv, all: true, limit: 9 });
    expect(others).toEqual([]);
    const { sessionId = "" } = session ?? {};
    const said = await store.transcript({ sessionId, limit: 99 });
    expect(said.slice(0, lines.length).map(({ id }) => id)).toEqual(
      lines.map(({ row }) => row?.id),
    );
    expect(said.length).toBeGreaterThan(lines.length);
    // A message that came before the move is recognised.
    const old = events.find(({ row }) => typeof row?.mid === "string")?.row ?? {};
    const event = JSON.parse(String(old.body));
    const { identity, at: sentAt, mid: messageId } = old as never;
    await createInbox(ingress).offer(key, { identity, sentAt, messageId, event });
    await createInbox(ingress).offer(key, called("room-7", "902"));
    await node.says(key, 2);
    await node.rested(key);
    const then = openKeptStore(await rowsIn(key));
    expect(await then.transcript({ sessionId, limit: 99 })).toHaveLength(
      said.length * 2 - lines.length,
    );
    await then.close();
  });

  test("what a node has stepped is named and left as it is", async () => {
    const stepped = hashOfRows(sha256, await rowsIn(keyOf("room-7")));
    await node?.close();
    const { code, err, lines } = await moved();
    expect(code).toBe(1);
    expect(err).toContain("2 conversations could not be moved");
    const others = lines.flatMap(({ key, result }) =>
      key !== undefined && result === "other" ? [key] : [],
    );
    expect(others.sort()).toEqual([keyOf("room-7"), keyOf("room-cut")]);
    const reading = await openTestNode({ port });
    expect(hashOfRows(sha256, await rowsIn(keyOf("room-7")))).toBe(stepped);
    await reading.close();
  });
});

function hashesOf(all: ReadonlyMap<string, WholeConversation>) {
  return [...all.values()].map(({ rows }) => hashOfRows(sha256, rows));
}
