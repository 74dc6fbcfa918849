/** Names are compared as people read them, the same on every machine. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { containsFolded, containsFoldedWord, fold } from "../../src/domain/fold-text.ts";
import { anyCharacter, property } from "../support/property.ts";
import { rounds } from "../support/rounds.ts";

describe("fold", () => {
  test("width, case, composition and final sigmas do not matter", () => {
    for (const [a, b] of [
      ["Scout", "ＳＣＯＵＴ"],
      ["straße", "STRASSE"],
      ["STRAẞE", "strasse"],
      ["ΟΔΥΣΣΕΥΣ", "οδυσσευς"],
      ["Zoe\u0301", "ZOÉ"],
      ["ﬁne", "FINE"],
    ] as const)
      expect(fold(a)).toBe(fold(b));
  });

  test("different names stay different", () => {
    for (const [a, b] of [
      ["scout", "scöut"],
      ["토토", "토토아"],
      ["ı", "j"],
    ] as const)
      expect(fold(a)).not.toBe(fold(b));
  });

  test("folding twice changes nothing, for every code point", () => {
    const changed: string[] = [];
    // Beyond these planes are no letters: with few rounds, some of what is there.
    const step = (code: number) => (code < 0x40000 || code >> 16 === 0xe ? 1 : rounds(17, 1));
    for (let code = 0; code < 0x110000; code += step(code)) {
      if (code >= 0xd800 && code <= 0xdfff) continue;
      const sign = String.fromCodePoint(code);
      const folded = fold(sign);
      if (folded !== sign && fold(folded) !== folded) changed.push(code.toString(16));
    }
    expect(changed).toEqual([]);
  });

  test("the short way for Latin-1 gives what the long way gives, for every two signs of it", () => {
    const changed: string[] = [];
    for (let code = 0; code < 0x10000; code += 1) {
      const text = String.fromCharCode(code >> 8, code & 0xff);
      // A letter beyond Latin-1 takes the long way, and is joined with nothing before it.
      if (`${fold(text)}ā` !== fold(`${text}ā`)) changed.push(code.toString(16));
    }
    expect(changed).toEqual([]);
    expect(fold("NAÏVE ÀÞ ÿ")).toBe("naïve àþ ÿ");
  });

  property([fc.string({ unit: anyCharacter })])(
    "any string folds, and folds like its upper case",
    (text) => {
      expect(fold(fold(text))).toBe(fold(text));
      expect(fold(text.normalize("NFC"))).toBe(fold(text));
    },
  );
});

describe("containment", () => {
  property([fc.string(), fc.string({ minLength: 1 }), fc.string()])(
    "a name is found wherever it is",
    (before, name, after) => {
      expect(containsFolded(fold(`${before} ${name} ${after}`), fold(name))).toBe(true);
    },
  );

  test("an empty name is in nothing", () => {
    expect(containsFolded("abc", "")).toBe(false);
    expect(containsFoldedWord("abc", "")).toBe(false);
  });

  test("short names match as whole words, in any script", () => {
    expect(containsFoldedWord("hi ro!", "ro")).toBe(true);
    expect(containsFoldedWord("ro", "ro")).toBe(true);
    expect(containsFoldedWord("robot pro ro_ ro2", "ro")).toBe(false);
    expect(containsFoldedWord("robot, ro", "ro")).toBe(true);
    expect(containsFoldedWord("토토 안녕", "토토")).toBe(true);
    expect(containsFoldedWord("토토아 안녕", "토토")).toBe(false);
    expect(containsFoldedWord("𝒳ro", "ro")).toBe(false);
    expect(containsFoldedWord("🙂ro🙂", "ro")).toBe(true);
    expect(containsFoldedWord("ro\u0301", "ro")).toBe(false);
  });
});
