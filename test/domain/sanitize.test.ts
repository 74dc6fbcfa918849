/** Words from a room cannot draw on a terminal, forge a line or hide what they say. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { limits } from "../../src/domain/limits.ts";
import { cut, oneLine, plainText, terminalSafe } from "../../src/domain/sanitize.ts";
import { anyCharacter, property } from "../support/property.ts";

const nasty = fc.string({
  unit: fc.oneof(
    fc.string({ unit: anyCharacter, minLength: 1, maxLength: 1 }),
    fc.constantFrom("\n", "\r", "\t", "\x1b", "\x9b", "\u202e", "\u200b", "\u2028", "\ud83d", "a"),
  ),
});
const bidi = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

describe("terminalSafe", () => {
  property([nasty])("no control but the newline, no direction mark, well-formed", (text) => {
    const safe = terminalSafe(text);
    expect(safe.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
    expect(safe).not.toMatch(bidi);
    expect(safe).not.toMatch(/\p{Cs}/u);
  });
  test("an attack can be read", () => {
    expect(terminalSafe("\x1b[2J\x1b]52;c;x\x07\x9b1m\u202ea")).toBe(
      "␛[2J␛]52;c;x␇\\x9b1m\\u{202e}a",
    );
  });
  property([fc.string()])("plain text goes through", (text) => {
    expect(terminalSafe(text)).toBe(text);
  });
});

describe("oneLine", () => {
  property([nasty, fc.integer({ min: 2, max: 100 })])(
    "one trimmed line of bounded length without marks",
    (text, unitsMax) => {
      const line = oneLine(text, unitsMax);
      expect(line.length).toBeLessThanOrEqual(unitsMax);
      expect(line).not.toMatch(/[\n\r\u2028\u2029]|\p{Cc}|\p{Cs}/u);
      expect(line).not.toMatch(bidi);
      expect(line).toBe(line.trim());
    },
  );
  test("a long label is cut with an ellipsis, never inside a pair", () => {
    expect(oneLine("x".repeat(10_000))).toBe(`${"x".repeat(63)}…`);
    expect(oneLine("🙂".repeat(10), 4)).toBe("🙂…");
    expect(oneLine(`Ann\n# Heading\u202e`)).toBe("Ann # Heading");
    expect(oneLine("a".repeat(limits.labelShownUnitsMax))).toHaveLength(64);
  });
});

describe("plainText", () => {
  test("line ends become newlines, invisible letters go, emoji stay whole", () => {
    expect(plainText("a\r\nb\u2028c\u0085d")).toBe("a\nb\nc\nd");
    expect(plainText("S\u200by\u2060s\u00adt\u{e0041}em")).toBe("System");
    expect(plainText("👩‍👩‍👧 ❤️ 🏳️‍🌈")).toBe("👩‍👩‍👧 ❤️ 🏳️‍🌈");
    expect(plainText("x\u200dy")).toBe("xy");
  });
  property([nasty])("doing it twice changes nothing", (text) => {
    expect(plainText(plainText(text))).toBe(plainText(text));
  });
});

property([fc.string({ unit: anyCharacter }), fc.integer({ min: 0, max: 20 })])(
  "a cut is a prefix and splits no pair",
  (text, units) => {
    const part = cut(text, units);
    expect(text.startsWith(part)).toBe(true);
    expect(part.length).toBeLessThanOrEqual(units);
    expect(part).not.toMatch(/\p{Cs}/u);
  },
);
