/**
 * A36: words that would forge a log line or drive a terminal, in everything that a room, a platform
 * or an agent can put into words, and everything that prints them.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Daemon, startDaemon } from "../../src/daemon/daemon.ts";
import { createLog } from "../../src/daemon/observability/log.ts";
import { builtMain } from "../support/built/files.ts";
import { childFlags } from "../support/child-flags.ts";
import { newFolder } from "../support/daemon/folder.ts";
import { earshot } from "../support/runtime/commands.ts";
import { type ModelServer, startModelServer } from "../support/servers/openai.ts";

/** A new line, a cleared screen, a clipboard, a C1 introducer, turned directions, half a letter. */
const evil =
  '\n\r{"level":"fatal"}\u001b[2J\u001b]52;c;aGk=\u0007\u009b31m\u202eevil\u2066\u200f\u0008\ud83d';
// biome-ignore lint/suspicious/noControlCharactersInRegex: looking for them is the point
const obeyed = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\p{Bidi_Control}\ufffe]/u;

const stateDir = newFolder();
const log: string[] = [];
let model: ModelServer;
let daemon: Daemon;
let inspected = "";
let stopInspecting: () => Promise<void>;

function program(...args: string[]) {
  const env = { PATH: process.env.PATH, EARSHOT_STATE_DIR: stateDir, NO_COLOR: "1" };
  return spawn(process.execPath, [...childFlags, builtMain, ...args], { env });
}

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await holds()); tries += 1) {
    if (tries === 1_200) throw new Error(`waited in vain for ${what}: ${inspected.slice(-1_000)}`);
    await new Promise((go) => setTimeout(go, 50));
  }
}

