/**
 * What Markdown keeps together, unit by unit: for each small text where it may be cut, and what a cut there
 * closes and opens again. `seam-maps.golden.json` has a map below each text, with a sign for the cut before
 * each unit: `.` anywhere, `o` only where a span is opened again, `x` nowhere, `!` what follows would begin a
 * block. `EARSHOT_GOLDEN=write` writes what is read now.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Hole } from "../../../src/machines/output/breaks.ts";
import { beginsBlock, readSeams, type Window } from "../../../src/machines/output/seams.ts";

const path = join(import.meta.dirname, "seam-maps.golden.json");

interface Given extends Partial<Window> {
  readonly text: string;
  readonly before?: string;
}
const table = "| a | b |\n|--|--|\n";

const cases: readonly Given[] = [
  { text: "a *b c* __d e__ ***f g*** ~~h i~~ ~j~ a_b_c **d" },
  { text: "`a b` ``c ` d`` ` e`f `` g` \\` h" },
  { text: "`a ``b`` c ` `` d `e` ``" },
  { text: "[a b](x.io) [c](<y z> 't') ![d e](f.png) [g [h] i](j) [k]()" },
  { text: "*a [b c](d) `e f` g* **h *i j* k** [*l* m](n)" },
  { text: "<https://x.io/a_b> <a b=c>d</a> <!-- e f --> &amp; &#35; &x \\* \\a" },
  { text: "a  \nb\\\nc\n\nd\ne" },
  { text: "# a *b* c\nd\n\ne f\n===\ng h\n---\n###### i" },
  { text: "# a heading that goes on", max: 12 },
  { text: "# heading", max: 9 },
  { text: "a # b - c 1. d > e + f | g ``` h ~~~ i < j === k --- l *** m [n]: o" },
  { text: "a\n\n- b\n- c\n  d\n  - e\n    f\n\n- g\n\nh 1. i" },
  { text: "1. a\n   b\n2. c\n\n   d\n10) e\n11) f\ng" },
  { text: "- a b c d\n- e", max: 9 },
  { text: "- a b c\n  d\n- e f", first: 4, room: 9 },
  { text: "- a b c\n  d\n- e f", first: 1, room: 20 },
  { text: "- a\n- b c d e f\n- g", first: 5, room: 9, max: 13 },
  { text: "- a\n\n      code\n- b\n\n\tc\nd" },
  { text: "> a *b\n> c* d\n>> e\n\nf" },
  { text: "- > a\n  > - b\n- c" },
  { text: `${table}| c | d |\n| e \\| f | *g* |\n\nh` },
  { text: `  ${table}| c | d |\n| e | f |\ng` },
  { text: table },
  { text: `a\n${table}| c |` },
  { text: `> ${table.replace("\n", "\n> ")}> | c | d |\n> | e | f |` },
  { text: "| c | d |\n| e | f |\n", before: table },
  { text: "b c* d", before: "*" },
  { text: "b c](x.io) d **e**", before: "[" },
  { text: "- a\n- b", before: "**" },
  { text: "[a][b] c [d][] e [f] g\n\n[b]: x\n[D]: y 'z'\n\n[f]: <w>" },
  { text: "[b]: x\n\na [c  d][ B ] e ![f][b]\n\n[b]: other" },
  { text: "[a]: x\nb\n\n[c] [a" },
  { text: "[a][b  c] d\n\n[B c]: x" },
  { text: "[a][ b ]\n\n[b]: x" },
  { text: "[\u1e9e]\n\n[SS]: x" },
  { text: "[a](b) [d] e\n\n[d]: x" },
  { text: "![a](b) ![c][d] e\n\n[d]: x\n\nf" },
  { text: "1. a\n\n        code\n2. b" },
  { text: "> - a b\n> - c\n>\n> d" },
  { text: "a\n\n-\n  b\n- c" },
  { text: "- a\n\nb\n\n1. c\n- d\n\n    e" },
  { text: "- a b\n- c", first: 3, room: 6, max: 6 },
  { text: "- a b\n- c", first: 3, room: 7, max: 5 },
  { text: "- a b\n- c d e\n- f", before: "*", first: 6, room: 13 },
  { text: "- a b\n- c d e\n- f", before: "[a](b) ", first: 7, room: 14 },
  { text: "c d e\n- f g\n- h", before: "- a b\n- ", first: 6, room: 12, max: 9 },
  { text: "c d e\n- f g\n- h", before: "- a b\n- ", first: 2, room: 6, max: 9 },
  { text: "```\na *b\n```\n~~~ c\nd\n~~~\n\n    e *f*\n" },
  { text: "<div>\na *b*\n</div>\n\nc" },
  { text: "\ufeff# a\n\n*b*" },
  { text: "a\r\n*b\r\nc*\r\n" },
  { text: "    a\n\tb *c*\n" },
  { text: "***\n\n_ _ _\n\na\n***" },
  { text: "" },
];

const given = ({ text, before = "", first = 1, room = text.length, max = 1_000 }: Given) => ({
  text,
  before,
  window: { first, room, max },
});
const isInside = (holes: readonly Hole[], at: number) =>
  holes.some(([start, end]) => at > start && at < end);

/** The map of a text, and the stretches with the same wrap. */
function mapped(one: Given): readonly string[] | null {
  const { text, before, window } = given(one);
  const seams = readSeams(before, text, window);
  if (seams === null) return null;
  const places = Array.from({ length: text.length + 1 }, (_, at) => at);
  const map = places.map((at) => {
    if (seams.misreads(at)) return "!";
    if (!isInside(seams.holes, at)) return ".";
    return isInside(seams.smallHoles, at) ? "x" : "o";
  });
  const wraps: { from: number; to: number; wrap: string }[] = [];
  for (const at of places) {
    const { opens, closes } = seams.wrapAt(at);
    const wrap = opens + closes === "" ? "" : JSON.stringify([opens, closes]);
    const last = wraps.at(-1);
    if (last?.wrap === wrap) last.to = at;
    else wraps.push({ from: at, to: at, wrap });
  }
  return [
    JSON.stringify(text),
    map.join(""),
    ...wraps.flatMap(({ from, to, wrap }) => (wrap === "" ? [] : [`${from}-${to}: ${wrap}`])),
  ];
}

