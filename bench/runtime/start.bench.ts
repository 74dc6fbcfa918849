/**
 * From `earshot start` to readiness, with an empty state directory and with many conversations put
 * away, and what the idle daemon holds in memory. The built daemon, a process of its own, two
 * hosts.
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
const rounds = short ? 1 : 3;

const residentMb = (pid: number): number => {
  const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(line?.[1]) / 1_024;
};

/** Starts on a state directory `rounds` times; the best time to readiness and the RSS when idle. */
async function start(state: string): Promise<{ readyMs: number; rssMb: number }> {
  let readyMs = Number.POSITIVE_INFINITY;
  let rssMb = Number.POSITIVE_INFINITY;
  for (let n = 0; n < rounds; n += 1) {
    const from = performance.now();
    const child = spawn(process.execPath, [bin, "start"], {
      env: { ...process.env, EARSHOT_STATE_DIR: state, PORT: String(port) },
      stdio: "ignore",
    });
    const ended = new Promise((done) => child.once("exit", done));
    await untilReady(child, port);
    readyMs = Math.min(readyMs, performance.now() - from);
    // Hosts give back what the start left behind when they have had nothing to do for six seconds.
    await new Promise((next) => setTimeout(next, short ? 500 : 8_000));
    rssMb = Math.min(rssMb, residentMb(child.pid as number));
    child.kill("SIGTERM");
    await ended;
  }
  return { readyMs, rssMb };
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
  const bench = await openBenchRuntime(0, { at: full });
  const next = messages(1, quietMix);
  await flood(
    bench,
    (n, sentAt): Inbound => ({ ...next(n, sentAt), chat: { id: `-100${n}`, kind: "group" } }),
    rooms,
  );
  await bench.runtime.passivateAll();
  await bench.close();
  const filled = await start(full);
  report({
    bench: "start",
    figures: {
      "ready, empty (ms)": Math.round(empty.readyMs),
      [`ready, ${rooms.toLocaleString("en")} conversations asleep (ms)`]: Math.round(
        filled.readyMs,
      ),
      "idle RSS, two hosts (MB)": Math.round(empty.rssMb),
    },
    ratios: { "full over empty": round(filled.readyMs / empty.readyMs) },
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
