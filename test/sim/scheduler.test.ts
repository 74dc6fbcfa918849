/** The scheduler of a simulation: everything in the order it was asked for, and idle only after all of it. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SimulatedScheduler } from "../../src/actors/simulation/simulated-scheduler.ts";
import { nextTurn } from "../../src/actors/util/scheduling.ts";

describe("the scheduler of a simulation", () => {
  test("calls in the order of asking, and whoever waits for idle after all others", async () => {
    const wanted = fc.array(fc.constantFrom("soon", "idle"), { maxLength: 200 });
    await fc.assert(
      fc.asyncProperty(wanted, async (waits) => {
        const scheduler = new SimulatedScheduler();
        const seen: string[] = [];
        await Promise.all(
          waits.map(async (wait, index) => {
            await (wait === "soon" ? nextTurn(scheduler) : scheduler.idle());
            seen.push(`${wait} ${index}`);
          }),
        );
        const asked = waits.map((wait, index) => `${wait} ${index}`);
        const of = (wait: string) => asked.filter((one) => one.startsWith(wait));
        expect(seen).toEqual([...of("soon"), ...of("idle")]);
      }),
    );
  });

  test("is not idle while something is asked for soon, or follows from that", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 150 }), async (hops) => {
        const scheduler = new SimulatedScheduler();
        let done = 0;
        const hop = () => {
          done += 1;
          if (done < hops) void Promise.resolve().then(() => scheduler.soon(hop));
        };
        scheduler.soon(hop);
        await scheduler.idle();
        expect(done).toBe(hops);
        await scheduler.idle();
        expect(done).toBe(hops);
      }),
    );
  });

  test("gives the event loop its turn however much there is to do", async () => {
    const scheduler = new SimulatedScheduler();
    let isOver = false;
    setImmediate(() => {
      isOver = true;
    });
    let hops = 0;
    while (!isOver) {
      await nextTurn(scheduler);
      hops += 1;
      expect(hops).toBeLessThan(1_000);
    }
    expect(hops).toBeGreaterThan(1);
  });
});
