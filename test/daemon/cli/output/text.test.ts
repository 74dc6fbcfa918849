/**
 * How text is laid out on a terminal: rows that fit and lose no letter, Markdown as styles from a
 * closed list, and nothing that a terminal would obey, whatever an agent writes.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { terminalText } from "../../../../src/daemon/cli/output/markdown.ts";
import {
  columnsOf,
  screenColumns,
  wrapLine,
  wrapText,
} from "../../../../src/daemon/cli/output/wrap.ts";
import { property } from "../../../support/property.ts";

const letters = fc.string({
  unit: fc.constantFrom("a", "b", "-", " ", " ", "日", "é", "e\u0301", "👨‍👩‍👧", "⚠️"),
  maxLength: 80,
});
const shapes = fc.record({
  columns: fc.integer({ min: 2, max: 40 }),
  hang: fc.integer({ min: 0, max: 6 }),
  at: fc.constantFrom("words", "any"),
});

test("a screen that says it has no columns is one of eighty, no screen is endless", () => {
  expect(screenColumns({ isTTY: true, columns: 0 })).toBe(80);
  expect(screenColumns({ isTTY: true, columns: 132 })).toBe(132);
  expect(screenColumns({ isTTY: false, columns: 0 })).toBe(Number.POSITIVE_INFINITY);
});

describe("a line in rows", () => {
  const rowsOf = (line: string, shape: Parameters<typeof wrapLine>[1]) =>
    wrapLine(line, shape).map(({ from, to }) => line.slice(from, to));

  property([letters, shapes])("no row is wider than the screen", (line, shape) => {
    const { columns, hang } = shape;
    for (const [index, row] of rowsOf(line, shape).entries()) {
      const room = index === 0 ? columns : Math.max(1, columns - hang);
      const oneLetter = [...new Intl.Segmenter().segment(row)].length === 1;
      expect(columnsOf(row) <= room || oneLetter).toBe(true);
    }
  });

  test("blanks behind a letter that fills its row take no row", () => {
    expect(rowsOf("a日  a", { columns: 2, hang: 1, at: "words" })).toEqual(["a", "日", "a"]);
    expect(rowsOf("   aaa", { columns: 2 })).toEqual(["", "aa", "a"]);
  });

  property([letters, shapes])("loses no letter and adds none", (line, shape) => {
    const bare = (text: string) => (shape.at === "any" ? text : text.replaceAll(" ", ""));
    expect(bare(rowsOf(line, shape).join(""))).toBe(bare(line));
  });

  property([fc.array(fc.stringMatching(/^[a-z]{1,8}$/), { minLength: 1 })])(
    "ends between words where they fit",
    (words) => {
      const rows = rowsOf(words.join(" "), { columns: 8 });
      expect(rows.flatMap((row) => row.split(" "))).toEqual(words);
    },
  );

  test("a word that is wider than the screen is cut, and what follows still wraps", () => {
    expect(rowsOf("abcdefghij kl mn", { columns: 4 })).toEqual(["abcd", "efgh", "ij", "kl", "mn"]);
    expect(rowsOf("to 日本語日本", { columns: 6 })).toEqual(["to 日", "本語日", "本"]);
    expect(rowsOf("a👨‍👩‍👧👨‍👩‍👧", { columns: 3 })).toEqual(["a👨‍👩‍👧", "👨‍👩‍👧"]);
  });

  test("later rows of an item stand below its words", () => {
    expect(wrapText("- one two three", { columns: 9 })).toBe("- one two\n  three");
    expect(wrapText("10. one two three", { columns: 11 })).toBe("10. one two\n    three");
    expect(wrapText("one two", { columns: 7, taken: 4 })).toBe("one\ntwo");
  });
});

describe("Markdown on a terminal", () => {
  const esc = "\u001b[";
  const shown = (text: string, columns = 40) => terminalText(text, { columns, colour: true });

  test("marks become styles, and their signs are gone", () => {
    expect(shown("**b** *i* `c` ~~s~~")).toBe(
      `${esc}1mb${esc}22m ${esc}3mi${esc}23m ${esc}36mc${esc}39m ${esc}9ms${esc}29m`,
    );
    expect(shown("# Head\n- one\n1. two")).toBe(`${esc}1mHead${esc}22m\n• one\n1. two`);
    expect(shown("```js\na  b\n```")).toBe(`  ${esc}36ma  b${esc}39m`);
  });

  test("a style goes on in the next row", () => {
    expect(shown("**one two**", 5)).toBe(`${esc}1mone${esc}22m\n${esc}1mtwo${esc}22m`);
  });

  test("a link shows where it leads", () => {
    expect(shown("see [here](https://evil.example/x) now", 60)).toBe(
      `see ${esc}4mhere${esc}24m (https://evil.example/x) now`,
    );
    expect(shown("[a](javascript:alert(1))")).not.toContain(`${esc}4m`);
  });

  test("without colours the text is as it was written, wrapped", () => {
    expect(terminalText("**one** two\n- `x`", { columns: 8, colour: false })).toBe(
      "**one**\ntwo\n- `x`",
    );
  });

  const hostile = fc.string({
    unit: fc.constantFrom(
      ...["a", " ", "*", "`", "_", "\n", "- ", "> ", "```\n", "[x](https://e.example/\u202e)"],
      ...["\u001b[2J", "\u001b]52;c;aGk=\u0007", "\u009b", "\r", "\u202e", "\u2066", "\u0008"],
    ),
  });
  property([hostile, fc.integer({ min: 2, max: 60 })])(
    "nothing is left that a terminal obeys, but styles of ours",
    (text, columns) => {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: our own styles
      const ours = /\u001b\[(?:1|2|3|4|7|9|22|23|24|27|29|36|39)m/g;
      const unsafe = /(?!\n)[\p{Cc}\p{Bidi_Control}]/u;
      expect(shown(text, columns).replaceAll(ours, "")).not.toMatch(unsafe);
      expect(terminalText(text, { columns, colour: false })).not.toMatch(unsafe);
    },
  );
});
