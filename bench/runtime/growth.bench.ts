/**
 * How cost grows: the processor time of one heard line among more rooms and after more journal rows, and
 * of one answered turn among more turns at once and after a longer transcript. What should be flat is
 * flat. Processor time of all threads, because that is comparable on a machine that does other work.
 *
 * Each point has a process and a state of its own; transcript and journal grow in one. `--long` adds the
 * largest sizes, `--write` puts the table into bench/README.md and draws its picture, `--svg=<file>` draws it
 * elsewhere, `--only=<part>` measures one part.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { join } from "node:path";
import type { Inbound } from "../../src/domain/message.ts";
import { messages, quietMix, report, round, short } from "../support.ts";
import { growthSvg, type Plot } from "./growth-svg.ts";
import { growthTable, withTable } from "./growth-table.ts";

const long = process.argv.includes("--long");
const flag = (name: string) =>
  process.argv.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
const upTo = (sizes: readonly number[], inShort: number, inLong: number) =>
  sizes.slice(0, short ? inShort : long ? sizes.length : inLong);

const linesMeasured = short ? 4_000 : 20_000;

/** Cost by size: us of a line, ms of a turn. */
type Points = Record<string, number>;
interface Part {
  readonly title: string;
  readonly unit: "us" | "ms";
  readonly sizes: readonly number[];
  /** Measures these sizes in one process. */
  readonly measure: (sizes: readonly number[]) => Promise<Points>;
  /** One process for all sizes, or one for each. */
  readonly together: boolean;
}

const parts: Readonly<Record<string, Part>> = {
  rooms: {
    title: "a line, by rooms",
    unit: "us",
    sizes: upTo([1_000, 10_000, 100_000, 300_000], 2, 3),
    measure: ([size = 0]) => ofRooms(size),
    together: false,
  },
  journal: {
    title: "a line, by journal rows",
    unit: "us",
    sizes: upTo([10_000, 100_000, 1_000_000], 1, 2),
    measure: ofJournal,
    together: true,
  },
  turns: {
    title: "a turn, by turns at once",
    unit: "ms",
    sizes: upTo([1, 8, 64, 512, 2_000], 3, 5),
    measure: ([size = 0]) => ofTurns(size),
    together: false,
  },
  transcript: {
    title: "a turn, by lines of its transcript",
    unit: "ms",
    sizes: upTo([10, 100, 1_000, 10_000], 2, 3),
    measure: ofTranscript,
    together: true,
  },
};

const [part, sizes] = [flag("part"), flag("sizes")];
if (part !== undefined)
  process.stdout.write(
    `${JSON.stringify(await parts[part]?.measure((sizes ?? "").split(",").map(Number)))}\n`,
  );
else compare();

function compare(): void {
  const only = flag("only");
  const writes = process.argv.includes("--write");
  if (writes && only !== undefined)
    throw new Error("Cannot write the table: --only measures a part of it. Leave out one of them.");
  const [load = 0] = loadavg();
  const found = new Map<Part, Points>();
  for (const [name, one] of Object.entries(parts)) {
    if (only !== undefined && only !== name) continue;
    const groups = one.together ? [one.sizes] : one.sizes.map((size) => [size]);
    found.set(one, Object.assign({}, ...groups.map((group) => inProcess(name, group))));
  }
  const figures: Points = {};
  const ratios: Points = {};
  for (const [{ title, unit }, points] of found) {
    for (const [size, value] of Object.entries(points))
      figures[`${title}, ${Number(size).toLocaleString("en")}: CPU ${unit}`] = round(value);
    const values = Object.values(points);
    ratios[`${title}: largest over smallest`] = round((values.at(-1) ?? 0) / (values[0] ?? 0));
  }
  const plots = [...found].map(([{ title, unit }, points]) => ({ title, unit, points }));
  const svg = flag("svg");
  if (svg !== undefined) writeFileSync(svg, growthSvg(plots));
  if (writes) write(plots, load);
  report({ bench: "growth", figures, ratios });
}

/** Into bench/README.md and docs/pictures. */
function write(plots: readonly Plot[], load: number): void {
  const root = join(import.meta.dirname, "..", "..");
  const readme = join(root, "bench", "README.md");
  const cores = availableParallelism();
  const day = new Date().toISOString().slice(0, 10);
  const about = `${cores} cores, Node ${process.version}, ${day}, one host, load ${Math.round(load)} when it began`;
  writeFileSync(readme, withTable(readFileSync(readme, "utf8"), growthTable(plots, about)));
  writeFileSync(join(root, "docs", "pictures", "growth.svg"), growthSvg(plots));
}

