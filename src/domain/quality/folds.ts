/**
 * Cross-validation
 * ================
 * Labelled material is dealt into five folds: by rooms, or, where there are fewer than five rooms, by
 * blocks of time of each room. A share is the mean over the folds in which it is defined, so that its
 * spread says how much it depends on the material.
 */
import type { LabelledRoom } from "./labelled-room.ts";

/** What a share is worked out from. */
export interface Counts {
  readonly right: number;
  readonly engaged: number;
  readonly meant: number;
}

export const measures = ["precision", "recall", "f1"] as const;
export type Measure = (typeof measures)[number];

/** The mean over folds, and the standard deviation between them. */
export interface Share {
  readonly mean: number;
  readonly spread: number;
}
export type Measured = Readonly<Record<Measure, Share>>;

/** What is looked for: a share that must be reached, or the highest F1. */
export interface Target {
  readonly measure: Measure;
  /** 0 to 1; null: as high as possible. */
  readonly atLeast: number | null;
}

export const foldsCount = 5;
export const noCounts: Counts = { right: 0, engaged: 0, meant: 0 };

export const added = (a: Counts, b: Counts): Counts => ({
  right: a.right + b.right,
  engaged: a.engaged + b.engaged,
  meant: a.meant + b.meant,
});

interface Fraction {
  readonly part: (fold: Counts) => number;
  readonly whole: (fold: Counts) => number;
}
const fractions: Readonly<Record<Measure, Fraction>> = {
  precision: { part: ({ right }) => right, whole: ({ engaged }) => engaged },
  recall: { part: ({ right }) => right, whole: ({ meant }) => meant },
  f1: { part: ({ right }) => 2 * right, whole: ({ engaged, meant }) => engaged + meant },
};

/** Counts of each fold, as shares. */
export function measuredOf(folds: readonly Counts[]): Measured {
  const shareOf = ({ part, whole }: Fraction): Share => {
    const shares = folds.flatMap((fold) => (whole(fold) === 0 ? [] : part(fold) / whole(fold)));
    if (shares.length === 0) return { mean: 0, spread: 0 };
    const mean = sumOf(shares) / shares.length;
    const variance = sumOf(shares.map((share) => (share - mean) ** 2)) / shares.length;
    return { mean, spread: Math.sqrt(variance) };
  };
  const { precision, recall, f1 } = fractions;
  return { precision: shareOf(precision), recall: shareOf(recall), f1: shareOf(f1) };
}

const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0);

/** Whether the target is reached; without a number it always is. */
export function isReached({ measure, atLeast }: Target, measured: Measured): boolean {
  return atLeast === null || measured[measure].mean >= atLeast;
}

/**
 * Whether `a` is closer to the target than `b`. Above it the other share counts, F1 for F1; what is
 * below the target is compared by the wanted share.
 */
export function isBetter(target: Target, a: Measured, b: Measured): boolean {
  const [ranksOfA, ranksOfB] = [ranks(target, a), ranks(target, b)];
  const differs = ranksOfA.findIndex((rank, index) => rank !== ranksOfB[index]);
  return differs !== -1 && (ranksOfA[differs] ?? 0) > (ranksOfB[differs] ?? 0);
}

/**
 * Whether `a` is better than `b` by more than chance explains: by more than the standard error of its
 * own mean over the folds, and of the mean of the differences between the folds. What alone reaches
 * the target is better anyhow.
 */
export function isClearlyBetter(
  target: Target,
  a: readonly Counts[],
  b: readonly Counts[],
): boolean {
  const [measuredA, measuredB] = [measuredOf(a), measuredOf(b)];
  if (!isBetter(target, measuredA, measuredB)) return false;
  const reached = isReached(target, measuredA);
  if (reached !== isReached(target, measuredB)) return true;
  const { part, whole } = fractions[reached ? otherOf[target.measure] : target.measure];
  const shareOf = (fold: Counts) => (whole(fold) === 0 ? 0 : part(fold) / whole(fold));
  const pairs = a.flatMap((fold, index) => {
    const other = b[index] ?? noCounts;
    return whole(fold) + whole(other) === 0 ? [] : [[shareOf(fold), shareOf(other)] as const];
  });
  // One fold says nothing about chance.
  if (pairs.length < 2) return false;
  const gains = pairs.map(([one, other]) => one - other);
  const gain = sumOf(gains) / gains.length;
  return gain > errorOf(gains) && gain > errorOf(pairs.map(([one]) => one));
}

/** The standard error of a mean. */
function errorOf(numbers: readonly number[]): number {
  const { length } = numbers;
  const mean = sumOf(numbers) / length;
  const variance = sumOf(numbers.map((one) => (one - mean) ** 2)) / (length - 1);
  return Math.sqrt(variance / length);
}

const otherOf = { precision: "recall", recall: "precision", f1: "f1" } as const;

function ranks(target: Target, measured: Measured): readonly number[] {
  const reached = isReached(target, measured);
  const first = reached ? otherOf[target.measure] : target.measure;
  return [reached ? 1 : 0, measured[first].mean, measured.f1.mean];
}

/** How material is dealt into folds. */
export interface Folds {
  readonly by: "rooms" | "blocks of time";
  /** The fold of a line by its index; null: the line does not count. */
  readonly foldOf: (room: LabelledRoom, index: number) => number;
}

/** The same seed deals the same rooms into the same folds. */
export function foldsOf(rooms: readonly LabelledRoom[], seed: number): Folds {
  if (rooms.length < foldsCount) return { by: "blocks of time", foldOf: blockOf };
  const order = shuffled(rooms, seed);
  const folds = new Map(order.map((room, place) => [room.room, place % foldsCount]));
  return { by: "rooms", foldOf: ({ room }) => folds.get(room) ?? 0 };
}

/** Blocks of as many lines each, of those that count. */
function blockOf({ lines, from }: LabelledRoom, index: number): number {
  const first = Math.max(
    0,
    lines.findIndex(({ id }) => id === from),
  );
  const place = Math.max(0, index - first) / (lines.length - first);
  return Math.min(foldsCount - 1, Math.floor(place * foldsCount));
}

function shuffled<Item>(items: readonly Item[], seed: number): readonly Item[] {
  const drawn = [...items];
  let state = seed >>> 0;
  for (let last = drawn.length - 1; last > 0; last -= 1) {
    state = mixed(state);
    const other = Math.floor((state / 2 ** 32) * (last + 1));
    [drawn[last], drawn[other]] = [drawn[other] as Item, drawn[last] as Item];
  }
  return drawn;
}

/** A step of splitmix32: deterministic on every machine. */
function mixed(state: number): number {
  let mix = (state + 0x9e3779b9) >>> 0;
  mix = Math.imul(mix ^ (mix >>> 16), 0x21f0aaad);
  mix = Math.imul(mix ^ (mix >>> 15), 0x735a2d97);
  return (mix ^ (mix >>> 15)) >>> 0;
}
