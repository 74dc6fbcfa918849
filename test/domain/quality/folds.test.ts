/** How rooms are dealt into folds, and which numbers are closer to a target. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Counts,
  foldsCount,
  foldsOf,
  isBetter,
  isClearlyBetter,
  isReached,
  measuredOf,
  measures,
} from "../../../src/domain/quality/folds.ts";
import type { LabelledRoom } from "../../../src/domain/quality/labelled-room.ts";
import { property } from "../../support/property.ts";

const roomsOf = (count: number, lines = 1, from?: string): readonly LabelledRoom[] =>
  Array.from({ length: count }, (_, room) => ({
    room: `r${room}`,
    agents: ["scout"],
    bots: [],
    ...(from === undefined ? {} : { from }),
    lines: Array.from({ length: lines }, (_line, at) => ({
      id: String(at),
      at,
      by: "ann",
      text: "hm",
    })),
  }));
const seeds = fc.nat({ max: 2 ** 32 - 1 });

property([seeds, fc.integer({ min: 5, max: 60 })])(
  "rooms are dealt evenly, and the same seed deals the same",
  (seed, count) => {
    const rooms = roomsOf(count);
    const deal = () => rooms.map((room) => foldsOf(rooms, seed).foldOf(room, 0));
    expect(deal()).toEqual(deal());
    const sizes = Array.from({ length: foldsCount }, (_, fold) => {
      return deal().filter((one) => one === fold).length;
    });
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
  },
);

test("another seed deals otherwise", () => {
  const rooms = roomsOf(20);
  const deal = (seed: number) => rooms.map((room) => foldsOf(rooms, seed).foldOf(room, 0));
  expect(deal(1)).not.toEqual(deal(2));
});

test("fewer than five rooms are cut into blocks of time, of the lines that count", () => {
  const rooms = roomsOf(1, 20, "10");
  const { by, foldOf } = foldsOf(rooms, 1);
  expect(by).toBe("blocks of time");
  const [room] = rooms as [LabelledRoom];
  expect(room.lines.map((_, index) => foldOf(room, index)).slice(10)).toEqual([
    ...[0, 0, 1, 1, 2, 2, 3, 3, 4, 4],
  ]);
});

describe("shares", () => {
  test("are means over the folds in which they are defined, with their spread", () => {
    const folds = [
      { right: 1, engaged: 2, meant: 1 },
      { right: 0, engaged: 0, meant: 0 },
      { right: 3, engaged: 3, meant: 6 },
    ];
    const { precision, recall, f1 } = measuredOf(folds);
    expect(precision).toEqual({ mean: 0.75, spread: 0.25 });
    expect(recall).toEqual({ mean: 0.75, spread: 0.25 });
    expect(f1.mean).toBeCloseTo(2 / 3, 12);
    expect(measuredOf([]).f1).toEqual({ mean: 0, spread: 0 });
  });

  const at = (precision: number, recall: number, f1: number) => ({
    precision: { mean: precision, spread: 0 },
    recall: { mean: recall, spread: 0 },
    f1: { mean: f1, spread: 0 },
  });
  test.each([
    ["reached before not reached", "precision", at(0.9, 0.1, 0.2), at(0.89, 0.9, 0.9)],
    [
      "of those that reach it the higher other share",
      "precision",
      at(0.9, 0.6, 0.7),
      at(1, 0.5, 0.7),
    ],
    ["of those that do not the nearer one", "recall", at(0.1, 0.8, 0.2), at(0.9, 0.7, 0.8)],
    ["F1 for F1", "f1", at(0.1, 0.1, 0.95), at(1, 1, 0.92)],
  ] as const)("%s is better", (_what, measure, better, worse) => {
    const target = { measure, atLeast: 0.9 };
    expect(isBetter(target, better, worse)).toBe(true);
    expect(isBetter(target, worse, better)).toBe(false);
  });
});

const counts: fc.Arbitrary<Counts> = fc
  .tuple(fc.nat(9), fc.nat(9), fc.nat(9))
  .map(([right, wrong, missed]) => ({ right, engaged: right + wrong, meant: right + missed }));
const folds = fc.array(counts, { minLength: 5, maxLength: 5 });
const targets = fc.record({
  measure: fc.constantFrom(...measures),
  atLeast: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
});

property([targets, folds, folds, folds])("better is an order", (target, a, b, c) => {
  const [x, y, z] = [measuredOf(a), measuredOf(b), measuredOf(c)];
  expect(isBetter(target, x, x)).toBe(false);
  expect(isBetter(target, x, y) && isBetter(target, y, x)).toBe(false);
  if (isBetter(target, x, y) && isBetter(target, y, z)) expect(isBetter(target, x, z)).toBe(true);
  if (isReached(target, y) && isBetter(target, x, y)) expect(isReached(target, x)).toBe(true);
});

describe("clearly better", () => {
  const target = { measure: "f1", atLeast: null } as const;
  const fold = (right: number) => ({ right, engaged: 100, meant: 100 });
  const all = (...rights: readonly number[]) => rights.map(fold);

  test("is more than the standard error over the folds", () => {
    const given = all(70, 75, 80, 85, 90);
    expect(isClearlyBetter(target, all(75, 80, 85, 90, 95), given)).toBe(true);
    // By less than the folds differ: the mean is known to 3.5.
    expect(isClearlyBetter(target, all(73, 78, 83, 88, 93), given)).toBe(false);
    // The same gain in the mean, from one fold alone.
    expect(isClearlyBetter(target, all(95, 75, 80, 85, 90), given)).toBe(false);
    expect(isClearlyBetter(target, all(90, 90, 90, 90, 90), all(90, 90, 90, 90, 89))).toBe(false);
    expect(isClearlyBetter(target, given, given)).toBe(false);
    expect(isClearlyBetter(target, all(60, 70, 75, 80, 85), given)).toBe(false);
  });

  test("is what alone reaches the target, and nothing in one fold", () => {
    const wanted = { measure: "precision", atLeast: 0.7 } as const;
    const given = all(50, 60, 70, 80, 89);
    expect(isClearlyBetter(wanted, all(60, 60, 70, 80, 90), given)).toBe(true);
    const empty = { right: 0, engaged: 0, meant: 0 };
    const one = (right: number) => [fold(right), empty, empty, empty, empty];
    expect(isClearlyBetter(target, one(90), one(50))).toBe(false);
  });
});

property([targets, folds, folds])("clearly better is better", (target, a, b) => {
  if (isClearlyBetter(target, a, b))
    expect(isBetter(target, measuredOf(a), measuredOf(b))).toBe(true);
  expect(isClearlyBetter(target, a, a)).toBe(false);
});
