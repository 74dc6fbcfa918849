/** Secrets are taken out of words however they come back, and what is no secret stays. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formsOfSecrets, redacted, redactSecrets } from "../../src/domain/redact-secrets.ts";
import { property } from "../support/property.ts";

const secret = fc.string({ unit: "grapheme", minLength: 6, maxLength: 40 });
const clothes: readonly ((text: string) => string)[] = [
  (text) => text,
  encodeURIComponent,
  encodeURI,
  (text) => JSON.stringify(text).slice(1, -1),
  (text) => Buffer.from(text).toString("base64"),
  (text) => Buffer.from(text).toString("base64url"),
];

describe("redaction", () => {
  property([secret, fc.constantFrom(...clothes), fc.string(), fc.string()])(
    "finds a secret in any encoding, wherever it is",
    (kept, dress, before, after) => {
      const redactedText = redactSecrets(`${before}|${dress(kept)}|${after}`, [kept]);
      expect(redactedText).toContain(redacted);
      expect(
        formsOfSecrets([kept]).filter((form) => `|${redactedText}|`.includes(`|${form}|`)),
      ).toEqual([]);
    },
  );

  property([fc.string(), secret])("leaves words without one as they are", (text, kept) => {
    fc.pre(!formsOfSecrets([kept]).some((form) => text.includes(form)));
    expect(redactSecrets(text, [kept])).toBe(text);
  });

  test("leaves nothing of the longer of two secrets that begin alike", () => {
    expect(redactSecrets("key-123456-more key-123456", ["key-123456", "key-123456-more"])).toBe(
      `${redacted} ${redacted}`,
    );
  });

  test("takes nothing too short for a secret, and no half of a letter breaks it", () => {
    expect(redactSecrets("the cat", ["cat", ""])).toBe("the cat");
    expect(redactSecrets("x \ud83dsecret x", ["\ud83dsecret"])).toBe(`x ${redacted} x`);
  });
});
