/**
 * One daemon with many channels at once, an agent that answers with the tokens of what was said to
 * it, and platforms that fail. Says lines for a while, then ends the faults and waits until every
 * line has its answer; the history that is left says what was lost, doubled or in a wrong room.
 */
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ConnectionStatus } from "../../../src/actors/channels/account-connection.ts";
import { type Daemon, startDaemon } from "../../../src/daemon/daemon.ts";
import type { StormPlatform } from "./platform.ts";

export interface StormOptions {
  readonly stateDir: string;
  readonly platforms: readonly StormPlatform[];
  readonly workers: number;
  readonly seed: number;
  /** How long people write and things break, ms; longer until each room has its line. */
  readonly forMs: number;
  /** Lines a second, all platforms together. */
  readonly perSecond: number;
  /** Faults a second, all platforms together. */
  readonly faultsPerSecond: number;
  /** Gives up waiting for answers after so long without a new one, ms. */
  readonly patienceMs: number;
}

export interface StormReport {
  readonly said: number;
  readonly answered: number;
  readonly rooms: number;
  /** Each is a line about what went wrong. */
  readonly lost: readonly string[];
  readonly astray: readonly string[];
  readonly doubled: readonly string[];
  /** Sends whose result was unknown. */
  readonly doubts: number;
}

interface ChannelAnswer {
  readonly id: string;
  readonly accounts: readonly Pick<ConnectionStatus, "state">[];
}

interface Line {
  readonly token: string;
  readonly platform: StormPlatform;
  readonly room: number;
}

const agent = (notes: string) => `
import { appendFileSync } from "node:fs";
export default async function* (turn, { signal }) {
  const tokens = turn.said.match(/\\bT\\d+X\\d+X\\d+\\b/gu) ?? [];
  appendFileSync(${JSON.stringify(notes)}, turn.turnId + " " + tokens.join(" ") + "\\n");
  yield { type: "text", text: tokens.join(" ") + " turn=" + turn.turnId };
}
`;

/** A small generator with a seed (mulberry32), so that a run can be had again. */
export function picker(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

export async function storm(options: StormOptions): Promise<StormReport> {
  const { stateDir, platforms, workers, seed, forMs, perSecond, faultsPerSecond } = options;
  const pick = picker(seed);
  const notes = join(stateDir, "turns.txt");
  const logFile = join(stateDir, "storm.log");
  writeFileSync(notes, "");
  writeFileSync(join(stateDir, "agent.mjs"), agent(notes));
  const channels = Object.fromEntries(platforms.map(({ id, section }) => [id, section]));
  const config = {
    channels,
    access: { groupPolicy: "open", dmPolicy: "open" },
    agents: {
      list: [{ id: "main", name: "Scout", driver: { kind: "module", module: "./agent.mjs" } }],
    },
    messages: { inbound: { debounceMs: 50 } },
    session: { dmScope: "per-channel-peer" },
  };
  writeFileSync(join(stateDir, "earshot.json5"), JSON.stringify(config), { mode: 0o600 });
  const daemon = await startDaemon({
    port: 0,
    workers,
    env: {},
    stateDir,
    logLevel: "info",
    writeLog: (line) => appendFileSync(logFile, line),
  });
  try {
    for (const platform of platforms) platform.reach?.(daemon.base);
    await live(daemon, platforms);
    const lines = await speak({ platforms, pick, forMs, perSecond, faultsPerSecond });
    for (const platform of platforms) platform.calm();
    await settled(platforms, lines, options.patienceMs);
    return judge(platforms, lines, notes, logFile);
  } finally {
    await daemon.stop({ drainMs: 2_000 });
  }
}

/** Resolves when the connections of these platforms are live. */
async function live({ base, token }: Daemon, platforms: readonly StormPlatform[]): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  const awaited = new Set(platforms.map(({ id }) => id));
  for (const until = Date.now() + 60_000; ; ) {
    const answer = await fetch(`${base}/api/channels`, { headers });
    const { channels } = (await answer.json()) as { channels: readonly ChannelAnswer[] };
    const found = channels.filter(
      ({ id, accounts }) => awaited.has(id) && accounts.every(({ state }) => state === "live"),
    );
    if (found.length === awaited.size) return;
    if (Date.now() > until) throw new Error(`not all are live: ${JSON.stringify(channels)}`);
    await new Promise((go) => setTimeout(go, 50));
  }
}

