/** The clock of a daemon when the machine's clock is set, and when the machine sleeps. */
import { expect, test } from "vitest";
import { createSteadyTime, goOnFrom } from "../../../src/adapters/system/clock.ts";

const hour = 3_600_000;

function machine() {
  const at = { wall: 1_700_000_000_000, monotonic: 5_000, machine: 9_000 };
  const offset = new Float64Array(1);
  const now = createSteadyTime(
    { wall: () => at.wall, monotonic: () => at.monotonic, machine: () => at.machine },
    offset,
  );
  const pass = (ms: number) => {
    at.wall += ms;
    at.monotonic += ms;
    at.machine += ms;
  };
  return { at, now, offset, pass };
}

test.each([-hour, hour])(
  "a clock that is set by %i ms changes no wait by more than a tenth",
  (step) => {
    const { at, now, pass } = machine();
    const before = now();
    at.wall += step;
    expect(now()).toBe(before);
    for (let second = 0; second < 10; second += 1) {
      pass(1_000);
      now();
    }
    expect(Math.abs(now() - before - 10_000)).toBeLessThanOrEqual(1_001);
    for (let minute = 0; minute < 11 * 60; minute += 1) {
      const earlier = now();
      pass(60_000);
      expect(now()).toBeGreaterThan(earlier);
    }
    expect(Math.abs(now() - at.wall)).toBeLessThanOrEqual(6);
  },
);

test("the time that a machine slept has passed", () => {
  const { at, now } = machine();
  const before = now();
  at.wall += 8 * hour;
  at.machine += 8 * hour;
  expect(now() - before).toBe(8 * hour);
});

test("a clock that was not set before is followed at once", () => {
  const { at, now } = machine();
  at.wall += 300 * 24 * hour;
  expect(now()).toBe(at.wall);
});

test.each([
  ["an hour before what is stored", hour, hour],
  ["after it", -hour, 0],
  ["a day before it: the clock was wrong then", 24 * hour, 0],
])("a clock that starts %s", (_, ahead, difference) => {
  const { at, now, offset, pass } = machine();
  goOnFrom(now, offset, at.wall + ahead);
  expect(now() - at.wall).toBe(difference);
  pass(10_000);
  // It is made up by a tenth of the time.
  expect(now() - at.wall).toBe(Math.max(0, difference - 1_000));
});
