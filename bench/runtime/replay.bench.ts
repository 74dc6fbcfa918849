/**
 * Replaying a recording: messages/s through the whole simulated runtime, from the file to the lines
 * on a pipe, and the memory that takes. Rooms of five people and a bot; five of a hundred messages
 * mention the agent and lead to a turn with an answer. Each size runs in a process of its own; memory
 * is that of the whole process.
 */
import { spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messages, report, round, short } from "../support.ts";

const mix = { mention: 0.05, reply: 0.15, bot: 0.1 };
const start = 1_763_700_000_000;
const sizes = short ? [20_000] : [100_000, 300_000, 1_000_000];
/** Mean ms between two messages of all rooms. */
const gapMs = 20;
const linesPerWrite = 2_000;

/** Writes a recording of `count` messages over a hundredth as many rooms. */
function writeRecording(path: string, count: number): void {
  const rooms = Math.min(10_000, count / 10);
  const next = messages(rooms, mix);
  const seen = new Set<string>();
  const file = openSync(path, "w");
  let lines: string[] = [JSON.stringify({ earshot: 1, start })];
  for (let n = 0; n < count; n += 1) {
    const t = n * gapMs;
    const message = next(n, start + t);
    const { channel, chat } = message;
    if (!seen.has(chat.id)) {
      seen.add(chat.id);
      lines.push(JSON.stringify({ t, membership: { channel, chat, humans: 5, bots: 1 } }));
    }
    lines.push(JSON.stringify({ t, in: message }));
    if (lines.length < linesPerWrite) continue;
    writeSync(file, `${lines.join("\n")}\n`);
    lines = [];
  }
  if (lines.length > 0) writeSync(file, `${lines.join("\n")}\n`);
  closeSync(file);
}

const main = new URL("../../dist/daemon/cli/main.js", import.meta.url).pathname;
/** Runs in the replaying process: prints at its end its peak memory, kB, and its CPU time, us. */
const reporter = `data:text/javascript,process.on("exit",()=>{
  const{maxRSS,userCPUTime,systemCPUTime}=process.resourceUsage();
  process.stderr.write("used "+maxRSS+" "+(userCPUTime+systemCPUTime))})`;

const folder = mkdtempSync(join(tmpdir(), "earshot-bench-"));

/** What a replay took: time, processor time (garbage collection included), memory at most. */
interface Taken {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly rssMb: number;
}

/** Replays a file in a process of its own. */
function replay(path: string): Taken {
  const out = openSync("/dev/null", "w");
  const from = performance.now();
  const { status, stderr } = spawnSync(
    process.execPath,
    ["--import", reporter, main, "replay", path, "--json"],
    { stdio: ["ignore", out, "pipe"], encoding: "utf8" },
  );
  const seconds = (performance.now() - from) / 1_000;
  closeSync(out);
  if (status !== 0) throw new Error(`the replay ended with ${status}: ${stderr}`);
  const [, rss, cpu] = /used (\d+) (\d+)/.exec(stderr) ?? [];
  const rssMb = Math.round(Number(rss) / 1_024);
  return { seconds, cpuSeconds: Number(cpu) / 1_000_000, rssMb };
}

const figures: Record<string, number> = {};
try {
  for (const count of sizes) {
    const path = join(folder, `${count}.jsonl`);
    writeRecording(path, count);
    const name = `${count.toLocaleString("en")} messages`;
    const { seconds, cpuSeconds, rssMb } = replay(path);
    figures[`${name}, messages/s`] = Math.round(count / seconds);
    figures[`${name}, s`] = round(seconds, 1);
    figures[`${name}, CPU s`] = round(cpuSeconds, 1);
    figures[`${name}, RSS at most, MB`] = rssMb;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
report({ bench: "replay", figures });
