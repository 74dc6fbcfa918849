/**
 * The daemon as a process: signals, exit codes, and the webchat across kill -9.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { ServerFrame } from "../../src/adapters/channels/webchat/protocol.ts";
import { openChat } from "../../src/daemon/cli/chat/client.ts";
import { announcement } from "../../src/daemon/cli/commands/start.ts";
import { findDaemon } from "../../src/daemon/cli/lib/api-client.ts";
import { runCommand } from "../support/built/command.ts";
import { builtMain } from "../support/built/files.ts";
import { newFolder } from "../support/daemon/folder.ts";
import { openPage } from "../support/daemon/page.ts";
import { rounds } from "../support/rounds.ts";

/** As `earshot` runs such a command for all tests. */
const bare = { env: { NO_COLOR: "1" } };
const hint = "repeat the signal to stop immediately";
const running = new Set<ChildProcess>();
afterEach(() => {
  for (const child of running) child.kill("SIGKILL");
});

interface Run {
  readonly child: ChildProcess;
  /** The line with the address; rejects with all output when the process ends first. */
  readonly listening: Promise<string>;
  readonly ended: Promise<number | NodeJS.Signals>;
  output(): { out: string; err: string };
  /** Resolves when it has said this on stderr; rejects with all output when it ends first. */
  says(words: string): Promise<void>;
}

function earshot(...args: string[]): Run {
  const env = { PATH: process.env.PATH, HOME: newFolder(), NO_COLOR: "1" };
  const child = spawn(process.execPath, [builtMain, ...args], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  let out = "";
  let err = "";
  const looking = new Set<() => void>();
  const listening = new Promise<string>((found, ended) => {
    child.stdout?.on("data", (data) => {
      out += String(data);
      const address = /http:\S+\/(?= \(for)/.exec(out)?.[0];
      if (address !== undefined) found(address);
    });
    child.stderr?.on("data", (data) => {
      err += String(data);
      for (const look of looking) look();
    });
    child.on("close", () => ended(new Error(`it ended: ${out}${err}`)));
  });
  listening.catch(() => undefined);
  const ended = once(child, "close").then(([code, signal]) => {
    running.delete(child);
    return (code ?? signal) as number | NodeJS.Signals;
  });
  const says = (words: string) =>
    new Promise<void>((found, failed) => {
      const look = () => {
        if (err.includes(words)) found();
      };
      looking.add(look);
      look();
      void ended.then(() => failed(new Error(`it ended before it said "${words}": ${out}${err}`)));
    });
  return { child, listening, ended, output: () => ({ out, err }), says };
}

async function baseAndToken(stateDir: string): Promise<[string, string]> {
  const found = await findDaemon(stateDir);
  if (found === null) throw new Error("no daemon runs there");
  return [found.base, found.token];
}

const started = (stateDir: string, workers = "0") =>
  earshot("start", "--state-dir", stateDir, "--port", "0", "--workers", workers);

/** SIGTERM ends an idle daemon with 0, its address file gone and the directory free. */
async function endsQuietly(stateDir: string, { child, listening, ended, output }: Run) {
  expect(await listening).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
  const [, token] = await baseAndToken(stateDir);
  // Nobody sits at a terminal: what is printed may be kept where others read it.
  expect(output().out).toContain(`earshot status --state-dir ${stateDir}`);
  expect(Object.values(output()).join()).not.toContain(token);
  child.kill("SIGTERM");
  expect(await ended).toBe(0);
  expect(await findDaemon(stateDir)).toBeNull();
  const events = output()
    .err.trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).msg);
  expect(events).toEqual(expect.arrayContaining(["daemon.stopping", "daemon.stopped"]));
}

