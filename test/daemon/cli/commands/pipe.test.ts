/** Commands whose output nobody reads to its end (`| head`): they end, and it is no error. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Daemon, startDaemon } from "../../../../src/daemon/daemon.ts";
import { builtMain } from "../../../support/built/files.ts";
import { childFlags } from "../../../support/child-flags.ts";
import { newFolder } from "../../../support/daemon/folder.ts";

const stateDir = newFolder();
let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon({ stateDir, port: 0, workers: 0, env: {}, logLevel: "fatal" });
});
afterAll(() => daemon.stop());

const slow = 60_000;
let said = 0;

/** A line in a room of its own: it engages. */
function line(): object {
  said += 1;
  const chat = { id: `room-${said}`, kind: "group" };
  return { channel: "webhook", chat, id: `m${said}`, author: { id: "ann" }, text: "hello" };
}

/** What two people say to each other in one room, whose name ends with `more`: nearly all of it is observed. */
const talk = (length: number, more: string): string[] =>
  Array.from({ length }, (_, n) => {
    const chat = { id: `talk${more}`, kind: "group" };
    const author = { id: n % 2 === 0 ? "ann" : "bob" };
    return JSON.stringify({ t: n, in: { ...line(), chat, author } });
  });

function post(): Promise<Response> {
  const headers = { authorization: `Bearer ${daemon.token}`, "content-type": "application/json" };
  const body = JSON.stringify(line());
  return fetch(`${daemon.base}/api/inbound`, { method: "POST", headers, body });
}

/** Reads the beginning of what a command prints and goes away; `meanwhile` until it has ended. */
async function begun(args: readonly string[], meanwhile: () => Promise<unknown>) {
  const env = { PATH: process.env.PATH, HOME: stateDir, EARSHOT_STATE_DIR: stateDir };
  const child = spawn(process.execPath, [...childFlags, builtMain, ...args], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let err = "";
  child.stderr.on("data", (data) => {
    err += String(data);
  });
  const ended = once(child, "close");
  const read = once(child.stdout, "data");
  const state = { over: false };
  void ended.then(() => {
    state.over = true;
  });
  void read.then(() => child.stdout.destroy());
  while (!state.over) {
    await meanwhile();
    await new Promise((go) => setTimeout(go, 100));
  }
  const [[code, signal], [data]] = await Promise.all([ended, read]);
  return { code, signal, err, out: String(data) };
}

test(
  "a watcher ends when its reader has gone",
  async () => {
    const { code, signal, err, out } = await begun(["inspect", "--json"], post);
    expect(out).toContain("room-");
    expect({ code, signal }).toEqual({ code: 0, signal: null });
    expect(err).not.toContain("EPIPE");
  },
  slow,
);

// Each prints more than a pipe holds, else nobody notices that the reader has gone; a table cuts long names.
test.each([
  { form: "JSON", length: 200, more: "-".repeat(230), options: ["--json"] },
  { form: "a table", length: 1_200, more: "", options: [] },
])(
  "a replay ends when its reader has gone: $form",
  async ({ length, more, options }) => {
    const path = join(stateDir, "long.jsonl");
    writeFileSync(path, `${talk(length, more).join("\n")}\n`);
    const { code, signal, err, out } = await begun(["replay", path, ...options], async () => {});
    expect(out.length).toBeGreaterThan(0);
    expect({ code, signal, err }).toEqual({ code: 0, signal: null, err: "" });
  },
  slow,
);
