/**
 * What the Rooms page costs. First the daemon: messages a second through 10,000 rooms without the
 * list of rooms, with it, and with somebody who watches it, in turn in the same run. Then the page:
 * frames a second in Chromium with 10,000 rooms in the list, calm and while 1,000 messages a second
 * arrive and somebody scrolls. Chromium, the daemon and who writes share the two cores.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import type { RoomTap } from "../src/actors/runtime.types.ts";
import { haveChromium, openPage, startChromium } from "../test/support/chromium.ts";
import { flood, openHouse } from "./house.ts";
import { assertRatio, messages, quantile, quietMix, report, round, short } from "./support.ts";

const built = <Module>(path: string): Promise<Module> =>
  import(new URL(`../dist/${path}.js`, import.meta.url).href);
const { createRooms } = await built<typeof import("../src/daemon/rooms.ts")>("daemon/rooms");
const { startDaemon } = await built<typeof import("../src/daemon/daemon.ts")>("daemon/daemon");
const { createSystemClock } =
  await built<typeof import("../src/adapters/clock.ts")>("adapters/clock");

const rooms = 10_000;
const rate = 1_000;
const figures: Record<string, number> = {};
const ratios: Record<string, number> = {};

await throughput();
if (haveChromium) await frames();
report({ bench: "pages", figures, ratios });

async function throughput(): Promise<void> {
  const count = short ? 10_000 : 60_000;
  let tap: RoomTap | null = null;
  const house = await openHouse(1, {
    rooms: {
      decided: (...what) => tap?.decided(...what),
      ended: (...what) => tap?.ended(...what),
      changed: (...what) => tap?.changed(...what),
      amended: (...what) => tap?.amended(...what),
    },
  });
  const list = createRooms({
    clock: createSystemClock(),
    log: () => undefined,
    store: house.store,
    glances: (convs) => house.runtime.glances(convs),
  });
  const next = messages(rooms, quietMix);
  const rates = { none: [] as number[], list: [] as number[], watched: [] as number[] };
  const costs = { none: [] as number[], list: [] as number[], watched: [] as number[] };
  let offered = 0;
  const openings: number[] = [];
  let told = 0;
  const run = async (kind: keyof typeof rates): Promise<void> => {
    offered += count;
    const before = process.cpuUsage();
    rates[kind].push(await flood(house, next, count, offered));
    const { user, system } = process.cpuUsage(before);
    costs[kind].push((user + system) / count);
  };
  await flood(house, next, count);
  for (let turn = 0; turn < (short ? 2 : 5); turn += 1) {
    tap = null;
    await run("none");
    tap = list.tap;
    await run("list");
    const opened = process.cpuUsage();
    let ready: () => void = () => undefined;
    const whole = new Promise<void>((resolve) => {
      ready = resolve;
    });
    const off = list.watch((frame) => {
      if (frame.startsWith('{"type":"ready"')) ready();
      told += frame.length;
    });
    await whole;
    const { user, system } = process.cpuUsage(opened);
    openings.push((user + system) / 1_000);
    told = 0;
    await run("watched");
    off();
  }
  await house.close();
  const names = { none: "without the list", list: "with the list", watched: "while watched" };
  for (const kind of ["none", "list", "watched"] as const) {
    figures[`messages/s ${names[kind]}`] = Math.round(quantile(rates[kind], 0.5));
    figures[`CPU us a message ${names[kind]}`] = round(quantile(costs[kind], 0.5), 1);
  }
  figures["bytes told to the watcher a message"] = Math.round(told / count);
  figures["CPU ms to open the page, first"] = Math.round(openings[0] as number);
  figures["CPU ms to open the page, later"] = Math.round(openings.at(-1) as number);
  // CPU time, not the clock's: what else runs on the machine must not decide this.
  const cheap = (kind: "list" | "watched") =>
    round(quantile(costs.none, 0.5) / quantile(costs[kind], 0.5));
  ratios["CPU without the list over with it"] = cheap("list");
  ratios["CPU without the list over watched"] = cheap("watched");
  assertRatio("CPU without the list over with it", cheap("list"), 0.8);
  assertRatio("CPU without the list over watched", cheap("watched"), 0.6);
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
    await page.goto(daemon.page);
    await page.locator(".seg .n", { hasText: "10,000" }).first().waitFor();
    const seconds = short ? 3 : 10;
    const calm = await framesPerSecond(page, seconds);
    const stop = new AbortController();
    const before = said;
    const talk = keepSaying(say, stop.signal);
    const busy = await framesPerSecond(page, seconds);
    stop.abort();
    const talkedMs = await talk;
    figures["frames/s, calm"] = round(calm, 1);
    figures["frames/s, 1,000 messages/s"] = round(busy, 1);
    figures["messages/s meanwhile"] = Math.round(((said - before) * 1_000) / talkedMs);
    ratios["busy over calm"] = round(busy / calm);
    assertRatio("frames with 1,000 messages/s over calm", busy / calm, 0.5);
  } finally {
    await browser.close();
    await daemon.stop({ drainMs: 0 });
    rmSync(stateDir, { recursive: true, force: true });
  }
}

/** Says `rate` messages a second until stopped; for how long, ms. */
async function keepSaying(
  say: (count: number) => Promise<void>,
  stop: AbortSignal,
): Promise<number> {
  const from = performance.now();
  for (let done = 0; !stop.aborted; ) {
    const due = Math.floor(((performance.now() - from) * rate) / 1_000) - done;
    if (due > 0) await say(Math.min(due, 100));
    done += Math.max(0, Math.min(due, 100));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return performance.now() - from;
}

/** Scrolls through the list and counts the frames that were painted. */
function framesPerSecond(page: Page, seconds: number): Promise<number> {
  const count = `new Promise((done) => {
    let frames = 0;
    const from = performance.now();
    const next = (now) => {
      frames += 1;
      scrollBy(0, 24);
      if (now - from < ${seconds * 1_000}) requestAnimationFrame(next);
      else done((frames * 1000) / (now - from));
    };
    requestAnimationFrame(next);
  })`;
  return page.evaluate(count) as Promise<number>;
}
