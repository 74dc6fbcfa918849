/** What the clock of a daemon tells when the machine's clock is set, and when the machine sleeps. */
import { expect, test } from "vitest";
import { createSteadyTime } from "../../../src/adapters/system/clock.ts";

const hour = 3_600_000;

function machine() {
  const at = { wall: 1_700_000_000_000, monotonic: 5_000, machine: 9_000 };
  const tell = createSteadyTime(
    { wall: () => at.wall, monotonic: () => at.monotonic, machine: () => at.machine },
    new Float64Array(1),
  );
  const pass = (ms: number) => {
    at.wall += ms;
    at.monotonic += ms;
    at.machine += ms;
  };
  return { at, tell, pass };
}

test.each([-hour, hour])(
  "a clock that is set by %i ms changes no wait by more than a tenth",
  (step) => {
    const { at, tell, pass } = machine();
    const before = tell();
    at.wall += step;
    expect(tell()).toBe(before);
    for (let second = 0; second < 10; second += 1) {
      pass(1_000);
      tell();
    }
    expect(Math.abs(tell() - before - 10_000)).toBeLessThanOrEqual(1_001);
    for (let minute = 0; minute < 11 * 60; minute += 1) {
      const earlier = tell();
      pass(60_000);
      expect(tell()).toBeGreaterThan(earlier);
    }
    expect(Math.abs(tell() - at.wall)).toBeLessThanOrEqual(6);
  },
);

test("the time that a machine slept has passed", () => {
  const { at, tell } = machine();
  const before = tell();
  at.wall += 8 * hour;
  at.machine += 8 * hour;
  expect(tell() - before).toBe(8 * hour);
});

test("a clock that was not set before is followed at once", () => {
  const { at, tell } = machine();
  at.wall += 300 * 24 * hour;
  expect(tell()).toBe(at.wall);
});
