/**
 * What the commands print: stream lines that no room text can break, and tables, files and exit
 * codes of the commands against a running daemon.
 */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { table } from "../../../../src/daemon/cli/lib/command.ts";
import { renderLine } from "../../../../src/daemon/cli/output/event-line.ts";
import { type Daemon, startDaemon } from "../../../../src/daemon/daemon.ts";
import { safeJson } from "../../../../src/daemon/events/safe-json.ts";
import { cleanField } from "../../../../src/daemon/observability/log.ts";
import type { DecisionLine, SendLine } from "../../../../src/domain/stream.ts";
import { runCommand } from "../../../support/built/command.ts";
import { builtMain } from "../../../support/built/files.ts";
import { newFolder } from "../../../support/daemon/folder.ts";
import { property } from "../../../support/property.ts";

/** What a terminal might obey, colours of our own aside. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: looking for them is the point
const unsafe = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
const hostile = fc.string({
  unit: fc.constantFrom("a", "\n", "\r", "\u001b[2J", "\u009b", "\u202e", "é"),
});

describe("a line of the stream", () => {
  const decision = (text: string): DecisionLine => ({
    t: 0,
    id: text,
    key: `agent:main:${text}`,
    decision: "engage",
    rule: "mention",
    credit: "none",
    author: text,
  });
  const send = (text: string): SendLine => ({
    t: 0,
    out: "send",
    key: text,
    channel: "telegram",
    account: "default",
    chat: text,
    thread: null,
    replyTo: null,
    text,
    id: text,
    status: "sent",
  });

  property([hostile])("is one harmless line, whatever the room says", (text) => {
    for (const line of [decision(text), send(text)]) {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: our own colours
      const shown = renderLine(line, true).replaceAll(/\u001b\[\d+m/g, "");
      expect(shown).not.toMatch(unsafe);
    }
  });

  property([hostile])("as JSON parses back to the same, and is harmless, too", (text) => {
    const json = safeJson(send(text));
    expect(json).not.toMatch(unsafe);
    expect(JSON.parse(json)).toEqual(send(text));
  });

  test("says decision, rule, who and which message", () => {
    const shown = renderLine(decision("m1"), true);
    for (const part of ["[engage]", "mention", "#m1", "agent:main:m1"])
      expect(shown).toContain(part);
  });
});

describe("a log field", () => {
  property([hostile])("is one harmless line", (text) => {
    expect(JSON.stringify(cleanField({ [text]: [text, { text }] }, []))).not.toMatch(unsafe);
  });

  test("shows no secret, by name or by value, however deep", () => {
    const secret = "123456:canary-of-a-token";
    const cause = new Error(`https://api.example/bot${secret}/getMe`);
    const fields = { botToken: "other", nested: { list: [{ authorization: "Bearer x" }] }, cause };
    const shown = JSON.stringify(cleanField(fields, [secret]));
    for (const value of ["canary", "other", "Bearer"]) expect(shown).not.toContain(value);
    expect(shown).toContain("https://api.example/bot[redacted]/getMe");
  });

  test("is cut when it is long, and ends when it is deep", () => {
    const deep: Record<string, unknown> = {};
    deep.self = deep;
    expect(
      JSON.stringify(cleanField({ deep, long: "x".repeat(1_000_000) }, [])).length,
    ).toBeLessThan(3_000);
  });
});

test("a table cell cannot start a line of its own", () => {
  const shown = table([
    ["name", "state"],
    ["a\nb\u001b[2J", "ok"],
  ]);
  expect(shown.split("\n")).toHaveLength(2);
  expect(shown.replaceAll("\n", "")).not.toMatch(unsafe);
});

test("a table that is wider than the screen wraps its last column only", () => {
  const rows = [
    ["name", "what it says"],
    ["日本", "a sentence that is longer than there is room for"],
    ["a-name-to-be-copied", "short"],
  ];
  expect(table(rows, 45)).toBe(
    [
      "name                 what it says",
      "日本                 a sentence that is",
      "                     longer than there is",
      "                     room for",
      "a-name-to-be-copied  short",
    ].join("\n"),
  );
  expect(table(rows, 10_000).split("\n")).toHaveLength(3);
  // Rows of a few letters would be torn apart once more by the screen.
  expect(table(rows, 30)).toBe(table(rows, 10_000));
});

describe("commands", () => {
  const stateDir = newFolder();
  let daemon: Daemon;
  beforeAll(async () => {
    daemon = await startDaemon({
      stateDir,
      port: 0,
      workers: 0,
      env: {},
      writeLog: () => undefined,
    });
  });
  afterAll(() => daemon.stop());

  const here = { HOME: stateDir, EARSHOT_STATE_DIR: stateDir };
  const run = (args: readonly string[], more: Record<string, string> = {}) =>
    runCommand(args, { env: { ...here, ...more } });
  /** As a process of its own, which the end of its input and of its work ends. */
  const runProcess = (args: readonly string[], input: string) =>
    new Promise<{ code: number; out: string; err: string }>((done) => {
      const env = { PATH: process.env.PATH, ...here };
      const whole = [builtMain, ...args];
      const child = execFile(process.execPath, whole, { env }, (error, out, err) =>
        done({ code: error === null ? 0 : Number(error.code), out, err }),
      );
      child.stdin?.end(input);
    });

  test("status, sessions, channels and outbox answer, for people and for programs", async () => {
    const [status, sessions, channels, outbox] = await Promise.all([
      run(["status"]),
      run(["sessions", "--json"]),
      run(["channels", "--json"]),
      run(["outbox"]),
    ]);
    expect(status.code).toBe(0);
    expect(status.out).toContain(daemon.page);
    expect(status.out).not.toContain("\u001b");
    expect(JSON.parse(sessions.out)).toEqual([]);
    const ids = (JSON.parse(channels.out) as { id: string }[]).map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(["telegram", "webchat", "terminal", "webhook"]));
    expect(outbox.out).toBe("no parts\n");
  });

  test("init writes a config that is fine, once; doctor and config check agree", async () => {
    const path = join(newFolder(), "earshot.json5");
    const wrote = await run(["init", "--yes", "--config", path]);
    expect(wrote.code).toBe(0);
    expect(wrote.out).toContain(`next: earshot start --config ${path}`);
    const elsewhere = await run(["init", "--yes", "--state-dir", join(newFolder(), "state")]);
    expect(elsewhere.out).toMatch(/next: earshot start --state-dir \/.+state\n/);
    expect(readFileSync(path, "utf8")).toContain("// The agent reacts to this name");
    const [again, check, doctor] = await Promise.all([
      run(["init", "--yes", "--config", path]),
      run(["config", "check", "--config", path]),
      run(["doctor", "--config", path, "--json"]),
    ]);
    expect([again.code, check.code, doctor.code]).toEqual([2, 0, 0]);
    const findings = JSON.parse(doctor.out) as { check: string; says: string }[];
    expect(findings.find(({ check: name }) => name === "port")?.says).toContain(daemon.base);
  });

  test("doctor looks at the port that start would take", async () => {
    const state = join(newFolder(), "state");
    const args = ["doctor", "--offline", "--json", "--state-dir", state];
    const [free, odd] = await Promise.all([run(args, { PORT: "0" }), run(args, { PORT: "door" })]);
    expect(free.out).toContain("127.0.0.1:0 is free");
    expect(odd.out).toContain('PORT is \\"door\\"');
    expect([free.code, odd.code]).toEqual([0, 1]);
  });

  test("chat through a pipe says a line and prints the answer without colour", async () => {
    const { code, out: said } = await runProcess(["chat"], "what can you do?\n");
    expect(code).toBe(0);
    expect(said).toContain("earshot: ");
    expect(said).toContain("built-in guide");
    expect(said).not.toContain("\u001b");
  });
});
