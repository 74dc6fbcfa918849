/** How an account connects again, on a clock that is moved by hand. */
import { setImmediate as tick } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { SimulatedClock } from "../../../../src/actors/simulation/simulated-clock.ts";
import {
  keepListening,
  type Listening,
} from "../../../../src/adapters/channels/shared/listening.ts";
import { EarshotError } from "../../../../src/domain/errors.ts";

/** Listens as `listen` says, and notes what is reported and when it is connected. */
function account(listen: Listening["listen"], more: Partial<Listening> = {}) {
  const clock = new SimulatedClock();
  const stop = new AbortController();
  const [states, times]: [string[], number[]] = [[], []];
  const ended = keepListening(
    {
      listen(failures) {
        times.push(clock.now());
        return listen(failures);
      },
      wasLive: () => false,
      ...more,
    },
    {
      clock,
      random: { next: () => 0.999_999 },
      reportState: (state, why) => states.push(why === undefined ? state : `${state}: ${why}`),
    },
    stop.signal,
  );
  /** Lets pauses pass until it has been connected so often. */
  const until = async (connections: number) => {
    for (;;) {
      await tick();
      if (times.length >= connections) return;
      clock.advanceTo(clock.nextDue() ?? clock.now());
    }
  };
  return { clock, stop, states, times, ended, until };
}

const lost = () => new EarshotError("EAR_CHANNEL_UNAVAILABLE", "gone");

describe("an account whose connections fail", () => {
  test("connects again after pauses that grow to a minute, and says why", async () => {
    const failures: number[] = [];
    const { states, times, until, stop, ended } = account(async (count) => {
      failures.push(count);
      throw lost();
    });
    await until(9);
    const pauses = times.map((at, index) => Math.round((at - (times[index - 1] ?? 0)) / 1_000));
    expect(pauses).toEqual([0, 1, 2, 4, 8, 16, 32, 60, 60]);
    expect(failures).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(states.slice(0, 3)).toEqual(["backing-off: gone", "connecting", "backing-off: gone"]);
    stop.abort();
    await ended;
  });

  test("begins with short pauses again after a connection that lasted a minute", async () => {
    const one = account(async (count) => {
      if (count === 5) one.clock.advanceTo(one.clock.now() + 60_001);
      throw lost();
    });
    await one.until(7);
    const [fifth = 0, sixth = 0] = one.times.slice(5, 7);
    expect(sixth - fifth - 60_001).toBeLessThanOrEqual(1_000);
    one.stop.abort();
    await one.ended;
  });

  test("ends with an error that no further try can mend, or that is unknown", async () => {
    const refused = new EarshotError("EAR_CHANNEL_AUTH", "no");
    for (const error of [refused, new TypeError("a defect")]) {
      const { ended, states } = account(() => Promise.reject(error));
      await expect(ended).rejects.toBe(error);
      expect(states).toEqual([]);
    }
  });

  test("tries again after errors of its own that it names", async () => {
    const { states, until, stop, ended } = account(() => Promise.reject(new RangeError("cut")), {
      isLost: (error) => error instanceof RangeError,
      wasLive: () => true,
    });
    await until(2);
    expect(states).toEqual(["backing-off: cut", "resuming", "backing-off: cut"]);
    stop.abort();
    await ended;
  });

  test("reports nothing more once it is stopped, in a connection or in a pause", async () => {
    const paused = account(() => Promise.reject(lost()));
    await tick();
    paused.stop.abort();
    await paused.ended;
    expect(paused.states).toEqual(["backing-off: gone"]);

    const connected = account(async () => {
      await tick();
      connected.stop.abort();
      throw lost();
    });
    await connected.ended;
    expect(connected.states).toEqual([]);
  });
});
