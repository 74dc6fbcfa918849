/** Watch but remember: bounded by count and age, nothing lost without being counted. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type BufferEntry,
  type ContextBuffer,
  editBuffered,
  emptyBuffer,
  remember,
  removeBuffered,
  seedBuffer,
  takeBuffer,
} from "../../../src/machines/batching/context-buffer.ts";
import { property } from "../../support/property.ts";

const entry = (n: number, at = n): BufferEntry => ({
  seq: n,
  id: `m${n}`,
  at,
  author: "ann",
  self: false,
});
const hear = (buffer: ContextBuffer, from: number, count: number, size: number) => {
  let kept = buffer;
  for (let n = from; n < from + count; n += 1) kept = remember(kept, entry(n), size).buffer;
  return kept;
};

describe("invariant 11: the newest, in arrival order, no more than the size", () => {
  property([fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 25 })])(
    "after every observe",
    (count, size) => {
      let buffer = emptyBuffer;
      for (let n = 0; n < count; n += 1) {
        const before = buffer;
        const { buffer: after, dropped } = remember(buffer, entry(n), size);
        buffer = after;
        expect(buffer.entries.length).toBeLessThanOrEqual(size);
        expect([...dropped, ...buffer.entries]).toEqual([...before.entries, entry(n)]);
      }
      expect(buffer.entries.map(({ seq }) => seq)).toEqual(
        Array.from({ length: Math.min(size, count) }, (_, n) => Math.max(0, count - size) + n),
      );
      expect(buffer.dropped + buffer.entries.length).toBe(count);
    },
  );
});

describe("taking", () => {
  property([fc.array(fc.constantFrom(0, 99, 100, 101, 5_000), { maxLength: 30 })])(
    "everything is shown, aged out or was dropped before, and counted as such",
    (ages) => {
      const now = 10_000;
      let buffer = emptyBuffer;
      ages.forEach((age, n) => {
        buffer = remember(buffer, entry(n, now - age), 20).buffer;
      });
      const { shown, aged, omitted } = takeBuffer(buffer, now, 100);
      expect(shown.length + omitted).toBe(ages.length);
      expect(shown.every(({ at }) => now - at <= 100)).toBe(true);
      expect(aged.every(({ at }) => now - at > 100)).toBe(true);
    },
  );

  test("an age of zero is no limit", () => {
    const { shown, aged } = takeBuffer(hear(emptyBuffer, 0, 5, 20), 1_000_000, 0);
    expect([shown.length, aged.length]).toEqual([5, 0]);
  });
});

describe("cold start, edits and deletes", () => {
  test("history goes in front, may exceed the size once, and the next line trims it", () => {
    const older = Array.from({ length: 30 }, (_, n) => entry(n));
    const seeded = seedBuffer(remember(emptyBuffer, entry(29), 20).buffer, older);
    expect(seeded.entries.map(({ seq }) => seq)).toEqual(older.map(({ seq }) => seq));
    const next = remember(seeded, entry(30), 20);
    expect(next.buffer.entries).toHaveLength(20);
    expect(next.dropped).toHaveLength(11);
    expect(next.buffer.dropped).toBe(11);
  });

  test("an edit moves the text's number in place, a delete takes the message out", () => {
    const buffer = hear(emptyBuffer, 0, 3, 20);
    const edited = editBuffered(buffer, { id: "m1" }, 77);
    expect(edited.entries.map(({ editSeq }) => editSeq)).toEqual([undefined, 77, undefined]);
    const removed = removeBuffered(edited, { id: "m1" });
    expect(removed.entries.map(({ id }) => id)).toEqual(["m0", "m2"]);
    expect(removed.dropped).toBe(0);
    expect(editBuffered(buffer, { id: "other" }, 77)).toBe(buffer);
    expect(removeBuffered(buffer, { id: "other" })).toBe(buffer);
  });
});
