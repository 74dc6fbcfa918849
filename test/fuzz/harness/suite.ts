/** The tests of one target: its seeds, its finds, and random changes of its seeds. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { rounds } from "../../support/rounds.ts";
import { drawProblem, goodProblem, inputOf, problemOf } from "./check.ts";
import { findsOf, findText } from "./finds.ts";
import { anyDraw } from "./mutate.ts";
import type { Target } from "./target.ts";

/** Declares the tests of targets. `few` and `all` are how many random inputs each reads. */
export function fuzzed(targets: readonly Target[], few = 40, all = 2_000): void {
  for (const target of targets) {
    test(`${target.name}: ${target.claim}; its good inputs and earlier finds`, async () => {
      for (const seed of target.seeds) expect(await goodProblem(target, seed)).toBeNull();
      for (const { name, frames } of findsOf(target.name))
        expect([name, await problemOf(target, frames)]).toEqual([name, null]);
      for (const seed of target.seeds) expect(await goodProblem(target, seed)).toBeNull();
    });

    test(`${target.name}: ${target.claim}; whatever the bytes`, async () => {
      const holds = fc.asyncProperty(anyDraw, async (draw) => {
        const problem = await drawProblem(target, draw);
        if (problem !== null)
          throw new Error(
            `${problem.why}\n${problem.detail}\n${findText(problem.why, inputOf(target, draw)).slice(0, 4_000)}`,
          );
      });
      await fc.assert(holds, { numRuns: rounds(few, all) });
    });
  }
}