if (process.env.EARSHOT_GOLDEN === "write")
  writeFileSync(path, `${JSON.stringify(cases.map(mapped), null, 1)}\n`);
const golden = JSON.parse(readFileSync(path, "utf8")) as readonly unknown[];

for (const [place, one] of cases.entries())
  test(`what is kept together, and what is opened again: ${JSON.stringify(one)}`, () => {
    expect(mapped(one)).toEqual(golden[place]);
  });

test("each text has its map, and no other", () => {
  expect(golden).toHaveLength(cases.length);
});

test("a text is read up to the word with the last mark that is looked at, if that is far enough", () => {
  const text = `${"*".repeat(790)} a b*c d ${"_".repeat(12)} e`;
  const reads = (before: string, room: number) =>
    readSeams(before, text, { first: 1, room, max: 1_000 }) !== null;
  expect([790, 799, 800, text.length].map((room) => reads("", room))).toEqual([
    true,
    true,
    false,
    false,
  ]);
  // With ten before it, the one in "b*c" is the first too many.
  expect([793, 794].map((room) => reads("*".repeat(10), room))).toEqual([true, false]);
});

test.each<[string, boolean]>([
  ["# a", true],
  ["###### a", true],
  ["#", true],
  ["####### a", false],
  ["#a", false],
  ["   > a", true],
  ["    > a", false],
  ["- a", true],
  ["+", true],
  ["-a", false],
  ["1. a", true],
  ["123456789) a", true],
  ["1234567890. a", false],
  ["1.a", false],
  ["```", true],
  ["``", false],
  ["~~~", true],
  ["<a", true],
  ["| a", true],
  ["[a]: b", true],
  ["[a] b", false],
  ["===", true],
  ["= =", false],
  ["---  \t\na", true],
  ["--- a", false],
  ["* * *", true],
  ["__", false],
  ["_ _ _\t", true],
  ["a", false],
  ["", false],
])("%j begins a block: %s", (text, begins) => {
  expect(beginsBlock(text, 0)).toBe(begins);
  expect(beginsBlock(`x${text}`, 1)).toBe(begins);
  if (text !== "") expect(beginsBlock(`${text}\n`, text.length + 1)).toBe(false);
});
