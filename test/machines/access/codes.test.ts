/** Codes: how they look, what is taken for one, and that none is left in a text. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sha256 } from "../../../src/adapters/system/digest.ts";
import {
  claimIn,
  hashOfClaim,
  newClaimCode,
  newPairingCode,
  readPairingCode,
  sameHash,
  withoutClaims,
} from "../../../src/machines/access/codes.ts";
import { property } from "../../support/property.ts";

const chances = fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), {
  minLength: 12,
  maxLength: 12,
});
const from = (list: readonly number[]) => {
  let at = 0;
  return () => list[at++ % list.length] as number;
};
const claims = chances.map((list) => newClaimCode(from(list)));

describe("codes", () => {
  property([chances])("have no letter that is mistaken for another", (list) => {
    expect(newPairingCode(from(list))).toMatch(/^[A-HJ-NP-Z2-9]{8}$/);
    expect(newClaimCode(from(list))).toMatch(/^claim-[A-HJ-NP-Z2-9]{6}-[A-HJ-NP-Z2-9]{6}$/);
  });

  test("use each of 32 letters, so twelve of them are 60 bits", () => {
    const all = Array.from({ length: 32 }, (_, n) => newPairingCode(() => n / 32).charAt(0));
    expect(new Set(all).size).toBe(32);
  });

  property([chances, fc.constantFrom(" ", "-", "\u00a0", ".")])(
    "of pairing are read however they are typed",
    (list, between) => {
      const code = newPairingCode(from(list));
      const typed = `${code.slice(0, 4)}${between}${code.slice(4)}`.toLowerCase();
      expect(readPairingCode(typed)).toBe(code);
    },
  );

  property([claims, fc.constantFrom("", "@bot ", "<@4242> ", "/start ", "  ", "\n")])(
    "of claims are taken when nothing else is said",
    (code, before) => {
      const wanted = code.toUpperCase();
      expect(claimIn(before + code)).toBe(wanted);
      expect(claimIn(`${before}\`${code.toLowerCase()}\` `)).toBe(wanted);
      expect(claimIn(before + code.replaceAll("-", "–"))).toBe(wanted);
    },
  );

  property([claims, fc.constantFrom("take ", "is it ", "x", "> ", "ann@example.org ", "a/start ")])(
    "of claims are not taken out of a sentence",
    (code, before) => {
      expect(claimIn(before + code)).toBeNull();
      expect(claimIn(`${code} ${code}`)).toBeNull();
    },
  );

  property([claims])("of claims are looked for in short texts only", (code) => {
    const padded = code.padStart(256);
    expect(claimIn(padded)).toBe(code.toUpperCase());
    expect(claimIn(` ${padded}`)).toBeNull();
  });

  test("of another length are guesses, words are not", () => {
    expect(claimIn("claim-AAAA-BBBB")).toBe("CLAIM-AAAA-BBBB");
    for (const words of ["claim", "claim it", "claim-1", "claims-ABCDEF-GHJKLM", "", "/claim"])
      expect(claimIn(words)).toBeNull();
    expect(claimIn(`claim-${"A".repeat(300)}`)).toBeNull();
  });

  const strings = fc.string({ unit: "grapheme", maxLength: 30 });
  property([strings, claims, strings])("are in no text any more", (before, code, after) => {
    const text = `${before} ${code} ${after}`;
    const clean = withoutClaims(text);
    expect(clean.toUpperCase()).not.toContain(code.slice(6).toUpperCase());
    expect(clean).toHaveLength(text.length);
    expect(clean.startsWith(before)).toBe(true);
    expect(clean.endsWith(after)).toBe(true);
    expect(clean).toContain("claim-••••••-••••••");
  });

  property([strings])("are not looked for in vain: other texts stay as they are", (text) => {
    fc.pre(!/claim/i.test(text));
    expect(withoutClaims(text)).toBe(text);
    expect(withoutClaims(`I claim ${text}`)).toBe(`I claim ${text}`);
  });

  test("keep the hashes that are stored already", () => {
    const digest = (text: string) => `<${text}>`;
    expect(hashOfClaim("claim-abcdef-GHJKLM", digest)).toBe("<claim|CLAIM-ABCDEF-GHJKLM>");
  });

  property([claims, claims])("are kept as hashes that differ", (one, other) => {
    fc.pre(one !== other);
    expect(hashOfClaim(one, sha256)).toMatch(/^[0-9a-f]{64}$/);
    expect(hashOfClaim(one, sha256)).not.toContain(one.slice(6, 12).toLowerCase());
    expect(sameHash(hashOfClaim(one, sha256), hashOfClaim(one.toLowerCase(), sha256))).toBe(true);
    expect(sameHash(hashOfClaim(one, sha256), hashOfClaim(other, sha256))).toBe(false);
    const whole = hashOfClaim(one, sha256);
    for (const part of [whole.slice(1), whole.slice(0, -1), ""]) {
      expect(sameHash(whole, part)).toBe(false);
      expect(sameHash(part, whole)).toBe(false);
    }
  });
});
