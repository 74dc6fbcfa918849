import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { IdlePriority } from "../../../src/actors/util/scheduling.ts";
import {
  idlePriorities,
  nextEventLoopTurn,
  scheduleSoon,
  singleThreadScheduling,
} from "../../../src/actors/util/scheduling.ts";

type Wait = 0 | IdlePriority;
const waits = fc.constantFrom<Wait>(0, ...Object.values(idlePriorities));

/** Asks for what is wanted in this order; gives the ranks as they were called. */
async function called(wanted: readonly Wait[]): Promise<Wait[]> {
  const pace = singleThreadScheduling();
  const seen: Wait[] = [];
  await Promise.all(
    wanted.map(async (rank) => {
      if (rank === 0) await new Promise<void>((resolve) => scheduleSoon(pace, resolve));
      else await pace.still?.(rank);
      seen.push(rank);
    }),
  );
  return seen;
}

describe("the pace of a simulation alone on its thread", () => {
  test("whoever waits is called in the order of ranks, whatever was asked for first", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(waits, { maxLength: 200 }), async (wanted) => {
        expect(await called(wanted)).toEqual([...wanted].sort((a, b) => a - b));
      }),
    );
  });

  test("nothing is still while something waits for soon, also what was asked for meanwhile", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 150 }), async (hops) => {
        const pace = singleThreadScheduling();
        let done = 0;
        const hop = () => {
          done += 1;
          if (done < hops) void Promise.resolve().then(() => scheduleSoon(pace, hop));
        };
        scheduleSoon(pace, hop);
        await pace.still?.(idlePriorities.round);
        expect(done).toBe(hops);
        await nextEventLoopTurn(pace);
        expect(done).toBe(hops);
      }),
    );
  });

  test("what goes straight through waits for nobody", async () => {
    const pace = singleThreadScheduling();
    pace.straight = true;
    const seen: string[] = [];
    scheduleSoon(pace, () => seen.push("soon"));
    await Promise.resolve();
    expect(seen).toEqual(["soon"]);
  });

  test("the event loop has its turn however much there is to do", async () => {
    const pace = singleThreadScheduling();
    let isOver = false;
    setImmediate(() => {
      isOver = true;
    });
    let hops = 0;
    while (!isOver) {
      await new Promise<void>((resolve) => scheduleSoon(pace, resolve));
      hops += 1;
      expect(hops).toBeLessThan(1_000);
    }
    expect(hops).toBeGreaterThan(1);
  });
});
