/**
 * The events without a record are those of a plain list for each conversation, whatever is added and
 * covered in whatever order.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { createTails } from "../../../src/adapters/stores/unsnapshotted-events.ts";
import { property } from "../../support/property.ts";

type Action = readonly ["push" | "cover", conv: number, back: number];

const actions = fc.array(fc.tuple(fc.constantFrom("push", "push", "cover"), fc.nat(4), fc.nat(6)), {
  maxLength: 200,
}) as fc.Arbitrary<Action[]>;

property([actions, fc.integer({ min: 0, max: 40 })])(
  "every conversation's events are those that were added and not covered, ascending",
  (story, scannedAt) => {
    const tails = createTails();
    const model = new Map<number, number[]>();
    // The first events are found by the scan at start, after the others.
    const older = [0, 1, 2].map((conv) => [conv, [conv + 1, conv + 4]] as const);
    let last = 10;
    for (const [index, [what, conv, back]] of story.entries()) {
      if (index === scannedAt) {
        for (const [of, seqs] of older) {
          for (const seq of seqs) tails.pushOlder(of, seq);
          model.set(of, [...seqs, ...(model.get(of) ?? [])]);
        }
        tails.joinOlder();
      }
      if (what === "push") {
        last += 1;
        tails.push(conv, last);
        model.set(conv, [...(model.get(conv) ?? []), last]);
      } else {
        const left = (model.get(conv) ?? []).filter((seq) => seq > last - back);
        tails.cover(conv, last - back);
        if (left.length > 0) model.set(conv, left);
        else model.delete(conv);
      }
      expect(tails.size).toBe(model.size);
    }
    const all = [...model.values()].flat();
    expect(tails.lowWater(last)).toBe(all.length === 0 ? last : Math.min(...all) - 1);
    for (const conv of [0, 1, 2, 3, 4]) {
      const seqs = model.get(conv) ?? [];
      expect(tails.has(conv)).toBe(seqs.length > 0);
      expect(tails.after(conv, 0)).toEqual(seqs);
      expect(tails.between(conv, last - 5, last)).toEqual(
        seqs.filter((seq) => seq > last - 5 && seq < last),
      );
    }
    expect(tails.dirty(10)).toEqual(
      [...model]
        .map(([conv, seqs]) => ({ conv, first: seqs[0], last: seqs.at(-1) }))
        .sort((a, b) => (a.first as number) - (b.first as number)),
    );
  },
);

test("a conversation that got a record and has events after it waits behind the others", () => {
  const tails = createTails();
  tails.push(1, 1);
  tails.push(2, 2);
  tails.push(1, 3);
  tails.cover(1, 1);
  expect(tails.dirty(1)).toEqual([{ conv: 2, first: 2, last: 2 }]);
});

test("many events of many conversations, covered and added again", () => {
  const tails = createTails();
  for (let round = 0; round < 3; round += 1) {
    for (let n = 0; n < 5_000; n += 1) tails.push(n % 1_000, round * 10_000 + n);
    expect(tails.after(999, 0)).toHaveLength(5);
    for (let conv = 0; conv < 999; conv += 1) tails.cover(conv, round * 10_000 + 5_000);
    expect(tails.size).toBe(1);
    tails.cover(999, round * 10_000 + 5_000);
    expect(tails.lowWater(7)).toBe(7);
  }
});
