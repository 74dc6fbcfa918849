/**
 * The main job: a person asks, the agent answers at once, the answer goes to the platform, and only
 * then does that person ask again. One person alone, and 64 of them, each in a direct chat of their
 * own with a session that grows. Everything is durable, files of the transcripts included; one host in
 * a thread, as a daemon on two cores has it.
 *
 * Each round is a process of its own. With `--beside=<checkout>` rounds of another built checkout take
 * turns with ours, so that what else the machine does meets both: the processor's time and the counts
 * can be compared then, also on a busy machine.
 */
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import type { Inbound } from "../../src/domain/message.ts";
import { quantile, type Report, report, round, short } from "../support.ts";

const people = [1, 64] as const;
const turnsOf = (users: number) => (short ? 60 : 6_000) + users;
/** A daemon lives for days: what is compiled in its first seconds is no cost of a turn. */
const warmTurnsOf = (users: number) => (short ? 20 : 3_000) + users;
const rounds = short ? 1 : 3;
const flag = (name: string) =>
  process.argv.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);

/** What one round measured, by name. */
type Figures = Record<string, number>;

const users = Number(flag("users"));
if (users > 0) process.stdout.write(`${JSON.stringify(await measure(users))}\n`);
else compare();

/** Runs the rounds of ours and of the other checkout in turns. */
function compare(): void {
  const beside = flag("beside");
  const builds = new Map([["", resolve(import.meta.dirname, "..", "..", "dist")]]);
  if (beside !== undefined) builds.set("beside: ", resolve(beside, "dist"));
  const figures: Figures = {};
  const ratios: Record<string, number> = {};
  for (const count of people) {
    const found = new Map([...builds.keys()].map((name) => [name, [] as Figures[]]));
    for (let n = 0; n < rounds; n += 1)
      for (const [name, dist] of builds) found.get(name)?.push(roundOf(count, dist));
    for (const [name, all] of found)
      for (const what of Object.keys(all[0] ?? {}))
        figures[`${name}${count} at once, ${what}`] = round(
          quantile(
            all.map((one) => one[what] ?? Number.NaN),
            0.5,
          ),
        );
    const cpu = `${count} at once, CPU ms a turn`;
    if (beside !== undefined)
      ratios[cpu] = round((figures[cpu] ?? 0) / (figures[`beside: ${cpu}`] ?? 0));
  }
  const result: Report = { bench: "answered", figures, ratios };
  report(result);
}

function roundOf(count: number, dist: string): Figures {
  const args = ["--expose-gc", "--max-semi-space-size=64", "--import", "tsx", import.meta.filename];
  const given = [`--users=${count}`, ...(short ? ["--short"] : [])];
  const done = spawnSync(process.execPath, [...args, ...given], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, EARSHOT_BENCH_DIST: dist },
  });
  if (done.status !== 0) throw new Error(`a round of ${count} ended with ${done.status}`);
  return JSON.parse(done.stdout) as Figures;
}

async function measure(count: number): Promise<Figures> {
  const { distUrl, openBenchRuntime } = await import("../bench-runtime.ts");
  const hostModule = `${new URL("./clocked-agent.mjs", import.meta.url)}?dist=${distUrl}`;
  const { drivers } = await import(hostModule);
  const total = turnsOf(count);
  const warm = warmTurnsOf(count);
  let commits = 0;
  let rows = 0;
  const answered = new Map<string, () => void>();
  const lastWord: number[] = [];
  const whole: number[] = [];
  const asked = new Map<string, number>();
  const bench = await openBenchRuntime(1, {
    sessionFiles: true,
    drivers,
    hostModule,
    config: {
      agents: { defaults: { driver: { kind: "clocked" }, maxConcurrent: 64 } },
      turn: { maxConcurrentTurns: 64 },
      session: { dmScope: "per-channel-peer" },
      messages: { inbound: { debounceMs: 0, debounceMaxMs: 0 }, queue: { debounceMs: 0 } },
    },
    listener: {
      committed(_ms, count) {
        commits += 1;
        rows += count;
      },
    },
    onSend(text, chat) {
      const said = BigInt(/\d+$/.exec(text)?.[0] ?? "0");
      lastWord.push(Number(process.hrtime.bigint() - said) / 1e6);
      whole.push(performance.now() - (asked.get(chat) ?? 0));
      answered.get(chat)?.();
    },
  });
  let said = 0;
  const ask = async (until: number, user: number): Promise<void> => {
    const chat = `u${user}`;
    while (said < until) {
      said += 1;
      const next = new Promise<void>((done) => answered.set(chat, done));
      asked.set(chat, performance.now());
      await bench.runtime.ingest("telegram", "default", [
        { type: "message", message: line(chat, `m${said}`) },
      ]);
      await next;
    }
  };
  const everybody = (until: number) =>
    Promise.all(Array.from({ length: count }, (_, user) => ask(until, user)));
  await everybody(warm);
  [commits, rows, lastWord.length, whole.length] = [0, 0, 0, 0];
  const from = performance.now();
  const syncsBefore = bench.syncs();
  const before = process.cpuUsage();
  await everybody(warm + total);
  const cpu = process.cpuUsage(before);
  const ms = performance.now() - from;
  const turns = whole.length;
  const syncs = syncsBefore === null ? commits : (bench.syncs() ?? 0) - syncsBefore;
  await bench.close();
  return {
    "turns/s": (turns * 1_000) / ms,
    "CPU ms a turn": (cpu.user + cpu.system) / 1_000 / turns,
    "last word to platform ms, p50": quantile(lastWord, 0.5),
    "line to platform ms, p50": quantile(whole, 0.5),
    "line to platform ms, p99": quantile(whole, 0.99),
    "commits a turn": commits / turns,
    "fsyncs a turn": syncs / turns,
    "rows a turn": rows / turns,
  };
}

function line(chat: string, id: string): Inbound {
  return {
    channel: "telegram",
    account: "default",
    chat: { id: chat, kind: "direct" },
    thread: null,
    id,
    author: { id: chat, name: chat, isBot: false, isSelf: false },
    text: "is the build green again, and when is lunch?",
    mentions: [],
    mentionsEveryone: false,
    replyTo: null,
    attachments: [],
    explicitOnly: false,
    sentAt: Date.now(),
  };
}
