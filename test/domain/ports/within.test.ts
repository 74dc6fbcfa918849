/** Waiting with a limit, on a clock that is moved by hand. */
import { describe, expect, test } from "vitest";
import { SimulatedClock } from "../../../src/actors/simulation/simulated-clock.ts";
import { late, within } from "../../../src/domain/ports/within.ts";

const never = () => new Promise<string>(() => undefined);

describe("within()", () => {
  test("gives the work's result, and leaves no timer behind", async () => {
    const clock = new SimulatedClock();
    expect(await within(clock, 100, Promise.resolve("done"))).toBe("done");
    expect(clock.nextDue()).toBeNull();
  });

  test("fails as the work fails, and leaves no timer behind", async () => {
    const clock = new SimulatedClock();
    await expect(within(clock, 100, Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(clock.nextDue()).toBeNull();
  });

  test("is late at its moment, not before", async () => {
    const clock = new SimulatedClock();
    const answers: unknown[] = [];
    const waiting = within(clock, 100, never()).then((answer) => answers.push(answer));
    clock.advanceTo(99);
    await Promise.resolve();
    expect(answers).toEqual([]);
    clock.advanceTo(100);
    await waiting;
    expect(answers).toEqual([late]);
  });

  test("aborts work that is late, with the reason it was given", async () => {
    const clock = new SimulatedClock();
    const signals: AbortSignal[] = [];
    const work = (signal: AbortSignal) => {
      signals.push(signal);
      return never();
    };
    const waiting = within(clock, 100, work, () => new Error("no longer"));
    expect(signals[0]?.aborted).toBe(false);
    clock.advanceTo(100);
    expect(await waiting).toBe(late);
    expect(signals[0]?.reason).toEqual(new Error("no longer"));
  });

  test("ignores that late work fails after all", async () => {
    const clock = new SimulatedClock();
    let fail = (_: Error): void => undefined;
    const work = new Promise<never>((_, reject) => {
      fail = reject;
    });
    const waiting = within(clock, 100, work);
    clock.advanceTo(100);
    expect(await waiting).toBe(late);
    fail(new Error("too late"));
    await new Promise((resolve) => setImmediate(resolve));
  });
});
