/** Waiting with a limit, on a clock that is moved by hand. */
import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { SimulatedClock } from "../../../src/actors/simulation/simulated-clock.ts";
import { late, unlessAborted, withEither, within } from "../../../src/domain/ports/within.ts";

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

const listeners = (signal: AbortSignal) => getEventListeners(signal, "abort").length;

describe("unlessAborted()", () => {
  test("ends as the work does, and leaves nothing on the signal", async () => {
    const { signal } = new AbortController();
    expect(await unlessAborted(Promise.resolve("done"), signal)).toBe("done");
    await expect(unlessAborted(Promise.reject(new Error("no")), signal)).rejects.toThrow("no");
    expect(listeners(signal)).toBe(0);
  });

  test("ends with the signal, also one that was aborted before, whatever the work does later", async () => {
    const stop = new AbortController();
    let fail: (error: Error) => void = () => undefined;
    const work = new Promise<never>((_, reject) => {
      fail = reject;
    });
    const waiting = unlessAborted(work, stop.signal);
    stop.abort(new Error("stopped"));
    await expect(waiting).rejects.toThrow("stopped");
    await expect(unlessAborted(work, stop.signal)).rejects.toThrow("stopped");
    fail(new Error("too late"));
    await Promise.resolve();
  });
});

describe("withEither()", () => {
  test.each([0, 1])("aborts the work with signal %i, with its reason", async (which) => {
    const stops = [new AbortController(), new AbortController()] as const;
    const waiting = withEither([stops[0].signal, stops[1].signal], (signal) =>
      unlessAborted(never(), signal),
    );
    stops[which]?.abort(new Error(`by ${which}`));
    await expect(waiting).rejects.toThrow(`by ${which}`);
    for (const { signal } of stops) expect(listeners(signal)).toBe(0);
  });

  test("leaves nothing on the signals, and sees one that was aborted before", async () => {
    const [open, over] = [new AbortController(), new AbortController()];
    over.abort(new Error("before"));
    const seen = await withEither([open.signal, over.signal], async ({ reason }) => reason);
    expect(seen).toEqual(new Error("before"));
    expect(listeners(open.signal)).toBe(0);
  });
});
