/**
 * From `earshot start` to readiness, with an empty state directory, with many conversations put away, and
 * with a journal of a million rows besides; and what the idle daemon holds in memory, before and after somebody
 * asked it for its status, which loads the routes of the pages. The built daemon, a process of its own, two hosts. `read`: until it knows what the one before left, as `earshot status` says; the
 * first start on each journal finds no mark of how far records go, as after a kill before the first one.
 */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Inbound } from "../../src/domain/message.ts";
import { flood, openBenchRuntime } from "../bench-runtime.ts";
import { untilReady } from "../child-process.ts";
import { messages, quietMix, report, round, short } from "../support.ts";

const bin = resolve(import.meta.dirname, "..", "..", "dist", "daemon", "cli", "main.js");
const port = 4_881;
const rounds = short ? 2 : 3;

const residentMb = (pid: number): number => {
  const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(line?.[1]) / 1_024;
};

/** Resolves when the daemon knows all that was left. */
async function untilRead(state: string): Promise<void> {
  const authorization = `Bearer ${readFileSync(join(state, "token"), "utf8").trim()}`;
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/api/status`, {
      headers: { authorization },
    });
    const { unapplied } = (await answer.json()) as { unapplied: { reading: boolean } };
    if (!unapplied.reading) return;
    await new Promise((next) => setTimeout(next, 5));
  }
}

interface Started {
  /** The best of all starts, ms. */
  readonly readyMs: number;
  /** Of the first start, ms. */
  readonly firstReadyMs: number;
  readonly firstReadMs: number;
  /** Of a daemon that nobody asked for anything, the best. */
  readonly rssMb: number;
  readonly askedRssMb: number;
}

/**
 * Starts on a state directory `rounds` times; times to readiness, and the RSS when idle. Only the first is asked for
 * its status.
 */
async function start(state: string): Promise<Started> {
  const ready: number[] = [];
  const rss: number[] = [];
  let firstReadMs = 0;
  for (let n = 0; n < rounds; n += 1) {
    const from = performance.now();
    const child = spawn(process.execPath, [bin, "start"], {
      env: { ...process.env, EARSHOT_STATE_DIR: state, PORT: String(port) },
      stdio: "ignore",
    });
    const ended = new Promise((done) => child.once("exit", done));
    await untilReady(child, port);
    ready.push(performance.now() - from);
    if (n === 0) {
      await untilRead(state);
      firstReadMs = performance.now() - from;
    }
    // Hosts give back what the start left behind when they have had nothing to do for six seconds.
    await new Promise((next) => setTimeout(next, short ? 500 : 8_000));
    rss.push(residentMb(child.pid as number));
    child.kill("SIGTERM");
    await ended;
  }
  const [firstReadyMs = 0] = ready;
  const [askedRssMb = 0, ...unasked] = rss;
  return {
    readyMs: Math.min(...ready),
    firstReadyMs,
    firstReadMs,
    rssMb: Math.min(...unasked),
    askedRssMb,
  };
}

const folder = mkdtempSync(join(tmpdir(), "earshot-start-"));
const config = "{ workers: { count: 2 } }\n";
const make = (name: string) => {
  const state = join(folder, name);
  mkdirSync(state, { mode: 0o700 });
  writeFileSync(join(state, "earshot.json5"), config, { mode: 0o600 });
  return state;
};
try {
  const empty = await start(make("empty"));
  const full = make("full");
  const rooms = short ? 2_000 : 100_000;
  const next = messages(1, quietMix);
  /** So many more lines in every room; then all are put away, some at a time, as a host keeps no more awake. */
  const hear = async (each: number, before: number) => {
    const bench = await openBenchRuntime(0, { at: full });
    const group = Math.min(rooms, 20_000);
    for (let first = 0; first < rooms; first += group) {
      const line = (n: number, sentAt: number): Inbound => ({
        ...next(n, sentAt),
        chat: { id: `-100${first + (n % group)}`, kind: "group" },
      });
      await flood(bench, line, group * each, before + first * each);
      await bench.runtime.passivateAll();
    }
    await bench.close();
  };
  await hear(1, 0);
  const filled = await start(full);
  const rows = rooms * 10;
  await hear(9, rooms);
  const long = await start(full);
  const asleep = `${rooms.toLocaleString("en")} conversations asleep`;
  const both = `${asleep} and ${rows.toLocaleString("en")} journal rows`;
  report({
    bench: "start",
    figures: {
      "ready, empty (ms)": Math.round(empty.readyMs),
      [`ready, ${asleep} (ms)`]: Math.round(filled.readyMs),
      [`ready, ${both} (ms)`]: Math.round(long.readyMs),
      "the same, the first time: ready (ms)": Math.round(long.firstReadyMs),
      "the same, the first time: read (ms)": Math.round(long.firstReadMs),
      "idle RSS, two hosts (MB)": Math.round(empty.rssMb),
      "the same once it was asked for its status (MB)": Math.round(empty.askedRssMb),
    },
    ratios: {
      "full over empty": round(filled.readyMs / empty.readyMs),
      "a long journal over empty": round(long.readyMs / empty.readyMs),
    },
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