function inProcess(name: string, group: readonly number[]): Points {
  const args = ["--expose-gc", "--max-semi-space-size=64", "--import", "tsx"];
  const given = [`--part=${name}`, `--sizes=${group}`, ...(short ? ["--short"] : [])];
  const done = spawnSync(process.execPath, [...args, import.meta.filename, ...given], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (done.status !== 0) throw new Error(`${name} ${group} ended with ${done.status}`);
  return JSON.parse(done.stdout) as Points;
}

/** Processor time of all threads while `work` runs, us. */
async function cpuUs(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

async function ofRooms(rooms: number): Promise<Points> {
  const { flood, openBenchRuntime } = await import("../bench-runtime.ts");
  const bench = await openBenchRuntime(1);
  const next = messages(rooms, quietMix);
  const first = (n: number, sentAt: number): Inbound => ({
    ...next(n, sentAt),
    chat: { id: `-100${n % rooms}`, kind: "group" },
  });
  // Every room has been heard before, and the code is warm.
  const heard = Math.max(rooms, linesMeasured);
  await flood(bench, first, heard);
  const us = await cpuUs(() => flood(bench, next, linesMeasured, heard));
  await bench.close();
  return { [rooms]: us / linesMeasured };
}

async function ofJournal(counts: readonly number[]): Promise<Points> {
  const { flood, openBenchRuntime } = await import("../bench-runtime.ts");
  const bench = await openBenchRuntime(1);
  const next = messages(1_000, quietMix);
  const points: Points = {};
  let heard = 0;
  for (const count of counts) {
    await flood(bench, next, count - heard, heard);
    const us = await cpuUs(() => flood(bench, next, linesMeasured, count));
    heard = count + linesMeasured;
    points[count] = us / linesMeasured;
  }
  await bench.close();
  return points;
}

/** A runtime in which each person asks again when answered. */
async function openTurns(atOnce: number) {
  const { distUrl, openBenchRuntime } = await import("../bench-runtime.ts");
  const hostModule = `${new URL("./clocked-agent.mjs", import.meta.url)}?dist=${distUrl}`;
  const { drivers } = await import(hostModule);
  const answered = new Map<string, () => void>();
  const bench = await openBenchRuntime(1, {
    sessionFiles: true,
    drivers,
    hostModule,
    config: {
      agents: { defaults: { driver: { kind: "clocked" }, maxConcurrent: atOnce } },
      turn: { maxConcurrentTurns: atOnce },
      session: { dmScope: "per-channel-peer" },
      messages: { inbound: { debounceMs: 0, debounceMaxMs: 0 }, queue: { debounceMs: 0 } },
    },
    onSend: (_, chat) => answered.get(chat)?.(),
  });
  let said = 0;
  const ask = async (chat: string, turns: number): Promise<void> => {
    for (let turn = 0; turn < turns; turn += 1) {
      said += 1;
      const next = new Promise<void>((done) => answered.set(chat, done));
      await bench.runtime.ingest("telegram", "default", [
        { type: "message", message: line(chat, `m${said}`) },
      ]);
      await next;
    }
  };
  return { ask, close: () => bench.close() };
}

async function ofTurns(atOnce: number): Promise<Points> {
  const { ask, close } = await openTurns(atOnce);
  const everybody = (each: number) =>
    Promise.all(Array.from({ length: atOnce }, (_, n) => ask(`u${n}`, each)));
  const each = Math.ceil((short ? 200 : 2_000) / atOnce);
  await everybody(Math.ceil(each / 2));
  const us = await cpuUs(() => everybody(each));
  await close();
  return { [atOnce]: us / 1_000 / (each * atOnce) };
}

async function ofTranscript(lines: readonly number[]): Promise<Points> {
  const { ask, close } = await openTurns(1);
  const turns = short ? 10 : 50;
  for (let other = 0; other < 20; other += 1) await ask(`warm${other}`, turns);
  const points: Points = {};
  let done = 0;
  for (const count of lines) {
    // A turn adds two lines; the measured ones lie around the length.
    const before = Math.max(0, count / 2 - turns / 2 - done);
    await ask("u", before);
    const us = await cpuUs(() => ask("u", turns));
    done += before + turns;
    points[count] = us / 1_000 / turns;
  }
  await close();
  return points;
}

function line(chat: string, id: string): Inbound {
  return {
    ...messages(1, quietMix)(0, Date.now()),
    chat: { id: chat, kind: "direct" },
    id,
    author: { id: chat, name: chat, isBot: false, isSelf: false },
    replyTo: null,
    text: "is the build green again, and when is lunch?",
  };
}
