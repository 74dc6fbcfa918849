/** The judge of a soak: what is bounded passes, however it varies, and a leak of known size does not. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { property } from "../support/property.ts";
import { picture } from "./picture.ts";
import { type Quantity, quantities, type Sample } from "./samples.ts";
import { trends, verdict } from "./trend.ts";

const mb = 1_000_000;
const usual: Readonly<Record<Quantity, number>> = {
  "heap, main thread": 45 * mb,
  "heap, host": 15 * mb,
  "outside the heaps": 44 * mb,
  RSS: 300 * mb,
  handles: 25,
  timers: 40,
  descriptors: 50,
  WAL: 4 * mb,
  database: 9 * mb,
  "search index": 2 * mb,
  transcripts: mb,
  log: 4 * mb,
};

/** A sample every ten seconds at 100 messages/s, 10% of them answered. */
function run(count: number, held: (name: Quantity, n: number) => number): Sample[] {
  return Array.from({ length: count }, (_, n) => ({
    at: n * 10,
    messages: n * 1_000,
    answers: n * 100,
    values: Object.fromEntries(
      quantities.map(({ name }) => [name, held(name, n)]),
    ) as Sample["values"],
  }));
}
const problems = (samples: readonly Sample[]) =>
  trends(samples).flatMap(({ name, problem }) => (problem === null ? [] : [name]));

describe("what a soak calls bounded", () => {
  property([fc.array(fc.double({ min: -0.04, max: 0.04, noNaN: true }), { minLength: 9 })])(
    "what goes up and down around its level",
    (noise) => {
      const samples = run(noise.length, (name, n) => usual[name] * (1 + (noise[n] ?? 0)));
      expect(problems(samples)).toEqual([]);
    },
  );

  test("what is kept of each answer and each message, at its size", () => {
    const kept: Partial<Record<Quantity, number>> = { transcripts: 150, database: 300, log: 270 };
    const samples = run(90, (name, n) => usual[name] + (kept[name] ?? 0) * 1_000 * n);
    expect(problems(samples)).toEqual([]);
  });

  test("a cache outside the heaps that fills with the messages, up to its size", () => {
    const samples = run(90, (name, n) =>
      name === "outside the heaps" ? 14 * mb + Math.min(800 * 1_000 * n, 34 * mb) : usual[name],
    );
    expect(problems(samples)).toEqual([]);
  });
});

describe("what it finds", () => {
  // The bytes that one message leaves, in half an hour.
  test.each<[Quantity, number]>([
    ["heap, main thread", 500],
    ["heap, host", 100],
    ["outside the heaps", 100],
    ["RSS", 1_500],
    ["WAL", 200],
    ["database", 800],
    ["search index", 200],
    ["transcripts", 800],
    ["log", 1_200],
  ])("%s that keeps %i bytes of each message", (leaking, bytes) => {
    const samples = run(180, (name, n) => usual[name] + (name === leaking ? bytes * 1_000 * n : 0));
    expect(problems(samples)).toEqual([leaking]);
  });

  test("what grows faster outside the heaps than the cache there fills, in a short run", () => {
    const samples = run(18, (name, n) =>
      name === "outside the heaps" ? 14 * mb + 2_000 * 1_000 * n : usual[name],
    );
    expect(problems(samples)).toEqual(["outside the heaps"]);
  });

  test.each<Quantity>(["handles", "timers", "descriptors"])(
    "%s of which one in five hundred messages leaves one",
    (leaking) => {
      const samples = run(180, (name, n) => usual[name] + (name === leaking ? 2 * n : 0));
      expect(problems(samples)).toEqual([leaking]);
    },
  );

  test("one moment above what may be there at all", () => {
    const samples = run(90, (name, n) => (name === "WAL" && n === 50 ? 90 * mb : usual[name]));
    expect(problems(samples)).toEqual(["WAL"]);
  });

  test("nothing in samples that are too few", () => {
    expect(() => trends(run(8, (name) => usual[name]))).toThrow(/8 samples/);
  });
});

test("the picture has a line for each quantity and stays small", () => {
  const svg = picture(
    run(150, (name) => usual[name]),
    600,
  );
  for (const { name } of quantities) expect(svg).toContain(name);
  expect(svg.match(/class="line"/g)).toHaveLength(quantities.length);
  expect(svg.length).toBeLessThan(60_000);
});

test("a run whose samples begin before anything is over the retention calls nothing bounded", () => {
  // 40% of one minute, and of three.
  expect(verdict(null, 24)).toBe("too short to tell");
  expect(verdict(null, 72)).toBe("bounded");
  expect(verdict("grew by 9 MB", 24)).toBe("grew by 9 MB");
});
