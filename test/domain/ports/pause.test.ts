/** Pauses before another try, on a clock that is moved by hand. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { SimulatedClock } from "../../../src/actors/simulation/simulated-clock.ts";
import { backOff, pauseFor } from "../../../src/domain/ports/pause.ts";

const open = () => new AbortController().signal;

test("a pause lasts half to all of a time that doubles up to the longest, and never less than asked for", () => {
  const any = {
    failures: fc.nat(200),
    askedMs: fc.option(fc.nat(200_000), { nil: undefined }),
    share: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  };
  fc.assert(
    fc.property(fc.record(any), ({ failures, askedMs, share }) => {
      const clock = new SimulatedClock();
      const random = { next: () => share };
      void backOff({ clock, random }, { msMin: 500, msMax: 60_000 }, failures, open(), askedMs);
      const whole = Math.min(60_000, 500 * 2 ** failures);
      const due = clock.nextDue() ?? 0;
      if (askedMs !== undefined && askedMs >= whole) expect(due).toBe(askedMs);
      else expect(due).toBeGreaterThanOrEqual(Math.max(whole / 2, askedMs ?? 0));
      expect(due).toBeLessThanOrEqual(Math.max(whole, askedMs ?? 0));
    }),
  );
});

test("a pause ends when it is stopped, and leaves no timer behind", async () => {
  const clock = new SimulatedClock();
  const stop = new AbortController();
  const waiting = pauseFor(clock, 1_000, stop.signal);
  stop.abort();
  await waiting;
  await pauseFor(clock, 1_000, stop.signal);
  expect(clock.nextDue()).toBeNull();
});
