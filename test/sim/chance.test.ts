/** Ids and chance of a simulation: for what they are about, and for nothing that happens beside it. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { SimulatedClock } from "../../src/actors/simulation/simulated-clock.ts";
import { seededIds, simulatedRandom } from "../../src/actors/simulation/simulated-platforms.ts";
import { property } from "../support/property.ts";

const draws = fc.array(fc.constantFrom("turn|a", "turn|b", "turn|c", ""), { maxLength: 40 });

property([draws, fc.nat(1_000)])(
  "no two ids are alike, and what others draw changes none",
  (all, seed) => {
    const clock = new SimulatedClock(1_763_700_000_000);
    const [whole, alone] = [seededIds(clock, seed), seededIds(clock, seed)];
    const drawn = all.map((about) => [about, whole.next(about)] as const);
    expect(new Set(drawn.map(([, id]) => id)).size).toBe(drawn.length);
    for (const [about, id] of drawn) if (about === "turn|a") expect(alone.next(about)).toBe(id);
    for (const [, id] of drawn) expect(id).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
  },
);

test("another moment, another seed and another thing have other ids", () => {
  const clock = new SimulatedClock(1_763_700_000_000);
  const first = seededIds(clock, 1).next("turn|a");
  const others = [seededIds(clock, 2).next("turn|a"), seededIds(clock, 1).next("turn|b")];
  expect(others.map((id) => id.slice(0, 10))).toEqual([first.slice(0, 10), first.slice(0, 10)]);
  clock.moveTo(clock.now() + 1);
  others.push(seededIds(clock, 1).next("turn|a"));
  expect(new Set([first, ...others].map((id) => id.slice(10))).size).toBe(4);
  expect((others.at(-1) ?? "") > first).toBe(true);
});

test("chance about a thing leaves the sequence of the rest alone", () => {
  const clock = new SimulatedClock();
  const [busy, calm] = [simulatedRandom(clock, 5), simulatedRandom(clock, 5)];
  const about = [busy.next("row 1"), busy.next("row 1"), busy.next("row 2")];
  expect(new Set(about).size).toBe(3);
  expect([busy.next(), busy.next()]).toEqual([calm.next(), calm.next()]);
  expect(calm.next("row 2")).toBe(about[2]);
  for (const one of about) expect(one >= 0 && one < 1).toBe(true);
});
