/**
 * Recent events in memory are the journal's rows or nothing, whatever has been overwritten.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { createRecent } from "../../../src/adapters/stores/recent-events.ts";
import type { EventWrite } from "../../../src/domain/ports/index.ts";
import { property } from "../../support/property.ts";

const write = (body: string, more: Partial<EventWrite> = {}): EventWrite => ({
  kind: "event",
  at: 5,
  eid: 1,
  identity: "i",
  conv: 2 ** 51 + 1,
  key: "k",
  cfg: 3,
  body,
  messageId: null,
  ...more,
});

const texts = fc.array(fc.string({ unit: "grapheme", maxLength: 20 }), { maxLength: 80 });

property([texts, fc.integer({ min: 1, max: 40 }), fc.integer({ min: 64, max: 2_048 })])(
  "every row that is given is the one that was put",
  (bodies, rows, bytes) => {
    const recent = createRecent(rows, bytes);
    for (const [index, body] of bodies.entries()) {
      recent.put(index + 1, write(body));
      recent.mark(index + 1, index + 7);
      for (let seq = 1; seq <= index + 1; seq += 1) {
        const found = recent.get(seq);
        if (found === undefined) continue;
        expect(found.body).toBe(bodies[seq - 1]);
        expect(found).toMatchObject({ seq, at: 5, conv: 2 ** 51 + 1, cfg: 3 });
        expect(found.code).toBe(seq + 6);
      }
    }
  },
);

test("the latest rows are there, the ones before them are not", () => {
  const recent = createRecent(4, 4_096);
  for (let seq = 1; seq <= 9; seq += 1) recent.put(seq, write(`row ${seq} ü🌍`));
  expect([5, 6, 9].map((seq) => recent.get(seq)?.body)).toEqual([
    undefined,
    "row 6 ü🌍",
    "row 9 ü🌍",
  ]);
  expect(recent.get(9)?.code).toBeNull();
});

test("a row whose text was written over is not there, though its numbers are", () => {
  const recent = createRecent(100, 1_024);
  const bodies = Array.from({ length: 40 }, (_, index) => `a text, number ${index}`);
  for (const [index, body] of bodies.entries()) recent.put(index + 1, write(body));
  const found = bodies.map((_, index) => recent.get(index + 1)?.body);
  const kept = found.filter((body) => body !== undefined);
  expect(kept.length).toBeGreaterThan(10);
  expect(kept.length).toBeLessThan(30);
  expect(found.slice(-kept.length)).toEqual(bodies.slice(-kept.length));
});

test("memory is taken as it fills, and rows stay where they are meanwhile", () => {
  const recent = createRecent(65_536, 33_554_432);
  const before = process.memoryUsage().arrayBuffers;
  recent.put(65_535, write("first"));
  recent.put(65_536, write("second"));
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(3_000_000);
  const text = "x".repeat(600_000);
  for (let seq = 65_537; seq < 65_540; seq += 1) recent.put(seq, write(text));
  expect([65_535, 65_536, 65_539].map((seq) => recent.get(seq)?.body)).toEqual([
    "first",
    "second",
    text,
  ]);
});

test("a text that would take too much of the room is not kept", () => {
  const recent = createRecent(4, 1_024);
  recent.put(1, write("x".repeat(900)));
  expect(recent.get(1)).toBeUndefined();
});

test("a mark for a row that is gone changes nothing", () => {
  const recent = createRecent(2, 1_024);
  for (const seq of [1, 2, 3]) recent.put(seq, write("x"));
  recent.mark(1, 9);
  expect(recent.get(3)?.code).toBeNull();
});