async function speak({
  platforms,
  pick,
  forMs,
  perSecond,
  faultsPerSecond,
}: Pick<StormOptions, "platforms" | "forMs" | "perSecond" | "faultsPerSecond"> & {
  readonly pick: (below: number) => number;
}): Promise<Line[]> {
  const lines: Line[] = [];
  const order = platforms.flatMap((platform, index) =>
    Array.from({ length: platform.rooms }, (_, room) => ({ platform, index, room })),
  );
  const waiting: unknown[] = [];
  const from = performance.now();
  let [said, broken] = [0, 0];
  for (;;) {
    const passed = performance.now() - from;
    if (passed >= forMs && said >= order.length) break;
    const due = Math.floor((passed * perSecond) / 1_000);
    for (; said < due; said += 1) {
      // Every room in turn first, then at random.
      const place = order[said < order.length ? said : pick(order.length)] as (typeof order)[0];
      const token = `T${place.index}X${place.room}X${said}`;
      lines.push({ token, platform: place.platform, room: place.room });
      waiting.push(place.platform.say(place.room, `please ${token}`));
    }
    for (; broken < Math.floor((passed * faultsPerSecond) / 1_000); broken += 1)
      (platforms[pick(platforms.length)] as StormPlatform).trouble(pick);
    await new Promise((go) => setTimeout(go, 10));
  }
  await Promise.all(waiting);
  return lines;
}

const tokens = (text: string): string[] => text.match(/\bT\d+X\d+X\d+\b/gu) ?? [];

/** Resolves when every line has been answered, or nothing new has come for `patienceMs`. */
async function settled(
  platforms: readonly StormPlatform[],
  lines: readonly Line[],
  patienceMs: number,
): Promise<void> {
  let best = -1;
  let last = performance.now();
  while (performance.now() - last < patienceMs) {
    const heard = new Set(
      platforms.flatMap((platform) => platform.answers().flatMap(({ text }) => tokens(text))),
    );
    const answered = lines.filter(({ token }) => heard.has(token)).length;
    if (answered === lines.length) break;
    if (answered > best) {
      best = answered;
      last = performance.now();
    }
    await new Promise((go) => setTimeout(go, 100));
  }
  // What is said twice needs a moment to show.
  await new Promise((go) => setTimeout(go, 1_000));
}

function judge(
  platforms: readonly StormPlatform[],
  lines: readonly Line[],
  notes: string,
  logFile: string,
): StormReport {
  const log = readFileSync(logFile, "utf8").split("\n");
  const doubted = new Set(
    log.flatMap((line) =>
      line.includes('"send.doubt"') ? [/"id":"([^"]+):\d+[^"]*"/u.exec(line)?.[1] ?? line] : [],
    ),
  );
  const turns = new Map<string, string[]>();
  for (const note of readFileSync(notes, "utf8").split("\n")) {
    const [turn = "", ...of] = note.split(" ");
    for (const token of of) turns.set(token, [...(turns.get(token) ?? []), turn]);
  }
  const places = new Map(lines.map((line) => [line.token, line]));
  const [lost, astray, doubled]: [string[], string[], string[]] = [[], [], []];
  const heard = new Map<string, string[]>();
  for (const platform of platforms)
    for (const { room, text } of platform.answers()) {
      const turn = /turn=(\S+)/u.exec(text)?.[1] ?? "";
      for (const token of tokens(text)) {
        const place = places.get(token);
        if (place === undefined || place.platform !== platform || place.room !== room)
          astray.push(`${token} was answered in ${platform.id} ${room}`);
        heard.set(token, [...(heard.get(token) ?? []), turn]);
      }
    }
  for (const { token, platform, room } of lines) {
    const said = heard.get(token) ?? [];
    const isDoubted = (turns.get(token) ?? []).some((turn) => doubted.has(turn));
    if (said.length === 0 && !isDoubted)
      lost.push(`${token} of ${platform.id} ${room}; turns: ${turns.get(token)?.join() ?? "none"}`);
    if (said.length > 1 && !isDoubted)
      doubled.push(`${token} of ${platform.id} ${room}: ${said.join(", ")}`);
  }
  const rooms = new Set(lines.map(({ platform, room }) => `${platform.id} ${room}`)).size;
  const answered = lines.filter(({ token }) => heard.has(token)).length;
  return { said: lines.length, answered, rooms, lost, astray, doubled, doubts: doubted.size };
}
