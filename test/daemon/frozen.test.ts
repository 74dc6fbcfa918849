/**
 * A daemon that stands still for some seconds (SIGSTOP, as a laptop or a virtual machine does it) and
 * goes on: its hosts, its turns and its answers are as if no time had passed.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { findDaemon } from "../../src/daemon/cli/lib/api-client.ts";
import { builtMain } from "../support/built/files.ts";
import { childFlags } from "../support/child-flags.ts";
import { newFolder } from "../support/daemon/folder.ts";
import { rounds } from "../support/rounds.ts";

/** For this long an agent may say nothing: a busy machine lets none wait as long. */
const idleMs = 6_000;
const patience = { timeout: 60_000, interval: 100 };
const running = new Set<ChildProcess>();
afterEach(() => {
  for (const child of running) child.kill("SIGKILL");
  running.clear();
});

/** Says a part every 300 ms for three seconds, and which process it is. */
const talker = `echo $$ >> "$0"; n=0; while [ $n -lt 10 ]; do n=$((n+1));
printf '{"type":"text","text":"part %s. "}\\n' $n; sleep 0.3; done`;
/** Answers, except to a message that asks it to hang, which holds its thread without keeping a core busy. */
const looper = `export default async function* (turn) {
  if (turn.said.includes("hang")) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  yield { type: "text", text: "fine" };
}`;

interface Status {
  readonly hosts: readonly { id: number; epoch: number; restarts: number; state: string }[];
  readonly turns: { running: number; waiting: number };
  readonly problem: string | null;
}

/** `before`: where another daemon on the same directory answers. */
async function start(stateDir = newFolder(), before = "", workers = 2) {
  const module = join(stateDir, "looper.mjs");
  writeFileSync(module, looper);
  const agents = [
    {
      id: "main",
      default: true,
      driver: {
        kind: "command",
        command: "/bin/sh",
        args: ["-c", talker, join(stateDir, "pids")],
        tools: false,
      },
    },
    { id: "looper", driver: { kind: "module", module } },
  ];
  const config = {
    agents: { list: agents },
    bindings: [
      { agentId: "looper", match: { channel: "webhook", peer: { kind: "direct", id: "loop" } } },
    ],
    session: { dmScope: "per-peer" },
    turn: { idleMs },
    messages: { inbound: { debounceMs: 20 } },
  };
  writeFileSync(join(stateDir, "earshot.json5"), JSON.stringify(config));
  const args = ["start", "--state-dir", stateDir, "--port", "0", "--workers", String(workers)];
  const env = { PATH: process.env.PATH, HOME: stateDir, NO_COLOR: "1" };
  const child = spawn(
    process.execPath,
    [...childFlags, builtMain, ...args, "--log-format", "json"],
    { env },
  );
  running.add(child);
  let log = "";
  child.stderr.on("data", (data) => {
    log += String(data);
  });
  await expect
    .poll(async () => (await findDaemon(stateDir))?.base ?? before, patience)
    .not.toBe(before);
  const { base, token } = (await findDaemon(stateDir)) ?? { base: "", token: "" };
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const get = async <Answer>(path: string) =>
    (await (await fetch(base + path, { headers })).json()) as Answer;
  await expect.poll(async () => (await fetch(`${base}/readyz`)).status, patience).toBe(200);
  return {
    child,
    stateDir,
    base,
    ready: async () =>
      (await (await fetch(`${base}/readyz`)).json()) as { error?: { message: string } },
    logged: (event: string) => log.split("\n").filter((line) => line.includes(`"${event}"`)),
    status: () => get<Status>("/api/status"),
    outcomeOf: async (id: string) => {
      const { why } = await get<{ why?: { fate?: { outcome?: string } }[] }>(`/api/why/${id}`);
      return why?.[0]?.fate?.outcome ?? null;
    },
    async say(id: string, from: string, text: string, status = 200) {
      const body = { id, chat: { id: from, kind: "direct" }, author: { id: from }, text };
      const url = `${base}/api/inbound`;
      const sent = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
      expect(sent.status).toBe(status);
    },
    /** With its agents, as all of a machine. They go on a moment later. */
    async freeze(frozenMs: number, agents: readonly number[] = []) {
      child.kill("SIGSTOP");
      for (const pid of agents) process.kill(-pid, "SIGSTOP");
      await new Promise((done) => setTimeout(done, frozenMs));
      child.kill("SIGCONT");
      await new Promise((done) => setTimeout(done, 300));
      for (const pid of agents) goOn(pid);
    },
    agents() {
      const file = join(stateDir, "pids");
      if (!existsSync(file)) return [];
      return readFileSync(file, "utf8").trim().split("\n").map(Number);
    },
  };
}

/** One that had ended before it was stopped is gone once its daemon goes on. */
function goOn(pid: number): void {
  try {
    process.kill(-pid, "SIGCONT");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

test("a process that stood still for longer than an agent may keeps its hosts and turns, but not one that hangs", async () => {
  const daemon = await start();
  const before = (await daemon.status()).hosts.map(({ id, epoch }) => ({ id, epoch }));
  const ids = Array.from({ length: rounds(4, 8) }, (_, n) => `m${n}`);
  for (const id of ids) await daemon.say(id, `person-${id}`, "tell me");
  await expect.poll(async () => (await daemon.status()).turns.running, patience).toBeGreaterThan(2);
  const { turns } = await daemon.status();
  await expect.poll(() => daemon.agents().length, patience).toBeGreaterThanOrEqual(turns.running);
  await daemon.freeze(idleMs + 1_000, daemon.agents());
  const status = await daemon.status();
  expect(status.hosts).toMatchObject(before);
  for (const id of ids) await expect.poll(() => daemon.outcomeOf(id), patience).toBe("replied");
  expect((await daemon.status()).hosts).toMatchObject(before);
  expect(daemon.logged("host.lost")).toEqual([]);
  await replacesHanging(daemon);
});

/** A host that hangs is replaced, also in a process that stood still meanwhile. */
async function replacesHanging(daemon: Awaited<ReturnType<typeof start>>): Promise<void> {
  const before = (await daemon.status()).hosts.map(({ epoch }) => epoch);
  await daemon.say("hang", "loop", "please hang");
  await expect.poll(async () => (await daemon.status()).turns.running, patience).toBe(1);
  await daemon.freeze(3_000);
  await expect.poll(() => daemon.logged("host.lost").length, patience).toBeGreaterThan(0);
  const replaced = async () =>
    (await daemon.status()).hosts.filter(({ epoch }) => !before.includes(epoch)).length;
  await expect.poll(replaced, patience).toBe(1);
}

test("a daemon that goes on after another one has taken its directory stores nothing more", async () => {
  const old = await start(newFolder(), "", rounds(0, 2));
  await old.say("m1", "ann", "tell me");
  await expect.poll(async () => (await old.status()).turns.running, patience).toBe(1);
  old.child.kill("SIGSTOP");
  // As on a disk that two machines share: the other one cannot see that the owner still exists.
  rmSync(join(old.stateDir, "lock"));
  const young = await start(old.stateDir, old.base, rounds(0, 2));
  old.child.kill("SIGCONT");
  await old.say("m2", "ann", "and now", 503);
  expect((await old.ready()).error?.message).toContain("another earshot has started");
  expect((await old.status()).problem).toContain("another earshot has started");
  await young.say("m2", "ann", "and now");
  for (const id of ["m1", "m2"])
    await expect.poll(() => young.outcomeOf(id), patience).toBe("replied");
});
