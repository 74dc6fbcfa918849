/**
 * The campaign, a few seeds of it. Whatever fails, nothing is
 * lost, doubled, out of order or left without an end, and one seed is one history.
 */
import { expect, test } from "vitest";
import { rounds } from "../../support/rounds.ts";
import { violations } from "./checks.ts";
import { hashOf } from "./history.ts";
import { planOf } from "./plan.ts";
import { runPlan } from "./run.ts";

const first = 1;

test("no seed breaks a promise", async () => {
  const found: string[] = [];
  for (let seed = first; seed < first + rounds(4, 200); seed += 1) {
    const wrong = violations(await runPlan(planOf(seed)));
    found.push(...wrong.map((what) => `seed ${seed}: ${what}`));
  }
  expect(found).toEqual([]);
});

test("the same seed gives the same history", async () => {
  const hashes = [];
  for (let time = 0; time < 2; time += 1) hashes.push(hashOf(await runPlan(planOf(7))));
  expect(new Set(hashes).size).toBe(1);
  expect(hashOf(await runPlan(planOf(8)))).not.toBe(hashes[0]);
});
