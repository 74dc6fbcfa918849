/**
 * A model that fails, on a real daemon: the room gets one harmless line, and the owner sees the cause
 * in `status`, `why`, the room, the stream, the metrics and `chat`, until the model answers again.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Why } from "../../src/actors/protocol/why.ts";
import type { RoomHistory } from "../../src/daemon/api-types/room.ts";
import { startDaemon } from "../../src/daemon/daemon.ts";
import type { FailingAgent } from "../../src/domain/stream.ts";
import { runCommand } from "../support/built/command.ts";
import { newFolder } from "../support/daemon/folder.ts";
import { rounds } from "../support/rounds.ts";
import { type ModelReply, type ModelServer, startModelServer } from "../support/servers/openai.ts";

const stateDir = newFolder();
const secret = "sk-a-key-that-nobody-sees";
const key = "agent:main:webhook:group:kitchen";
let model: ModelServer;
let daemon: Awaited<ReturnType<typeof startDaemon>>;
let headers: Record<string, string>;

beforeAll(async () => {
  model = await startModelServer();
  const driver = {
    kind: "model",
    provider: "openai-compatible",
    baseUrl: model.baseUrl,
    model: "m1",
    apiKey: secret,
    maxRetries: 0,
  };
  const config = {
    agents: { list: [{ id: "main", name: "Scout", driver }] },
    messages: { inbound: { debounceMs: 0 } },
    errors: { notifyRoom: "always" },
    // On a busy machine an answer takes a while, too.
    turn: { idleMs: 4_000 },
  };
  writeFileSync(join(stateDir, "earshot.json5"), JSON.stringify(config), { mode: 0o600 });
  daemon = await startDaemon({
    stateDir,
    port: 0,
    workers: rounds(0, 1),
    env: {},
    logLevel: "fatal",
  });
  headers = { authorization: `Bearer ${daemon.token}`, "content-type": "application/json" };
});
afterAll(async () => {
  await daemon.stop({ drainMs: 0 });
  await model.close();
});

const get = async <Answer>(path: string) =>
  (await (await fetch(`${daemon.base}${path}`, { headers })).json()) as Answer;
const failing = async () => (await get<{ failing: FailingAgent[] }>("/api/status")).failing;
const fateOf = async (id: string) => (await daemon.runtime.why(id))[0]?.fate as Why["fate"];

/** Says a line; resolves when its turn is over. */
async function ask(id: string, ...replies: ModelReply[]): Promise<Why["fate"]> {
  model.reply(...replies);
  const chat = { id: "kitchen", kind: "group" };
  const line = { channel: "webhook", chat, id, author: { id: "bo", name: "Bo" }, text: "Scout?" };
  const body = JSON.stringify(line);
  const url = `${daemon.base}/api/inbound?wait=decision`;
  expect((await fetch(url, { method: "POST", headers, body })).status).toBe(200);
  const over = async () => (await fateOf(id))?.outcome ?? null;
  await expect.poll(over, { timeout: 30_000 }).not.toBeNull();
  return fateOf(id);
}

const run = (input: string, ...args: string[]) =>
  runCommand([...args, "--state-dir", stateDir], {
    env: { HOME: stateDir, NO_COLOR: "1" },
    input,
  });

test("each failure is counted by its kind, and the next answer ends it", async () => {
  const said: [string, ModelReply, string][] = [
    ["f1", { status: 401 }, "auth"],
    ["f2", { status: 404 }, "not-found"],
    ["f3", { status: 429, retryAfter: "1" }, "rate-limit"],
    ["f4", { status: 500 }, "server"],
    ["f5", { stallAfter: [] }, "timeout"],
    ["f6", { cutAfter: ["Well, "] }, "refused"],
    ["f7", { raw: ["<h1>Hello</h1>"], type: "text/html" }, "invalid"],
  ];
  for (const [n, [id, reply, kind]] of said.entries()) {
    expect(await ask(id, reply)).toMatchObject({ outcome: "failed", cause: { kind } });
    expect(await failing()).toMatchObject([{ agentId: "main", turns: n + 1, kind, key }]);
  }
  const metrics = await (await fetch(`${daemon.base}/metrics`, { headers })).text();
  for (const [, , kind] of said)
    expect(metrics).toContain(`earshot_turn_failures_total{kind="${kind}"} 1`);

  const { entries } = await get<RoomHistory>(`/api/rooms/${encodeURIComponent(key)}/history`);
  const ends = entries.flatMap((entry) => (entry.kind === "ended" ? [entry] : []));
  expect(ends.map(({ failure }) => failure)).toEqual(said.map(([, , kind]) => kind));
  expect(ends[0]?.reason).toMatch(/^The model m1 failed \(HTTP 401\)/u);
  const texts = entries.flatMap((entry) => (entry.kind === "said" ? [entry.text] : []));
  expect(new Set(texts)).toEqual(
    new Set(["Something went wrong while I was answering. Please try again."]),
  );
  expect(ends[5]?.unsent).toContain("Well");
  expect(JSON.stringify([entries, await failing(), await fateOf("f1")])).not.toContain(secret);
});

test("the command line says why, and `chat` ends with 1", async () => {
  expect((await run("", "why", "f1")).out).toMatch(
    /failed \(auth: The model m1 failed \(HTTP 401\)/u,
  );
  expect((await run("", "status")).out).toMatch(/failing +main: 7 turns in a row: invalid: /u);
  model.reply({ status: 401 });
  const talk = await run("hello\n", "chat");
  expect(talk.code).toBe(1);
  expect(talk.err).toMatch(/^Scout could not answer: auth: The model m1 failed \(HTTP 401\)/u);
  expect(talk.err + talk.out).not.toContain(secret);

  expect(await ask("ok")).toMatchObject({ outcome: "replied" });
  expect(await failing()).toEqual([]);
  const fine = await run("hello\n", "chat");
  expect([fine.code, fine.err]).toEqual([0, ""]);
});

test("a tool that was refused or failed is listed with its reason", async () => {
  const fate = await ask(
    "t1",
    { call: { name: "channel_react", input: { emoji: "" } } },
    { call: { name: "look_up", input: {} } },
    { say: ["I could not."] },
  );
  expect(fate.outcome).toBe("replied");
  const [refused, failed] = fate.facts?.tools ?? [];
  expect(refused).toMatchObject({ name: "channel_react", count: 1, failed: 1 });
  expect(refused?.error).toMatch(/emoji/u);
  expect(failed).toMatchObject({ name: "look_up", count: 1, failed: 1 });
  expect(failed?.error).toMatch(/unavailable tool/u);
  expect((await run("", "why", "t1")).out).toMatch(
    /tools: channel_react 1 \(1 failed: .*emoji.*\), look_up 1 \(1 failed: .*unavailable/u,
  );
  const { why } = await get<{ why: Why[] }>("/api/why/t1");
  expect(why[0]?.fate.facts?.tools).toEqual(fate.facts?.tools);
  const metrics = await (await fetch(`${daemon.base}/metrics`, { headers })).text();
  const texts = /^earshot_turn_to_first_text_seconds_count (\d+)$/mu.exec(metrics)?.[1];
  expect(Number(texts)).toBeGreaterThanOrEqual(3);
});
