/**
 * The way out. How long from an agent's last word to the call of the platform, three commits with
 * their fsyncs on the way, one turn after the other and a few at a time; and how many turns run at
 * once in one process, and what each of them takes.
 */
import type { Inbound } from "../../src/domain/message.ts";
import type { AgentDriver } from "../../src/domain/ports/index.ts";
import { openBenchRuntime } from "../bench-runtime.ts";
import { messages, quantile, report, round, short } from "../support.ts";

const hostModule = new URL("./clocked-agent.mjs", import.meta.url).href;
const { drivers } = (await import(hostModule)) as { drivers: ReadonlyMap<string, AgentDriver> };
const mentions = messages(1, { mention: 1, reply: 0, bot: 0 });
/** A mention in a room of its own. */
const next = (n: number, sentAt: number): Inbound => ({
  ...mentions(n, sentAt),
  chat: { id: `-100${n}`, kind: "group" },
});
const noDebounce = { debounceMs: 0, debounceMaxMs: 0 };
/** Another bot's words, which nobody answers. */
const overheard: Inbound = {
  ...next(0, Date.now()),
  mentions: [],
  author: { id: "relay", name: "relay", isBot: true, isSelf: false },
};
const config = (driver: object, turns: number) => ({
  agents: { defaults: { driver, maxConcurrent: turns } },
  turn: { maxConcurrentTurns: turns, maxMs: 900_000, idleMs: 900_000 },
  messages: { inbound: noDebounce, queue: { debounceMs: 0 }, ackReaction: "" },
});
const settle = () => new Promise<void>((resolve) => setTimeout(resolve, 5));

/** Ms from the last word to the platform, of turns that are at most `turns` at a time. */
async function overhead(workers: number, turns: number, count: number): Promise<number[]> {
  const samples: number[] = [];
  const bench = await openBenchRuntime(workers, {
    config: config({ kind: "clocked" }, turns),
    drivers,
    hostModule,
    onSend(text) {
      const said = BigInt(/\d+$/.exec(text)?.[0] ?? "0");
      samples.push(Number(process.hrtime.bigint() - said) / 1e6);
    },
  });
  const warm = Math.min(50, count);
  for (let n = 0; n < count + warm; n += 1) {
    while (n - samples.length >= turns) await new Promise((resolve) => setImmediate(resolve));
    await bench.runtime.ingest("telegram", "default", [
      { type: "message", message: next(n, Date.now()) },
    ]);
  }
  while (samples.length < count + warm) await settle();
  await bench.close();
  return samples.slice(warm);
}

interface Crowd {
  readonly turns: number;
  readonly heap: number;
  readonly startedMs: number;
  readonly deliveredMs: number;
}

/** Turns that all run at the same time, each in a room of its own. */
async function crowd(turns: number, runMs: number): Promise<Crowd> {
  const runs = Array.from({ length: turns }, () => ({
    steps: [{ text: "Let me think about that." }, { waitMs: runMs }, { text: " It is so." }],
  }));
  let sent = 0;
  const bench = await openBenchRuntime(0, {
    config: config({ kind: "scripted", runs }, turns),
    onSend: () => {
      sent += 1;
    },
  });
  // What the first message allocates belongs to no turn.
  await bench.runtime.ingest("telegram", "default", [{ type: "message", message: overheard }]);
  while (bench.decided() === 0) await settle();
  const collect = global.gc as () => void;
  collect();
  const before = process.memoryUsage();
  const from = performance.now();
  const all = Array.from({ length: turns }, (_, n) => next(10_000_000 + n, Date.now()));
  for (let n = 0; n < turns; n += 50)
    await bench.runtime.ingest(
      "telegram",
      "default",
      all.slice(n, n + 50).map((message) => ({ type: "message" as const, message })),
    );
  let running = 0;
  while (running < turns && performance.now() - from < runMs) {
    running = bench.runtime.status().turns.running;
    await settle();
  }
  const startedMs = performance.now() - from;
  collect();
  const after = process.memoryUsage();
  while (sent < turns) await settle();
  const deliveredMs = performance.now() - from - runMs;
  await bench.close();
  const used = after.heapUsed + after.external - before.heapUsed - before.external;
  return { turns: running, heap: used / turns, startedMs, deliveredMs };
}

const count = short ? 200 : 3_000;
const one = await overhead(0, 1, count);
const eight = await overhead(0, 8, count);
const worker = await overhead(1, 8, count);
const many = await crowd(short ? 200 : 2_000, short ? 3_000 : 15_000);

report({
  bench: "delivery",
  unit: "ms from the last word of an agent to the platform; turns at once",
  figures: {
    "one at a time, p50": round(quantile(one, 0.5)),
    "one at a time, p99": round(quantile(one, 0.99)),
    "eight at a time, p50": round(quantile(eight, 0.5)),
    "eight at a time, p99": round(quantile(eight, 0.99)),
    "eight at a time, one worker, p50": round(quantile(worker, 0.5)),
    "eight at a time, one worker, p99": round(quantile(worker, 0.99)),
    "turns at once": many.turns,
    "heap bytes of a running turn": Math.round(many.heap),
    "ms until all of them ran": Math.round(many.startedMs),
    "ms from the first end to the last delivery": Math.round(many.deliveredMs),
  },
});
