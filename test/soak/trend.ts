/**
 * Whether something grows without bound
 * =====================================
 * The median of the last third of what follows the warm-up is compared with that of its first third. What
 * has a limit is flat between them, whatever went up and down meanwhile. What is kept by design grows by so
 * many bytes an answer or a message and no more: transcripts (on disk, and in memory up to
 * `transcriptBytesCachedMax`), and the log, which others rotate. `slack` is what a flat quantity varies by;
 * in a longer run more messages share it, so smaller leaks are found: 1 MB in an hour at 100 messages/s is 3
 * bytes a message.
 */
import { type Quantity, quantities, type Sample } from "./samples.ts";

const mb = 1_000_000;

interface Bound {
  /** Bytes, or a count, that it may vary by. */
  readonly slack: number;
  /** The same as a share of its level. */
  readonly share?: number;
  /** Bytes that it may grow by. @default 0 */
  readonly perAnswer?: number;
  readonly perMessage?: number;
  /** A cache fills: below this level, in bytes, it may grow by `fillsPerMessage` as well. */
  readonly fillsTo?: number;
  readonly fillsPerMessage?: number;
  /** What may be there at all. @default no limit: it is kept */
  readonly max?: number;
}

const bounds: Readonly<Record<Quantity, Bound>> = {
  "heap, main thread": { slack: 2 * mb, perAnswer: 4_000, max: 200 * mb },
  "heap, host": { slack: 6 * mb, max: 200 * mb },
  // The copy of the latest 65,536 journal rows takes memory as it fills, up to 37 MB.
  "outside the heaps": {
    slack: 4 * mb,
    share: 0.1,
    fillsTo: 48 * mb,
    fillsPerMessage: 1_000,
    max: 120 * mb,
  },
  // The young generation of each thread grows to three times its 64 MB before it is used again.
  RSS: { slack: 120 * mb, share: 0.15, max: 800 * mb },
  handles: { slack: 40, max: 500 },
  timers: { slack: 150, max: 2_000 },
  descriptors: { slack: 40, max: 500 },
  // It is used again from its start at 4 MB; what is written at once comes on top.
  WAL: { slack: 17 * mb, max: 70 * mb },
  // Rows beyond the retention stay until the conversation's snapshot covers them.
  database: { slack: 4 * mb, perAnswer: 4_000 },
  "search index": { slack: 4 * mb, max: 60 * mb },
  transcripts: { slack: 0.1 * mb, perAnswer: 4_000 },
  log: { slack: 0.1 * mb, perMessage: 600 },
};

export interface Trend {
  readonly name: Quantity;
  readonly unit: string;
  readonly first: number;
  readonly last: number;
  readonly most: number;
  /** Growth from the first third to the last one, a message. */
  readonly perMessage: number;
  /** Null: it is bounded. */
  readonly problem: string | null;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const above = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? above : ((sorted[middle - 1] ?? above) + above) / 2;
}

/** Least samples after the warm-up. */
const samplesMin = 9;

/**
 * @param samples those after the warm-up, in their order
 * @throws Error when they are too few to say anything
 */
export function trends(samples: readonly Sample[]): Trend[] {
  if (samples.length < samplesMin)
    throw new Error(
      `Cannot judge ${samples.length} samples: ${samplesMin} are needed. Run it longer`,
    );
  const third = Math.floor(samples.length / 3);
  const [before, after] = [samples.slice(0, third), samples.slice(-third)];
  const between = (of: (one: Sample) => number) => median(after.map(of)) - median(before.map(of));
  const messages = between((one) => one.messages);
  const answers = between((one) => one.answers);
  return quantities.map(({ name, unit }) => {
    const of = (some: readonly Sample[]) => some.map(({ values }) => values[name]);
    const [first, last, most] = [median(of(before)), median(of(after)), Math.max(...of(samples))];
    const { slack, share = 0, perAnswer = 0, perMessage = 0, max } = bounds[name];
    const { fillsTo = 0, fillsPerMessage = 0 } = bounds[name];
    const kept = perAnswer * answers + perMessage * messages;
    const filled = Math.min(fillsPerMessage * messages, Math.max(0, fillsTo - first));
    const allowed = Math.max(slack, share * first) + kept + filled;
    const growth = last - first;
    let problem: string | null = null;
    if (growth > allowed)
      problem = `grew by ${shown(growth, unit)}, ${shown(allowed, unit)} is allowed`;
    else if (most > (max ?? most))
      problem = `was ${shown(most, unit)}, at most ${shown(max ?? most, unit)} is allowed`;
    return { name, unit, first, last, most, perMessage: growth / Math.max(1, messages), problem };
  });
}

/** What is over the retention is looked for a minute after the start; before, growth and its absence say nothing, s. */
const steadyAfter = 60;

/** What a trend shows when the judged samples begin `warm` seconds after the start. */
export function verdict(problem: string | null, warm: number): string {
  return problem ?? (warm < steadyAfter ? "too short to tell" : "bounded");
}

/** With its unit, for people. */
export function shown(value: number, unit: string): string {
  return unit === "MB" ? `${(value / mb).toFixed(1)} MB` : String(Math.round(value));
}
