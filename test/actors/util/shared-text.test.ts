/** A shared text is what was appended, and a part of it stays what it was. */
import fc from "fast-check";
import { expect } from "vitest";
import { SharedText, textOf } from "../../../src/actors/util/shared-text.ts";
import { anyCharacter, property } from "../../support/property.ts";

const texts = fc.array(fc.string({ unit: anyCharacter, maxLength: 600 }), { maxLength: 12 });

property([texts])("each part has the text that there was, also after it has grown", (all) => {
  const shared = new SharedText();
  let whole = "";
  const parts = all.map((text) => {
    const wellFormed = (text as string & { toWellFormed(): string }).toWellFormed();
    shared.append(wellFormed);
    whole += wellFormed;
    return { part: shared.part, expected: whole };
  });
  for (const { part, expected } of parts) expect(textOf(structuredClone(part))).toBe(expected);
  expect(shared.size).toBeGreaterThanOrEqual(Buffer.byteLength(whole));
});
