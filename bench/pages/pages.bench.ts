/**
 * What the Rooms page costs. First the daemon: messages a second through 10,000 rooms without the
 * list of rooms, with it, and with somebody who looks at it, in turns that change their order in the
 * same run. Then the page: frames a second in Chromium with 10,000 rooms in the list, calm and while
 * 1,000 messages a second arrive and somebody scrolls, and what the browser works for a frame, which
 * says more than frames do while Chromium, the daemon and who writes share the two cores.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CDPSession, Page } from "playwright-core";
import type { RuntimeListener } from "../../src/actors/protocol/runtime-events.ts";
import type { RoomsLook } from "../../src/daemon/api-types/rooms.ts";
import type { RoomList } from "../../src/daemon/room-list/room-list.ts";
import { haveChromium, openPage, startChromium } from "../../test/support/pages/chromium.ts";
import { type BenchRuntime, flood, openBenchRuntime } from "../bench-runtime.ts";
import {
  assertRatio,
  keepSaying,
  messages,
  quantile,
  quietMix,
  report,
  round,
  short,
} from "../support.ts";

const built = <Module>(path: string): Promise<Module> =>
  import(new URL(`../../dist/${path}.js`, import.meta.url).href);
const { createRoomList } = await built<typeof import("../../src/daemon/room-list/room-list.ts")>(
  "daemon/room-list/room-list",
);
const { startDaemon } = await built<typeof import("../../src/daemon/daemon.ts")>("daemon/daemon");
const { createSystemClock } =
  await built<typeof import("../../src/adapters/system/clock.ts")>("adapters/system/clock");

const rooms = 10_000;
const rate = 1_000;
const figures: Record<string, number> = {};
const ratios: Record<string, number> = {};

type Kind = "none" | "list" | "watched";
const names = { none: "without the list", list: "with the list", watched: "while watched" };
/** Each kind comes first, second and last equally often, so that drift does not count. */
const orders: readonly (readonly Kind[])[] = [
  ["none", "list", "watched"],
  ["watched", "list", "none"],
  ["list", "none", "watched"],
  ["watched", "none", "list"],
  ["none", "watched", "list"],
  ["list", "watched", "none"],
];
/** What a page of 900 px asks for first. */
const look: RoomsLook = {
  filter: "all",
  find: "",
  from: 0,
  limit: 48,
  follow: true,
  sort: false,
  at: "",
};

await throughput();
if (haveChromium) await frames();
report({ bench: "pages", figures, ratios });

async function throughput(): Promise<void> {
  const count = short ? 20_000 : 40_000;
  let listener: RuntimeListener | null = null;
  const bench = await openBenchRuntime(1, {
    listener: {
      decided: (...what) => listener?.decided?.(...what),
      ended: (...what) => listener?.ended?.(...what),
      changed: (...what) => listener?.changed?.(...what),
      edited: (...what) => listener?.edited?.(...what),
    },
  });
  const list = listOf(bench);
  const next = messages(rooms, quietMix);
  const rates: Record<Kind, number[]> = { none: [], list: [], watched: [] };
  const costs: Record<Kind, number[]> = { none: [], list: [], watched: [] };
  let [offered, sentUnits] = [count, 0];
  const run = async (kind: Kind): Promise<void> => {
    listener = kind === "none" ? null : list.listener;
    const watcher = kind === "watched" ? await opened(list) : null;
    const before = process.cpuUsage();
    rates[kind].push(await flood(bench, next, count, offered));
    const { user, system } = process.cpuUsage(before);
    costs[kind].push((user + system) / count);
    offered += count;
    sentUnits += watcher?.close() ?? 0;
  };
  listener = list.listener;
  await flood(bench, next, count);
  const rounds = short ? orders.slice(0, 2) : orders;
  for (const order of rounds) for (const kind of order) await run(kind);
  await openings(bench);
  await bench.close();
  for (const kind of ["none", "list", "watched"] as const) {
    figures[`messages/s ${names[kind]}`] = Math.round(quantile(rates[kind], 0.5));
    figures[`CPU us a message ${names[kind]}`] = round(quantile(costs[kind], 0.5), 1);
  }
  figures["bytes sent to the watcher a message"] = round(sentUnits / (rounds.length * count), 1);
  // Of the same round each, and CPU time: what else runs on the machine must not decide this.
  const over = (kind: Kind, other: Kind) =>
    round(
      quantile(
        costs[kind].map((cost, n) => cost / (costs[other][n] as number)),
        0.5,
      ),
    );
  const faster = (kind: Kind, other: Kind) =>
    round(
      quantile(
        rates[kind].map((rate, n) => rate / (rates[other][n] as number)),
        0.5,
      ),
    );
  ratios["CPU without the list over with it"] = over("none", "list");
  ratios["CPU with the list over watched"] = over("list", "watched");
  ratios["messages/s watched over with the list"] = faster("watched", "list");
  assertRatio("CPU without the list over with it", over("none", "list"), 0.8);
  assertRatio("CPU with the list over watched", over("list", "watched"), 0.85);
}

function listOf({ store, runtime }: BenchRuntime): RoomList {
  return createRoomList({
    clock: createSystemClock(),
    log: () => undefined,
    store,
    summaries: (convs) => runtime.summaries(convs),
    counts: () => runtime.count(),
  });
}

/** Opens the page: resolves when its rows have come. `close` returns how much has come since. */
async function opened(list: RoomList): Promise<{ close: () => number }> {
  let received = 0;
  let off: () => void = () => undefined;
  await new Promise<void>((resolve) => {
    const send = (frame: string) => {
      received += frame.length;
      if (frame.startsWith('{"type":"window"')) resolve();
    };
    off = list.watch({ send, idle: () => true }, look);
  });
  received = 0;
  return {
    close() {
      off();
      return received;
    },
  };
}

