/** The ledger: granted, spent, dead on time, and never alive again. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { limits } from "../../../src/domain/limits.ts";
import {
  grantCredits,
  holdsCredit,
  removeExpiredCredits,
  type StickyLedger,
  spendCredit,
} from "../../../src/machines/engagement/sticky.ts";
import { property } from "../../support/property.ts";

const authors = fc.constantFrom("ann", "bo", "constructor", "__proto__");
const instants = fc.integer({ min: 0, max: 10_000 });
const ledgers: fc.Arbitrary<StickyLedger> = fc
  .array(fc.tuple(authors, instants), { maxLength: 4 })
  .map((rows) => Object.fromEntries(rows));

describe("sticky credits", () => {
  property([ledgers, authors, instants, fc.integer({ min: 1, max: 5_000 })])(
    "a grant lives strictly until its end, for any id",
    (ledger, author, now, windowMs) => {
      const granted = grantCredits(ledger, [author], now, windowMs);
      expect(holdsCredit(granted, author, now)).toBe(true);
      expect(holdsCredit(granted, author, now + windowMs - 1)).toBe(true);
      expect(holdsCredit(granted, author, now + windowMs)).toBe(false);
    },
  );

  property([ledgers, authors, instants])(
    "a spent credit is gone, the others stay",
    (ledger, author, now) => {
      const spent = spendCredit(ledger, author);
      expect(holdsCredit(spent, author, now)).toBe(false);
      for (const other of Object.keys(ledger))
        if (other !== author)
          expect(holdsCredit(spent, other, now)).toBe(holdsCredit(ledger, other, now));
    },
  );

  property([ledgers, instants, instants])(
    "what was seen expired stays expired when the clock is set back",
    (ledger, now, back) => {
      const cleaned = removeExpiredCredits(ledger, now);
      const earlier = Math.max(0, now - back);
      for (const author of Object.keys(ledger))
        if (!holdsCredit(ledger, author, now))
          expect(holdsCredit(cleaned, author, earlier)).toBe(false);
        else expect(holdsCredit(cleaned, author, now)).toBe(true);
    },
  );

  property([ledgers, instants])("nothing is changed in place", (ledger, now) => {
    Object.freeze(ledger);
    expect(() => {
      grantCredits(ledger, ["ann"], now, 10);
      spendCredit(ledger, "ann");
      removeExpiredCredits(ledger, now);
    }).not.toThrow();
  });

  property([ledgers, authors, instants])(
    "a ledger that stays as it is stays the same object, and no other does",
    (ledger, author, now) => {
      expect(spendCredit(ledger, author) === ledger).toBe(!Object.hasOwn(ledger, author));
      const isAlive = Object.values(ledger).every((endsAt) => now < endsAt);
      expect(removeExpiredCredits(ledger, now) === ledger).toBe(isAlive);
    },
  );

  test("a later grant overwrites, and removes what expired", () => {
    const first = grantCredits({}, ["ann", "bo"], 0, 100);
    expect(grantCredits(first, ["ann"], 50, 100)).toEqual({ ann: 150, bo: 100 });
    expect(grantCredits(first, ["ann"], 100, 100)).toEqual({ ann: 200 });
  });

  test("the ledger is bounded: the credits that end first go", () => {
    let ledger: StickyLedger = {};
    for (let n = 0; n < limits.creditsCountMax + 10; n += 1)
      ledger = grantCredits(ledger, [`u${n}`], n, 1_000_000);
    expect(Object.keys(ledger)).toHaveLength(limits.creditsCountMax);
    expect(holdsCredit(ledger, "u0", 500)).toBe(false);
    expect(holdsCredit(ledger, `u${limits.creditsCountMax + 9}`, 500)).toBe(true);
  });
});
