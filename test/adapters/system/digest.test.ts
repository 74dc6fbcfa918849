/** Stored hashes are found again: the function and its encoding never change. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { sha256 } from "../../../src/adapters/system/digest.ts";
import { hashOfClaim } from "../../../src/machines/access/codes.ts";
import { anyCharacter, property } from "../../support/property.ts";

test.each([
  ["", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
  ["abc", "e265e98c934ff1ff7d55359eed484c4581b3c372bac922350c645fb5fd937280"],
  ["\ud83e\udd8a \u00e9", "7bae74dd3e51fd41f6ae23e09e1b4acb0784062eb4d547cccdd6c4dbe798978b"],
  ["\ud800", "6e6535d29be7bfac2971dc0853620d739dd43a62c41409d21d39ccb9b29e224b"],
  [
    '[1,2,0,"telegram","default","-100123","m1","file"]',
    "48f25d67d9c7d484bf2d5bbe141ea3a30cf92add350f4c89f75e9f2a4aa191b8",
  ],
  ["x".repeat(1_000), "2f2fc11b65e3f66e46fead9dbe5a33903ddea65b7026d023fe53cb73fc846dd0"],
] as const)("sha256 of %j", (text, hash) => {
  expect(sha256(text)).toBe(hash);
});

test("a claim code is kept as it was by every version", () => {
  expect(hashOfClaim("claim-ABCDEF-234567", sha256)).toBe(
    "3ba35edbed7b3ae388a1320fb939aa1c7bfbdd8f64a971f11a79a8a97dd251ce",
  );
  expect(hashOfClaim("CLAIM-abcdef-234567", sha256)).toBe(
    "3ba35edbed7b3ae388a1320fb939aa1c7bfbdd8f64a971f11a79a8a97dd251ce",
  );
});

property([fc.string({ unit: anyCharacter }), fc.string({ unit: anyCharacter })])(
  "no two texts have one hash, lone surrogates included",
  (one, other) => {
    expect(sha256(one) === sha256(other)).toBe(one === other);
  },
);