/** What it costs to open the page, first after a start and again, with nothing else going on. */
async function openings(bench: BenchRuntime): Promise<void> {
  // As a daemon's would be that finds this journal.
  const list = listOf(bench);
  for (const which of ["first", "later"] as const) {
    const before = process.cpuUsage();
    const longest = longestTurn();
    const { close } = await opened(list);
    const turnMs = await longest.end();
    const { user, system } = process.cpuUsage(before);
    close();
    figures[`CPU ms to open the page, ${which}`] = round((user + system) / 1_000, 1);
    figures[`CPU ms of the loop's longest turn meanwhile, ${which}`] = round(turnMs, 1);
  }
}

/** Looks how much is worked in each turn of the event loop; the clock would count other processes. */
function longestTurn(): { end: () => Promise<number> } {
  let isOver = false;
  const watching = (async () => {
    let most = 0;
    while (!isOver) {
      const before = process.cpuUsage();
      await new Promise((resolve) => setImmediate(resolve));
      const { user, system } = process.cpuUsage(before);
      most = Math.max(most, (user + system) / 1_000);
    }
    return most;
  })();
  return {
    end() {
      isOver = true;
      return watching;
    },
  };
}

async function frames(): Promise<void> {
  const stateDir = mkdtempSync(join(tmpdir(), "earshot-bench-"));
  const config =
    '{ agents: { defaults: { driver: { kind: "scripted" } } }, channels: { webhook: {} } }';
  writeFileSync(join(stateDir, "earshot.json5"), config, { mode: 0o600 });
  const daemon = await startDaemon({ stateDir, port: 0, workers: 1, logLevel: "fatal", env: {} });
  const make = messages(rooms, quietMix, 7);
  let said = 0;
  const say = async (count: number, room?: (n: number) => number): Promise<void> => {
    const events = Array.from({ length: count }, (_, n) => {
      said += 1;
      const message = make(said, Date.now());
      const id = room === undefined ? message.chat.id : `-100${room(n)}`;
      // Aimed at somebody else: nobody is to answer.
      const aimed = { replyTo: null, mentions: [{ id: "zoe", isSelf: false }] };
      const chat = { ...message.chat, id };
      return {
        type: "message" as const,
        message: { ...message, ...aimed, chat, channel: "webhook" },
      };
    });
    await daemon.runtime.ingest("webhook", "default", events);
  };
  for (let first = 0; first < rooms; first += 500) await say(500, (n) => first + n);
  const browser = await startChromium();
  try {
    const { page } = await openPage(browser);
    const session = await page.context().newCDPSession(page);
    // Time that the page's thread ran, not that it waited for a core.
    await session.send("Performance.enable", { timeDomain: "threadTicks" });
    await page.goto(daemon.page);
    await page.locator(".seg .n", { hasText: "10,000" }).first().waitFor();
    const seconds = short ? 3 : 10;
    const calm = await framesPerSecond(page, session, seconds);
    const stop = new AbortController();
    const before = said;
    const talk = keepSaying(say, rate, stop.signal);
    const busy = await framesPerSecond(page, session, seconds);
    stop.abort();
    const talkedMs = await talk;
    for (const [name, { perSecond, scriptMs, otherMs }] of [
      ["calm", calm],
      ["1,000 messages/s", busy],
    ] as const) {
      figures[`frames/s, ${name}`] = round(perSecond, 1);
      figures[`script ms a frame, ${name}`] = round(scriptMs);
      figures[`style, layout, paint ms a frame, ${name}`] = round(otherMs);
    }
    figures["messages/s meanwhile"] = Math.round(((said - before) * 1_000) / talkedMs);
    ratios["frames busy over calm"] = round(busy.perSecond / calm.perSecond);
    assertRatio("frames with 1,000 messages/s over calm", busy.perSecond / calm.perSecond, 0.5);
  } finally {
    await browser.close();
    await daemon.stop({ drainMs: 0 });
    rmSync(stateDir, { recursive: true, force: true });
  }
}

interface Frames {
  readonly perSecond: number;
  /** What the page's thread worked for one: our code, and what the browser made of it. */
  readonly scriptMs: number;
  readonly otherMs: number;
}

/** Scrolls through the list and counts the frames that were painted. */
async function framesPerSecond(page: Page, session: CDPSession, seconds: number): Promise<Frames> {
  const count = `new Promise((done) => {
    let frames = 0;
    const from = performance.now();
    const next = (now) => {
      frames += 1;
      scrollBy(0, 24);
      if (now - from < ${seconds * 1_000}) requestAnimationFrame(next);
      else done([frames, (frames * 1000) / (now - from)]);
    };
    requestAnimationFrame(next);
  })`;
  const before = await worked(session);
  const [frames, perSecond] = (await page.evaluate(count)) as [number, number];
  const after = await worked(session);
  const script = after.script - before.script;
  const all = after.all - before.all;
  return { perSecond, scriptMs: script / frames, otherMs: (all - script) / frames };
}

/** What the page's main thread has worked so far, ms of its own time. */
async function worked(session: CDPSession): Promise<{ script: number; all: number }> {
  const { metrics } = await session.send("Performance.getMetrics");
  const ms = (name: string) => 1_000 * (metrics.find((one) => one.name === name)?.value ?? 0);
  return { script: ms("ScriptDuration"), all: ms("TaskDuration") };
}
