/** Where a text may be cut, and which code is fenced, to the unit. */
import { describe, expect, test } from "vitest";
import {
  type BreakKind,
  bestBreak,
  type Hole,
  hardCut,
  isSpace,
} from "../../../src/machines/output/breaks.ts";
import { lineUnitsMax, openingAt, scanFences } from "../../../src/machines/output/fence.ts";

describe("the best break", () => {
  const cut = (
    text: string,
    prefer: BreakKind = "paragraph",
    { from = 1, to = text.length, holes = [] }: { from?: number; to?: number; holes?: Hole[] } = {},
    isOpen?: (position: number) => boolean,
  ) => {
    const position = bestBreak(text, from, to, prefer, holes, isOpen);
    return position === null ? null : text.slice(0, position);
  };

  test.each<[string, BreakKind, string | null]>([
    ["a b", "paragraph", "a "],
    ["a. b c", "paragraph", "a. "],
    ["a\nb. c", "paragraph", "a\n"],
    ["a\n\nb\nc", "paragraph", "a\n\n"],
    ["a\n \n  b", "paragraph", "a\n \n"],
    ["a\n   b", "paragraph", "a\n"],
    ["a\n\nb\nc d", "newline", "a\n\nb\n"],
    ["a\nb. c d", "sentence", "a\nb. "],
    ["a. b c", "whitespace", "a. b "],
    ["abc", "paragraph", null],
    ["", "paragraph", null],
    ["a.) b c", "paragraph", "a.) "],
    ["a.) b", "paragraph", "a.) "],
    [`a.${")".repeat(9)} b c`, "paragraph", `a.${")".repeat(9)} b `],
    [`a.${")".repeat(8)} b c`, "paragraph", `a.${")".repeat(8)} `],
    ["a。b c", "paragraph", "a。"],
    ["a。」b c", "paragraph", "a。」"],
    ["a。。b c", "paragraph", "a。。"],
    ["a」b c", "paragraph", "a」b "],
    ['a。"b c', "paragraph", 'a。"'],
    ["a. \u0301b c", "sentence", "a. \u0301b "],
    ["a \u0301b", "paragraph", null],
    ["a \u0300b", "paragraph", null],
    ["a\r\nb", "paragraph", "a\r\n"],
    ["a\u00a0b", "paragraph", "a\u00a0"],
    [" a", "paragraph", " "],
    [". b c", "paragraph", ". "],
  ])("of %j, with %s, is %j", (text, prefer, head) => expect(cut(text, prefer)).toBe(head));

  test("lies within its bounds", () => {
    expect(cut("a b c d", "paragraph", { to: 5 })).toBe("a b ");
    expect(cut("a b c d", "paragraph", { to: 4 })).toBe("a b ");
    expect(cut("a b c d", "paragraph", { from: 5, to: 5 })).toBeNull();
    expect(cut("a b c d", "paragraph", { from: 4, to: 5 })).toBe("a b ");
    expect(cut("a\n\nb c", "paragraph", { from: 4 })).toBe("a\n\nb ");
    expect(cut("a. b", "paragraph", { to: 3 })).toBe("a. ");
    expect(cut("a。」b", "sentence", { to: 2 })).toBeNull();
    expect(cut("a。b", "sentence", { to: 2 })).toBe("a。");
    expect(cut("a。", "sentence")).toBe("a。");
  });

  test("lies not between a carriage return and its newline, nor before the bounds", () => {
    expect(cut("a b\r\nc", "paragraph", { to: 4 })).toBe("a ");
    expect(cut("a b \nc", "paragraph", { to: 4 })).toBe("a b ");
    expect(cut("a b\r\rc", "paragraph", { to: 4 })).toBe("a b\r");
    expect(cut("a\n   b", "paragraph", { from: 4, to: 5 })).toBeNull();
    expect(cut("a\n   b", "paragraph", { to: 5, holes: [[1, 4]] })).toBeNull();
  });

  test("lies in no hole, but may be at its edges", () => {
    const text = "a b c d e";
    expect(cut(text, "paragraph", { holes: [[5, 9]] })).toBe("a b c".slice(0, 4));
    expect(cut(text, "paragraph", { holes: [[6, 9]] })).toBe("a b c ");
    expect(cut(text, "paragraph", { holes: [[1, 8]] })).toBe("a b c d ");
    expect(cut(text, "paragraph", { holes: [[0, 9]] })).toBeNull();
    expect(
      cut(text, "paragraph", {
        holes: [
          [1, 3],
          [5, 9],
        ],
      }),
    ).toBe("a b ");
    expect(
      cut(text, "paragraph", {
        holes: [
          [1, 5],
          [5, 9],
        ],
      }),
    ).toBeNull();
  });

  test("is open, if that is asked", () => {
    expect(cut("a b c", "paragraph", {}, (position) => position !== 4)).toBe("a ");
    expect(cut("a\nb c", "paragraph", {}, (position) => position !== 2)).toBe("a\nb ");
    expect(cut("a b", "paragraph", {}, () => false)).toBeNull();
  });
});

test("white space is what `trim` takes away", () => {
  for (const unit of [" ", "\n", "\r", "\t", "\v", "\f", "\u00a0", "\u2028", "\ufeff"])
    expect(isSpace(unit)).toBe(true);
  for (const unit of ["a", "\0", "\u0001", "\u200b", "", undefined])
    expect(isSpace(unit)).toBe(unit === "");
});