async function post(message: object): Promise<void> {
  const answer = await fetch(`${daemon.base}/api/inbound?wait=decision`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${daemon.token}` },
    body: JSON.stringify(message),
  });
  expect(await answer.text()).toContain("decision");
  expect(answer.status).toBe(200);
}

const author = { id: `a${evil}`, name: `Ann${evil}`, username: `ann${evil}` };
const group = { id: `g${evil}`, kind: "group", title: `Room${evil}` };

beforeAll(async () => {
  model = await startModelServer();
  const driver = {
    kind: "model",
    provider: "openai-compatible",
    model: "m",
    baseUrl: model.baseUrl,
    maxRetries: 0,
  };
  writeFileSync(
    join(stateDir, "earshot.json5"),
    JSON.stringify({
      agents: { defaults: { driver } },
      access: { groupPolicy: "open" },
      messages: { inbound: { debounceMs: 0 } },
      log: { level: "trace", showText: true },
    }),
    { mode: 0o600 },
  );
  daemon = await startDaemon({
    stateDir,
    port: 0,
    workers: 0,
    logLevel: "trace",
    env: {},
    writeLog: (line) => log.push(line),
  });
  const watching = program("inspect", "--deltas");
  watching.stdout.on("data", (part) => {
    inspected += String(part);
  });
  let ready = "";
  watching.stderr.on("data", (part) => {
    ready += String(part);
  });
  stopInspecting = async () => {
    const ended = once(watching, "exit");
    watching.kill("SIGTERM");
    await ended;
  };
  await until("inspect", () => ready.includes("watching"));
  model.reply({ say: [`Hello${evil}`] }, { status: 500, body: `broken${evil}` });
  const attachments = [{ id: `f${evil}`, kind: "file", name: `x${evil}`, mime: `t${evil}` }];
  const replyTo = { id: `r${evil}`, authorId: `b${evil}`, authorName: `B${evil}`, text: evil };
  const long = evil.repeat(1_000);
  await post({ chat: group, id: `m1${evil}`, author, text: long, replyTo, attachments });
  const mentions = [{ id: `we${evil}`, name: evil, isSelf: true }];
  await post({ chat: group, id: "m2", author, text: `hi${evil}`, mentions, attachments });
  await until("an answer", () => model.requests.length > 0 && inspected.includes("[send]"));
  await post({ chat: group, id: "m3", author, text: `again${evil}`, mentions });
  await until("a failure", () => inspected.includes("failed"));
});
afterAll(async () => {
  await stopInspecting?.();
  await daemon?.stop({ drainMs: 0 });
  await model?.close();
});

/** Nothing in a text that a terminal obeys; and something is in it. */
function harmless(name: string, text: string): void {
  expect([name, text.length > 0]).toEqual([name, true]);
  const found = obeyed.exec(text);
  const around = found === null ? "" : text.slice(Math.max(0, found.index - 60), found.index + 9);
  expect([name, JSON.stringify(around)]).toEqual([name, '""']);
}

describe("A36: nothing that a terminal obeys is printed by", () => {
  test("the log, and each of its lines is one", () => {
    expect(log.length).toBeGreaterThan(3);
    for (const line of log) {
      expect(line.endsWith("\n")).toBe(true);
      expect(line.slice(0, -1)).not.toContain("\n");
      expect(JSON.parse(line)).toMatchObject({ level: expect.stringMatching(/^[a-z]+$/) });
      harmless("log", line);
    }
    expect(log.filter((line) => JSON.parse(line).level === "fatal")).toEqual([]);
    expect(log.some((line) => line.includes("evil"))).toBe(true);
  });

  test("inspect", () => {
    harmless("inspect", inspected);
    expect(inspected).toContain("evil");
    // Every line starts with a time or is a row of the one before, set in.
    for (const line of inspected.split("\n").filter((one) => one !== ""))
      expect(line).toMatch(/^(\d\d:\d\d:\d\d\.\d{3} | {2})/);
  });

  test("the commands, for people and for programs", async () => {
    const { sessions } = (await (
      await fetch(`${daemon.base}/api/sessions`, {
        headers: { authorization: `Bearer ${daemon.token}` },
      })
    ).json()) as { sessions: { key: string }[] };
    const key = sessions.map((one) => one.key).find((one) => one.includes("group")) ?? "";
    const message = JSON.stringify({ channel: "webhook", chat: group, author, text: evil });
    const scenario = join(newFolder(), "evil.jsonl");
    writeFileSync(scenario, evilScenario());
    for (const args of [
      ["why", `m1${evil}`],
      ["why", "m2"],
      ["why", "m3", "--json"],
      ["why", `none${evil}`],
      ["sessions"],
      ["sessions", "--json"],
      ["sessions", "show", key],
      ["sessions", "show", key, "--json"],
      ["sessions", "show", `none${evil}`],
      ["outbox"],
      ["outbox", "--json"],
      ["status"],
      ["status", "--json"],
      ["channels"],
      ["channels", "--json"],
      ["sessions", "list", "--heard"],
      ["inspect", "--decision", evil],
      ["outbox", "resend", `none${evil}`],
      ["outbox", "--state", "sent,dead,in-doubt,expired"],
      ["doctor", "--offline"],
      ["doctor", "--offline", "--json"],
      ["doctor", "--offline", "--config", evilConfig()],
      ["doctor", "--offline", "--config", `/none${evil}`],
      ["record", "--conversation", `none${evil}`],
      ["record", "--since", evil],
      ["record"],
      ["record", "--redact"],
      ["route", message],
      ["route", message, "--json"],
      ["route", `{${evil}`],
      ["route", JSON.stringify({ [evil]: evil })],
      ["config", "show", evil],
      ["config", "check", "--config", `/none${evil}`],
      ["replay", scenario],
      ["replay", scenario, "--json", "--prompts"],
      ["replay", `/none${evil}`],
      ["replay", longLine()],
    ]) {
      const { out, err } = await earshot(args, { EARSHOT_STATE_DIR: stateDir, NO_COLOR: "1" });
      harmless(args.slice(0, 2).join(" "), out + err);
      expect([args[0], err.length < 4_096]).toEqual([args[0], true]);
      if (args.includes("--json") && out !== "")
        for (const line of args[0] === "replay" ? out.trim().split("\n") : [out])
          expect(() => JSON.parse(line)).not.toThrow();
    }
  });

  test("the log at a terminal, its own colours aside", async () => {
    let shown = "";
    const { log: send } = await createLog({
      level: "trace",
      pretty: true,
      write: (line) => {
        shown += line;
      },
    });
    send("warn", "send", {
      [evil]: evil,
      list: [evil, { [evil]: evil }],
      long: evil.repeat(9_999),
    });
    send("error", "api.failed", { error: new Error(evil) });
    expect(shown.trimEnd().split("\n")).toHaveLength(2);
    expect(shown.length).toBeLessThan(20_000);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: our own colours
    harmless("the pretty log", shown.replaceAll(/\u001b\[\d+m/g, ""));
  });

  test("the event stream and the metrics, as curl shows them", async () => {
    const headers = { authorization: `Bearer ${daemon.token}` };
    const stop = new AbortController();
    const answer = await fetch(`${daemon.base}/api/events`, { headers, signal: stop.signal });
    // An author that the agent has not answered, so that no turn meets the tests that follow.
    const other = { ...author, id: `c${evil}` };
    await post({ chat: group, id: `m4${evil}`, author: other, text: evil });
    let reported = "";
    for await (const part of answer.body as ReadableStream<Uint8Array>) {
      reported += new TextDecoder().decode(part);
      if (reported.includes("m4")) break;
    }
    stop.abort();
    harmless("the event stream", reported);
    const lines = reported.split("\n").filter((line) => line.startsWith("data: "));
    expect(
      lines.map((line) => JSON.parse(line.slice(6))).some(({ id }) => id === `m4${evil}`),
    ).toBe(true);
    const metrics = await (await fetch(`${daemon.base}/metrics`)).text();
    harmless("the metrics", metrics);
    expect(metrics).not.toContain("evil");
  });

  test("the answer to a message of a megabyte, which is refused", async () => {
    const answer = await fetch(`${daemon.base}/api/inbound`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${daemon.token}` },
      body: JSON.stringify({ chat: group, id: "m5", author, text: evil.repeat(20_000) }),
    });
    expect([400, 413]).toContain(answer.status);
    const text = await answer.text();
    harmless("the refusal", text);
    expect(text.length).toBeLessThan(1_000);
  });

  test("a chat with an agent that writes such things", async () => {
    model.reply({ say: [`Well${evil}`] });
    const chat = program("chat");
    let out = "";
    chat.stdout.on("data", (part) => {
      out += String(part);
    });
    chat.stdin.end("hello\n");
    await once(chat, "exit");
    harmless("chat", out);
    expect(out).toContain("evil");
  });
});

/** A config whose names and values are such words. */
function evilConfig(): string {
  const path = join(newFolder(), "evil.json5");
  const account = { [`acc${evil}`]: { token: evil } };
  const config = { channels: { telegram: { accounts: account } }, [`sec${evil}`]: evil };
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
  return path;
}

/** A scenario with a line of more than a megabyte. */
function longLine(): string {
  const path = join(newFolder(), "long.jsonl");
  const lines = [{ agents: { list: [{ id: "main", name: "scout" }] } }];
  const said = { t: 0, in: { id: "m1", chat: group, author, text: evil.repeat(25_000) } };
  writeFileSync(path, [...lines, said].map((line) => JSON.stringify(line)).join("\n"));
  return path;
}

function evilScenario(): string {
  const lines = [
    { agents: { list: [{ id: "main", name: "scout" }] } },
    { t: 0, in: { id: `m1${evil}`, chat: group, author, text: `scout, look ${evil}` } },
    { t: 100, in: { id: "m2", chat: group, author, text: evil, replyTo: { id: evil } } },
  ];
  return lines.map((line) => JSON.stringify(line)).join("\n");
}