test("the page's address is shown with its token only at a terminal", () => {
  const base = "http://127.0.0.1:1";
  const at = { base, page: `${base}/#token=t0`, stateDir: "/state" };
  expect(announcement(at, true)).toMatch(/^earshot \S+: http:\S+\/#token=t0$/);
  expect(announcement(at, false)).not.toContain("t0");
});

/** The first signal waits for a turn that hangs, the second ends the process at once. */
async function secondSignal(stateDir: string, { child, ended, says }: Run): Promise<void> {
  const page = await openPage(...(await baseAndToken(stateDir)));
  page.say("hello");
  await page.wait("turn", ({ state }) => state === "start");
  child.kill("SIGTERM");
  await says(hint);
  expect(child.exitCode).toBeNull();
  child.kill("SIGTERM");
  expect(await ended).toBe("SIGTERM");
}

describe("signals", () => {
  test("SIGTERM lets a running turn say its answer, takes nothing new, leaves nothing open; a second one ends it", async () => {
    const stateDir = newFolder();
    // Long enough for a slow machine to ask in between, shorter than the daemon waits.
    const steps = [{ text: "Let me see. " }, { waitMs: 6_000 }, { text: "Done." }];
    const config = {
      agents: { list: [{ id: "main", driver: { kind: "scripted", runs: [{ steps }] } }] },
    };
    writeFileSync(join(stateDir, "earshot.json5"), JSON.stringify(config));
    const first = started(stateDir);
    await first.listening;
    const [base, token] = await baseAndToken(stateDir);
    const page = await openPage(base, token);
    page.say("hello");
    await page.wait("turn", ({ state }) => state === "start");
    first.child.kill("SIGTERM");
    await first.says(hint);
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const body = JSON.stringify({
      id: "late",
      chat: { id: "d", kind: "direct" },
      author: { id: "a" },
      text: "x",
    });
    const refused = await fetch(`${base}/api/inbound`, { method: "POST", headers, body });
    expect(refused.status).toBe(503);
    expect((await page.wait("said")).text).toBe("Let me see. Done.");
    expect(await first.ended).toBe(0);

    const hanging = { kind: "scripted", runs: [{ steps: [{ hang: true }] }] };
    const next = { agents: { list: [{ id: "main", driver: hanging }] } };
    writeFileSync(join(stateDir, "earshot.json5"), JSON.stringify(next));
    const second = started(stateDir);
    await second.listening;
    const again = await baseAndToken(stateDir);
    const get = async (path: string) =>
      (await fetch(again[0] + path, { headers: { authorization: `Bearer ${again[1]}` } })).json();
    expect(await get("/api/outbox")).toEqual({ outbox: [] });
    expect(await get("/api/status")).toMatchObject({ turns: { running: 0, waiting: 0 } });
    await secondSignal(stateDir, second);
  });

  test("the second signal ends the process at once, also while it cannot handle any", async () => {
    const stateDir = newFolder();
    const agent = join(stateDir, "busy.mjs");
    // Busy from the first signal on, as a thread is that parses or renders something large.
    writeFileSync(
      agent,
      `process.on("SIGTERM", () => setImmediate(() => { for (;;); }));
       export default async function* () {}`,
    );
    const config = {
      agents: { list: [{ id: "main", driver: { kind: "module", module: agent } }] },
    };
    writeFileSync(join(stateDir, "earshot.json5"), JSON.stringify(config));
    const first = started(stateDir);
    await first.listening;
    const page = await openPage(...(await baseAndToken(stateDir)));
    page.say("hello");
    await page.wait("turn", ({ state }) => state === "end");
    first.child.kill("SIGTERM");
    await first.says(hint);
    await new Promise((done) => setTimeout(done, 500));
    first.child.kill("SIGTERM");
    expect(await first.ended).toBe("SIGTERM");
  });
});

test("with --log-format json every line is JSON, also the reason why it does not start", async () => {
  const stateDir = newFolder();
  writeFileSync(join(stateDir, "earshot.json5"), "{ engagment: {} }");
  const port = ["--port", "0", "--log-format", "json"];
  const broken = earshot("start", "--state-dir", stateDir, ...port);
  expect(await broken.ended).toBe(2);
  const [line, ...rest] = broken.output().err.trimEnd().split("\n");
  expect(rest).toEqual([]);
  expect(JSON.parse(line ?? "")).toMatchObject({
    level: "fatal",
    msg: "daemon.failed",
    code: "EAR_CONFIG_UNKNOWN_KEY",
  });
});

describe("exit codes", () => {
  test("usage errors and invalid input end with 2 and one line that says what to do", async () => {
    const stateDir = newFolder();
    writeFileSync(join(stateDir, "earshot.json5"), "{ engagment: {} }");
    // That a process ends by it shows above.
    const broken = await runCommand(["start", "--state-dir", stateDir, "--port", "0"], bare);
    expect([broken.code, broken.out]).toEqual([2, ""]);
    expect(broken.err.trim().split("\n")).toHaveLength(1);
    expect(broken.err).toContain("engagement");
    const unknown = await runCommand(["strat"], bare);
    const port = await runCommand(["start", "--port", "70000"], bare);
    const nobody = await runCommand(["status", "--state-dir", newFolder()], bare);
    expect([unknown.code, port.code, nobody.code]).toEqual([2, 2, 2]);
    expect(unknown.err).toContain("start");
    expect(nobody.err).toContain("earshot start");
    expect(nobody.err).not.toContain(" at ");
  });

  test("help and version end with 0", async () => {
    const version = earshot("--version");
    expect(await version.ended).toBe(0);
    expect(version.output().out).toMatch(/^\d+\.\d+\.\d+\n$/);
    for (const args of [["--help"], ["outbox", "--help"]]) {
      const { code, out } = await runCommand(args, bare);
      expect(code).toBe(0);
      expect(out).toContain("xamples");
    }
  });
});

/** Of daemons that start at once on the directory of a killed one, one is there, and the others say why not. */
async function oneOfSeveral(stateDir: string): Promise<void> {
  const runs = Array.from({ length: rounds(2, 3) }, () => started(stateDir));
  const ways = await Promise.all(
    runs.map((run) =>
      Promise.race([
        run.listening.then(
          () => "listens" as const,
          () => run.ended,
        ),
        run.ended,
      ]),
    ),
  );
  expect(ways.toSorted()).toEqual([...runs.slice(1).map(() => 2), "listens"]);
  const winner = runs[ways.indexOf("listens")] as Run;
  for (const run of runs) {
    if (run === winner) continue;
    expect(run.output().err).toContain(`another earshot is running on it (pid ${winner.child.pid}`);
  }
  const [base] = await baseAndToken(stateDir);
  expect((await fetch(`${base}/readyz`)).status).toBe(200);
  await endsQuietly(stateDir, winner);
}

test("a chat across kill -9 keeps every message once, and of daemons that start next one is there", async () => {
  const stateDir = newFolder();
  const workers = String(rounds(0, 1));
  let daemon = started(stateDir, workers);
  await daemon.listening;
  const frames: ServerFrame[] = [];
  const chat = openChat(
    () => findDaemon(stateDir).catch(() => null),
    {
      frame: (frame) => void frames.push(frame),
      connected: () => undefined,
      failed: (error) => {
        throw error;
      },
    },
    0,
  );
  const of = <Type extends ServerFrame["type"]>(type: Type) =>
    frames.filter((frame): frame is Extract<ServerFrame, { type: Type }> => frame.type === type);
  const ids: string[] = [];
  for (let round = 0; round < rounds(1, 2); round += 1) {
    for (let each = 0; each < 5; each += 1) {
      ids.push(chat.say(`message ${round}.${each}`));
      await new Promise((go) => setTimeout(go, 40));
    }
    daemon.child.kill("SIGKILL");
    await daemon.ended;
    ids.push(chat.say(`while it was gone ${round}`));
    daemon = started(stateDir, workers);
    await daemon.listening;
  }
  const patient = { timeout: 60_000, interval: 50 };
  await expect.poll(() => chat.unsent(), patient).toBe(0);
  const taken = () => of("taken").map(({ id }) => id);
  await expect.poll(() => new Set(taken()).size, patient).toBe(ids.length);
  expect(taken()).toHaveLength(ids.length);
  expect([...taken()].sort()).toEqual([...ids].sort());
  const decided = () => new Set(of("decided").map(({ id }) => id));
  await expect.poll(() => ids.filter((id) => !decided().has(id)), patient).toEqual([]);
  // The last message is answered, and no part of an answer was shown twice.
  const last = () => of("taken").find(({ id }) => id === ids.at(-1))?.n ?? Number.MAX_SAFE_INTEGER;
  await expect.poll(() => of("said").some(({ n }) => n > last()), patient).toBe(true);
  const said = of("said").map(({ id }) => id);
  expect(new Set(said).size).toBe(said.length);
  chat.close();
  daemon.child.kill("SIGKILL");
  await daemon.ended;
  await oneOfSeveral(stateDir);
});
