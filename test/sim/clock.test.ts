/**
 * Simulated time: it moves on request, never back, and timers fire in order.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SimulatedClock } from "../../src/actors/simulation/simulated-clock.ts";
import { property } from "../support/property.ts";

describe("simulated clock", () => {
  property([fc.array(fc.nat(50), { maxLength: 60 }), fc.array(fc.nat(59))])(
    "timers fire at their own moment, in order of time and then of setting; cleared ones never",
    (dues, cleared) => {
      const clock = new SimulatedClock(100);
      const fired: number[] = [];
      const timers = dues.map((due, index) =>
        clock.setTimer(100 + due, () => {
          expect(clock.now()).toBe(100 + due);
          fired.push(index);
        }),
      );
      const gone = new Set(cleared);
      for (const index of gone) {
        const timer = timers[index];
        if (timer !== undefined) clock.clearTimer(timer);
      }
      clock.advanceTo(200);
      const expected = dues
        .map((due, index) => ({ due, index }))
        .filter(({ index }) => !gone.has(index))
        .sort((a, b) => a.due - b.due || a.index - b.index)
        .map(({ index }) => index);
      expect(fired).toEqual(expected);
      expect(clock.nextDue()).toBeNull();
    },
  );

  test("time that is moved fires nothing; what is due by then fires late, one by one", () => {
    const clock = new SimulatedClock(100);
    const fired: string[] = [];
    clock.setTimer(110, () => fired.push(`first at ${clock.now()}`));
    clock.setTimer(120, () => fired.push(`second at ${clock.now()}`));
    clock.moveTo(120);
    expect(fired).toEqual([]);
    expect(clock.fireNext(120)).toBe(true);
    expect(fired).toEqual(["first at 120"]);
    clock.advanceTo(120);
    expect(fired).toEqual(["first at 120", "second at 120"]);
    expect(() => clock.moveTo(119)).toThrow(/time does not go back/);
  });

  test("time does not go back", () => {
    const clock = new SimulatedClock(1_000);
    clock.advanceTo(1_500);
    expect(clock.now()).toBe(1_500);
    expect(clock.monotonic()).toBe(500);
    expect(() => clock.advanceTo(1_499)).toThrow(/time does not go back/);
    expect(clock.now()).toBe(1_500);
  });

  test("a timer set by a timer fires on the same way if it is due by then", () => {
    const clock = new SimulatedClock();
    const fired: string[] = [];
    clock.setTimer(10, () => {
      fired.push("first");
      clock.setTimer(20, () => fired.push("second"));
      clock.setTimer(31, () => fired.push("too late"));
    });
    clock.advanceTo(30);
    expect(fired).toEqual(["first", "second"]);
    expect(clock.nextDue()).toBe(31);
  });

  test("a timer set for the past is due at once, and time stays", () => {
    const clock = new SimulatedClock(50);
    let at = 0;
    clock.setTimer(10, () => {
      at = clock.now();
    });
    expect(clock.nextDue()).toBe(50);
    expect(clock.fireNext(50)).toBe(true);
    expect(at).toBe(50);
    expect(clock.fireNext(50)).toBe(false);
  });

  test("a timer cleared from inside another does not fire, clearing twice does nothing", () => {
    const clock = new SimulatedClock();
    const fired: string[] = [];
    const second = clock.setTimer(10, () => fired.push("second"));
    clock.setTimer(5, () => {
      clock.clearTimer(second);
      clock.clearTimer(second);
      fired.push("first");
    });
    clock.advanceTo(20);
    expect(fired).toEqual(["first"]);
  });
});