test("a hard cut splits no character, and failing that no pair", () => {
  expect(hardCut("abc", 2)).toBe(2);
  expect(hardCut("a😀b", 2)).toBe(1);
  expect(hardCut("a😀b", 3)).toBe(3);
  expect(hardCut("ae\u0301b", 2)).toBe(1);
  expect(hardCut("🇩🇪🇩🇪", 6)).toBe(4);
  const tower = `a${"\u0301".repeat(9)}`;
  expect(hardCut(tower, 5)).toBe(5);
  expect(hardCut("😀", 1)).toBe(0);
  for (const first of ["\u{10000}", "\u{10ffff}"]) expect(hardCut(first, 1)).toBe(0);
  expect(hardCut("\uffff\u0301\u0301", 2)).toBe(2);
  expect(hardCut("😀\u0301\u0301", 3)).toBe(3);
});

describe("a line that opens code", () => {
  const fence = (line: string, room = 100) => openingAt(line, 0, room);

  test.each<[string, object]>([
    ["```", { character: "`", length: 3, closes: "```", opens: "```\n" }],
    ["~~~~ ts  \nx", { character: "~", length: 4, closes: "~~~~", opens: "~~~~ ts\n" }],
    ["   ```ts", { character: "`", length: 3, closes: "   ```", opens: "   ```ts\n" }],
    ["~~~ a`b", { character: "~", length: 3, closes: "~~~", opens: "~~~ a`b\n" }],
  ])("%j", (line, found) => expect(fence(line)).toEqual(found));

  test.each(["``", "    ```", "a```", "``` a`b", "", "\n```", "~~", "=== "])(
    "%j opens none",
    (line) => expect(fence(line)).toBeNull(),
  );

  test("fits with its info into a block, or is opened again without that", () => {
    expect(fence("```ts", 6)?.opens).toBe("```ts\n");
    expect(fence("```ts", 5)?.opens).toBe("```\n");
    expect(fence("```", 3)).toBeNull();
    expect(fence("```", 4)?.closes).toBe("```");
  });

  test("is judged by its first units, and may begin anywhere", () => {
    const long = `\`\`\`${"x".repeat(lineUnitsMax)}\``;
    expect(fence(long, 999)?.opens).toBe(`${long.slice(0, lineUnitsMax)}\n`);
    expect(openingAt("ab\n```", 3, 100)?.length).toBe(3);
  });
});

describe("the code of a text", () => {
  const scan = (text: string, over: object = {}) =>
    scanFences(text, {
      open: null,
      midLine: false,
      openUntil: 1_000,
      spanMax: 1_000,
      roomMax: 100,
      ...over,
    }).map(({ start, contentStart, closeStart, end }) => [start, contentStart, closeStart, end]);
  const open = { character: "`", length: 3, closes: "```", opens: "```\n" };

  test.each<[string, (number | null)[][]]>([
    ["a\n```\nb\n```\nc", [[2, 6, 8, 12]]],
    ["```\n```", [[0, 4, 4, 7]]],
    ["```\nb\n````  \nc", [[0, 4, 6, 13]]],
    ["````\nb\n```\nc", [[0, 5, null, null]]],
    ["```\nb\n~~~", [[0, 4, null, null]]],
    ["```\nb\n``` x", [[0, 4, null, null]]],
    ["```\nb\n    ```", [[0, 4, null, null]]],
    ["```\nb\n   ```", [[0, 4, 6, 12]]],
    ["```", [[0, 3, null, null]]],
    [
      "```\n```\n~~~\n~~~\n",
      [
        [0, 4, 4, 8],
        [8, 12, 12, 16],
      ],
    ],
    ["a", []],
    ["", []],
  ])("%j: %j", (text, spans) => expect(scan(text)).toEqual(spans));

  test("may be open before it, or begin inside a line", () => {
    expect(scan("a\n```\nb", { open })).toEqual([[0, 0, 2, 6]]);
    expect(scan("a", { open })).toEqual([[0, 0, null, null]]);
    expect(scan("```\nb", { open })).toEqual([[0, 0, 0, 4]]);
    expect(scan("```\nb\n```", { open, midLine: true })).toEqual([[0, 0, 6, 9]]);
    expect(scan("```\n~~~", { midLine: true })).toEqual([[4, 7, null, null]]);
  });

  test("is looked for, and followed, so far only", () => {
    expect(scan("a\n```\nb", { openUntil: 2 })).toEqual([[2, 6, null, null]]);
    expect(scan("a\n```\nb", { openUntil: 1 })).toEqual([]);
    const text = "```\nb\nc\nd\n```\n";
    expect(scan(text, { openUntil: 0, spanMax: 10 })).toEqual([[0, 4, 10, 14]]);
    expect(scan(text, { openUntil: 0, spanMax: 7 })).toEqual([[0, 4, null, null]]);
    expect(scan(text, { openUntil: 0, spanMax: 8 })).toEqual([[0, 4, 10, 14]]);
    expect(scan(text, { openUntil: 20, spanMax: 1 })).toEqual([[0, 4, 10, 14]]);
  });

  test("of a very long line ends at what is judged of it", () => {
    const line = `\`\`\`${"x".repeat(lineUnitsMax)}`;
    expect(scan(`${line}\na`, { roomMax: 999 })).toEqual([[0, lineUnitsMax, null, null]]);
  });
});
