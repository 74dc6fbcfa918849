/** Counts and shares. */
import fc from "fast-check";
import { expect } from "vitest";
import { Tally } from "../../../src/domain/quality/score.ts";
import { property } from "../../support/property.ts";

const decisions = fc.array(fc.tuple(fc.constantFrom("a", "b", "c"), fc.boolean(), fc.boolean()));
const tallyOf = (list: readonly (readonly [string, boolean, boolean])[]) => {
  const tally = new Tally();
  for (const [rule, engaged, meant] of list) tally.count(rule, engaged, meant);
  return tally;
};

property([decisions, decisions])("tallies add up as their decisions do, in any order", (a, b) => {
  const sum = new Tally();
  sum.add(tallyOf(b).score());
  sum.add(tallyOf(a).score());
  expect(sum.score()).toEqual(tallyOf([...a, ...b]).score());
});

property([decisions])("shares follow from the counts, and F1 lies between them", (list) => {
  const { meant, engaged, right, precision, recall, f1 } = tallyOf(list).score();
  expect(meant).toBe(list.filter(([, , isMeant]) => isMeant).length);
  expect(engaged).toBe(list.filter(([, isEngaged]) => isEngaged).length);
  expect(right).toBe(list.filter(([, isEngaged, isMeant]) => isEngaged && isMeant).length);
  expect(precision).toBe(engaged === 0 ? 0 : right / engaged);
  expect(recall).toBe(meant === 0 ? 0 : right / meant);
  if (right === 0) expect(f1).toBe(0);
  else expect(f1).toBeCloseTo((2 * precision * recall) / (precision + recall), 12);
});
