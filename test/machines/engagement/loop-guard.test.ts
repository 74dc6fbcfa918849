/** The guard trips if and only if a limit was reached since a human last spoke. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  countPeerTurn,
  noCounters,
  reachedHardLimit,
  reachedLimit,
} from "../../../src/machines/engagement/loop-guard.ts";
import { property } from "../../support/property.ts";

const settings = { maxConsecutive: 5, maxInWindow: 5, windowMs: 60_000, hardLimit: 20 };

describe("invariant 10: active exactly when the limits were reached", () => {
  const steps = fc.array(
    fc.record({
      human: fc.oneof(
        { weight: 1, arbitrary: fc.constant(true) },
        { weight: 7, arbitrary: fc.constant(false) },
      ),
      after: fc.constantFrom(0, 1, 14_999, 15_000, 59_999, 60_000, 60_001),
    }),
    { maxLength: 60, size: "max" },
  );
  const limitsOf = fc.record({
    maxConsecutive: fc.constantFrom(0, 1, 5, 8),
    maxInWindow: fc.constantFrom(0, 1, 3, 5),
    windowMs: fc.constantFrom(1, 60_000),
    hardLimit: fc.constantFrom(0, 1, 20),
  });
  property([steps, limitsOf])(
    "counted step by step as counted from the whole story",
    (story, given) => {
      let counters = noCounters;
      let at = 0;
      let since: number[] = [];
      for (const { human, after } of story) {
        at += after;
        const now = at;
        counters = human ? noCounters : countPeerTurn(counters, now, given);
        since = human ? [] : [...since, now];
        const recent = since.filter((earlier) => now - earlier < given.windowMs).length;
        const tripped =
          (given.maxConsecutive > 0 && since.length >= given.maxConsecutive) ||
          (given.maxInWindow > 0 && recent >= given.maxInWindow);
        expect(reachedLimit(counters, given)).toBe(tripped);
        expect(reachedHardLimit(counters, given)).toBe(
          given.hardLimit > 0 && since.length >= given.hardLimit,
        );
        expect(counters.window.length).toBeLessThanOrEqual(Math.max(1, given.maxInWindow));
      }
    },
  );

  test("five turns in a row trip it, slow ones too; a human clears it", () => {
    let counters = noCounters;
    for (let n = 1; n <= 5; n += 1) {
      expect(reachedLimit(counters, settings)).toBe(false);
      counters = countPeerTurn(counters, n * 3_600_000, settings);
    }
    expect(reachedLimit(counters, settings)).toBe(true);
    expect(reachedLimit(noCounters, settings)).toBe(false);
  });

  test("the hard limit comes at the twentieth turn, and zero is never", () => {
    let counters = noCounters;
    for (let n = 0; n < 19; n += 1) counters = countPeerTurn(counters, n, settings);
    expect(reachedHardLimit(counters, settings)).toBe(false);
    counters = countPeerTurn(counters, 19, settings);
    expect(reachedHardLimit(counters, settings)).toBe(true);
    expect(reachedHardLimit(counters, { ...settings, hardLimit: 0 })).toBe(false);
  });
});
