/**
 * What the benches share: a repeatable stream of messages, a fair way to time a loop, and the one
 * line of JSON each bench prints. Figures are of this machine and this run; only ratios inside one
 * run are asserted.
 */
import type { Inbound } from "../src/domain/message.ts";

/** `--short`: enough to run and to see the shape, not enough to quote. */
export const short = process.argv.includes("--short");

/** mulberry32: small, seeded, good enough to spread traffic. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const words = "the build is green again and lunch is at one if nobody minds soup".split(" ");

/** Shares of what people write in a busy group room. The rest is plain talk. */
export interface Mix {
  readonly mention: number;
  readonly reply: number;
  readonly bot: number;
}
export const quietMix: Mix = { mention: 0, reply: 0.15, bot: 0.1 };
export const busyMix: Mix = { mention: 0.07, reply: 0.15, bot: 0.1 };

/** The n-th message of a repeatable stream over `rooms` group chats of five people and a bot. */
export function messages(
  rooms: number,
  mix: Mix,
  seed = 1,
): (n: number, sentAt: number) => Inbound {
  const random = randomFrom(seed);
  return (n, sentAt) => {
    const room = Math.floor(random() * rooms);
    const isBot = random() < mix.bot;
    const author = isBot ? "relay" : `u${Math.floor(random() * 5)}`;
    const start = Math.floor(random() * 6);
    const mention = random() < mix.mention;
    const reply = random() < mix.reply;
    return {
      channel: "telegram",
      account: "default",
      chat: { id: `-100${room}`, kind: "group" },
      thread: null,
      id: `m${n}`,
      author: { id: author, name: author, isBot, isSelf: false },
      text: words.slice(start, start + 7).join(" "),
      mentions: mention ? [{ id: "self", isSelf: true }] : [],
      mentionsEveryone: false,
      replyTo: reply ? { id: `m${Math.max(0, n - 3)}`, authorId: "u9", authorIsSelf: false } : null,
      attachments: [],
      explicitOnly: false,
      sentAt,
    };
  };
}

/** Says so many messages a second until stopped; for how long, ms. */
export async function keepSaying(
  say: (count: number) => Promise<unknown>,
  perSecond: number,
  stop: AbortSignal,
): Promise<number> {
  const from = performance.now();
  for (let done = 0; !stop.aborted; ) {
    const due = Math.floor(((performance.now() - from) * perSecond) / 1_000) - done;
    if (due > 0) await say(Math.min(due, 100));
    done += Math.max(0, Math.min(due, 100));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return performance.now() - from;
}

/**
 * Calls of `step(n)` in a second of the processor's time: warmed up, then the best of `rounds`. What
 * else runs on the machine takes no part of it.
 */
export function perSecond(step: (n: number) => void, calls: number, rounds = 3): number {
  for (let n = 0; n < Math.min(calls, 20_000); n += 1) step(n);
  let best = 0;
  for (let round = 0; round < rounds; round += 1) {
    const before = process.cpuUsage();
    for (let n = 0; n < calls; n += 1) step(n);
    const { user, system } = process.cpuUsage(before);
    best = Math.max(best, (calls * 1_000_000) / Math.max(1, user + system));
  }
  return Math.round(best);
}

/** The q-quantile of samples, e.g. 0.99. */
export function quantile(samples: readonly number[], q: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}

export interface Report {
  readonly bench: string;
  readonly unit?: string;
  readonly figures: Readonly<Record<string, number>>;
  /** One figure of this run over another of the same run. */
  readonly ratios?: Readonly<Record<string, number>>;
  /** What a script of `--against` needs to do the same. */
  readonly given?: unknown;
}

/** Prints the bench's one line. */
export function report(result: Report): void {
  process.stdout.write(`${JSON.stringify({ ...result, short, node: process.version })}\n`);
}

/**
 * Fails the bench when a ratio inside this run is below `min`. A short run on a busy machine is
 * coarse: it only has to come within two thirds of it.
 */
export function assertRatio(name: string, value: number, min: number): void {
  const least = short ? (min * 2) / 3 : min;
  if (!(value >= least))
    throw new Error(`${name} is ${value.toFixed(2)}, expected at least ${least.toFixed(2)}`);
}

/** Rounded for people. */
export const round = (value: number, digits = 2): number => Number(value.toFixed(digits));
