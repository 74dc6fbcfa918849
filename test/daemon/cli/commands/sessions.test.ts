/**
 * Sessions of a real daemon: the files it leaves, what the commands and the API show of them and
 * change, and that no word of a room reaches a terminal as anything but words.
 */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Daemon, startDaemon } from "../../../../src/daemon/daemon.ts";
import { inboundSchema } from "../../../../src/domain/message.ts";
import type { Session } from "../../../../src/domain/session.ts";
import { runCommand } from "../../../support/built/command.ts";
import { newFolder } from "../../../support/daemon/folder.ts";

const key = "agent:main:webhook:group:kitchen";
const hostile = "hi \u001b[2J\u009b31m\u202e\u2066 there";
const unsafe = /(?!\n)\p{Cc}|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

const stateDir = newFolder();
const start = () =>
  startDaemon({ stateDir, port: 0, workers: 0, env: {}, writeLog: () => undefined });
let daemon: Daemon;
let said = 0;
beforeAll(async () => {
  daemon = await start();
  await say(hostile, { name: hostile });
});
afterAll(() => daemon.stop());

const call = (path: string, init: { method?: string; body?: unknown } = {}) =>
  fetch(`${daemon.base}${path}`, {
    method: init.method ?? "GET",
    headers: {
      authorization: `Bearer ${daemon.token}`,
      ...(init.body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(init.body === undefined ? {} : { body: JSON.stringify(init.body) }),
  });
const pathOf = (rest = "") => `/api/sessions/${encodeURIComponent(key)}${rest}`;

async function say(text: string, author: object = {}): Promise<void> {
  said += 1;
  const message = { chat: { id: "kitchen", kind: "group" }, id: `m${said}`, text };
  await call("/api/inbound", {
    method: "POST",
    body: { ...message, author: { id: "ann", ...author } },
  });
  await until(async () => {
    const session = await daemon.runtime.session(key);
    return session !== null && session.usage.turns > 0;
  });
}
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((done) => setTimeout(done, 20));
}
const run = (...args: string[]) =>
  runCommand(args, { env: { HOME: stateDir, EARSHOT_STATE_DIR: stateDir } });
const folder = join(stateDir, "agents", "main", "sessions");
const fileOf = ({ sessionId }: Session) => join(folder, `${sessionId}.jsonl`);

test("a turn leaves its transcript in a file for the owner alone, named by no word of the room", async () => {
  const session = (await daemon.runtime.session(key)) as Session;
  expect(readdirSync(folder).filter((name) => name.endsWith(".jsonl"))).toEqual([
    `${session.sessionId}.jsonl`,
  ]);
  expect(session.sessionId).toMatch(/^[0-9A-Z]{26}$/);
  expect(statSync(fileOf(session)).mode & 0o777).toBe(0o600);
  const lines = readFileSync(fileOf(session), "utf8").trimEnd().split("\n");
  expect(JSON.parse(lines[0] as string)).toMatchObject({ role: "user", text: hostile });
});

describe("the commands", () => {
  test("list and show for people, without a character that a terminal would obey", async () => {
    const [list, show, missing] = await Promise.all([
      run("sessions"),
      run("sessions", "show", key),
      run("sessions", "show", "agent:main:main"),
    ]);
    expect(list.out).toContain(key);
    expect(list.out).toMatch(/main: 1 turn,/);
    expect(show.out).toContain("hi ␛[2J");
    for (const { out } of [list, show]) expect(out).not.toMatch(unsafe);
    expect(missing.code).toBe(1);
    expect(missing.err).toContain("unknown session agent:main:main");
  });

  test("export what is in the file, to stdout and to a new file", async () => {
    const session = (await daemon.runtime.session(key)) as Session;
    const target = join(newFolder(), "talk.jsonl");
    const [shown, json] = await Promise.all([
      run("sessions", "export", key),
      run("sessions", "show", key, "--json"),
      run("sessions", "export", key, "--out", target),
    ]);
    const parsed = (text: string) =>
      text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
    const file = parsed(readFileSync(fileOf(session), "utf8"));
    expect(parsed(shown.out)).toEqual(file);
    expect(parsed(readFileSync(target, "utf8"))).toEqual(file);
    expect(shown.out + json.out).not.toMatch(unsafe);
    expect(statSync(target).mode & 0o777).toBe(0o600);
    const again = await run("sessions", "export", key, "--out", target);
    expect([again.code, again.err.includes("it exists already")]).toEqual([2, true]);
  });

  test("set, reset and list what was archived", async () => {
    const old = (await daemon.runtime.session(key)) as Session;
    const set = await run(
      "sessions",
      "set",
      key,
      "--thinking",
      "high",
      "--queue",
      "queue",
      "--send",
      "deny",
      ...["--activation", "mention", "--tts", "off"],
      ...["--exec", "security=allowlist ask=on-miss"],
    );
    expect([set.code, set.out]).toEqual([0, expect.stringContaining("thinking high")]);
    expect((await daemon.runtime.session(key))?.settings).toMatchObject({
      thinking: "high",
      override: { queue: { mode: "queue" }, send: "deny", activation: "mention" },
      exec: { security: "allowlist", ask: "on-miss" },
      tts: "off",
    });
    const reset = await run("sessions", "reset", key);
    expect([reset.code, reset.err]).toEqual([0, ""]);
    const back = await run(
      "sessions",
      "set",
      key,
      "--thinking",
      "default",
      "--queue",
      "default",
      "--send",
      "inherit",
      ...["--activation", "default", "--tts", "default", "--exec", "default", "--json"],
    );
    const fresh = (await daemon.runtime.session(key)) as Session;
    expect(JSON.parse(back.out)).toMatchObject({ session: { sessionId: fresh.sessionId } });
    expect(reset.out).toBe(`a new session: ${fresh.sessionId}\n`);
    expect(fresh.settings).toMatchObject({ thinking: null, override: {}, exec: {}, tts: null });
    const [all, past] = await Promise.all([
      run("sessions", "list", "--all", "--json"),
      run("sessions", "export", key, "--id", old.sessionId),
    ]);
    const listed = JSON.parse(all.out) as Session[];
    expect(listed.map(({ sessionId }) => sessionId).sort()).toEqual([
      old.sessionId,
      fresh.sessionId,
    ]);
    expect(past.out.split("\n").length).toBeGreaterThan(2);
    expect(existsSync(fileOf(old))).toBe(true);
  });

  test("a usage error ends with 2 and says what to do", async () => {
    const [exec, nothing, level, odd] = await Promise.all([
      run("sessions", "set", key, "--exec", "security=all"),
      run("sessions", "set", key),
      run("sessions", "set", key, "--thinking", "hard"),
      run("sessions", "show", "no key"),
    ]);
    expect([exec.code, nothing.code, level.code, odd.code]).toEqual([2, 2, 2, 2]);
    expect(exec.err).toContain("security=deny|allowlist|full");
    expect(level.err).toContain("Allowed choices are");
    expect(odd.err).toContain("`earshot sessions` lists them");
    const completion = await run("completion", "bash");
    expect(completion.out).toMatch(/sessions"?\).*list show export set reset/);
  });
});

describe("the API", () => {
  test("refuses a key that is none, fields nobody knows, and sessions of other keys", async () => {
    const archived = (await daemon.runtime.sessions({ key, all: true, limit: 1 }))[0] as Session;
    const answers = await Promise.all([
      call("/api/sessions/main"),
      call(`/api/sessions/agent:main:main?id=${archived.sessionId}`),
      call(pathOf(), { method: "PATCH", body: { sessionKey: "agent:main:main" } }),
      call(pathOf(), { method: "PATCH", body: { thinking: "hard" } }),
      call("/api/sessions/agent:..%2F..:main", { method: "PATCH", body: { verbose: "on" } }),
      call("/api/sessions/agent:main:main/reset", { method: "POST" }),
      call("/api/sessions?limit=0"),
      fetch(`${daemon.base}/api/sessions`),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([400, 404, 400, 400, 400, 404, 400, 401]);
  });

  test("pages through sessions, and describes all of it", async () => {
    const first = await (await call("/api/sessions?all=1&limit=1")).json();
    const { sessions, next } = first as { sessions: Session[]; next: string };
    const rest = await (await call(`/api/sessions?all=1&limit=10&after=${next}`)).json();
    const others = (rest as { sessions: Session[]; next: null }).sessions;
    expect(new Set([...sessions, ...others].map(({ sessionId }) => sessionId)).size).toBe(
      1 + others.length,
    );
    expect(others.length).toBeGreaterThan(0);
    const { paths } = (await (await call("/api/openapi.json")).json()) as { paths: object };
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining([
        "/api/sessions",
        "/api/sessions/{key}",
        "/api/sessions/{key}/transcript",
        "/api/sessions/{key}/reset",
        "/api/sessions/{key}/compact",
      ]),
    );
    const compacted = await (await call(pathOf("/compact"), { method: "POST" })).json();
    expect(compacted).toEqual({ outcome: "empty" });
  });
});

test("a worker sums up a transcript that has grown too long, and the turn goes on", async () => {
  const folder = newFolder();
  const agents = { list: [{ id: "main", name: "earshot", default: true, contextTokens: 1_000 }] };
  writeFileSync(join(folder, "earshot.json5"), JSON.stringify({ agents }), { mode: 0o600 });
  const other = await startDaemon({
    stateDir: folder,
    port: 0,
    workers: 1,
    env: {},
    writeLog: () => undefined,
  });
  const chat = { id: "hall", kind: "group" } as const;
  const where = "agent:main:webhook:group:hall";
  for (let turn = 1; turn <= 3; turn += 1) {
    const message = { channel: "webhook", chat, id: `m${turn}`, author: { id: "ann" } };
    const text = "words ".repeat(300);
    await other.runtime.ingest("webhook", "default", [
      { type: "message", message: inboundSchema.parse({ ...message, text }) },
    ]);
    await until(async () => (await other.runtime.session(where))?.usage.turns === turn);
  }
  const { sessionId } = (await other.runtime.session(where)) as Session;
  await other.stop();
  const file = join(folder, "agents", "main", "sessions", `${sessionId}.jsonl`);
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  const roles = lines.map((line) => (JSON.parse(line) as { role: string }).role);
  expect(roles).toContain("summary");
  expect(roles.at(-1)).toBe("assistant");
});

test("the next start finds the session, and its index names it", async () => {
  const before = (await daemon.runtime.session(key)) as Session;
  await daemon.stop();
  const index = JSON.parse(readFileSync(join(folder, "index.json"), "utf8")) as {
    sessions: { sessionId: string; key: string }[];
  };
  expect(index.sessions.map((one) => one.sessionId)).toContain(before.sessionId);
  daemon = await start();
  expect(await daemon.runtime.session(key)).toEqual(before);
});
