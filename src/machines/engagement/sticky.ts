/**
 * A credit says "this author is in the middle of a conversation with us": their next plain line
 * engages without a mention. It is granted when a reply to them is delivered, lives for a window,
 * and is spent by the turn it starts, so a stale one can never resurrect a conversation that has
 * moved on.
 *
 * The ledger is a plain record inside the conversation's context: no clock, no cleaning timer. Time
 * comes in with each call, and expired credits are removed whenever the ledger is written anyway.
 */
import { limits } from "../../domain/limits.ts";
import type { AuthorId, Millis } from "../../domain/message.ts";

/** Author id to the moment the credit ends (ms since the epoch, exclusive). */
export type StickyLedger = Readonly<Record<AuthorId, Millis>>;

/**
 * Whether the author holds a live credit. Dead at the very millisecond it ends; a clock set back
 * revives nothing that was seen expired. Ids are opaque: one that is named like a property
 * of every object holds no credit by that.
 */
export function holdsCredit(ledger: StickyLedger, author: AuthorId, now: Millis): boolean {
  const endsAt: unknown = ledger[author];
  return typeof endsAt === "number" && now < endsAt;
}

/**
 * The ledger after a delivered reply to `authors`. A later grant overwrites an earlier one; what is
 * expired is removed; beyond the cap the credits that end first go.
 */
export function grantCredits(
  ledger: StickyLedger,
  authors: readonly AuthorId[],
  now: Millis,
  windowMs: number,
): StickyLedger {
  const rows = new Map<AuthorId, Millis>();
  for (const [author, endsAt] of Object.entries(ledger)) if (now < endsAt) rows.set(author, endsAt);
  for (const author of authors) rows.set(author, now + windowMs);
  if (rows.size <= limits.creditsCountMax) return Object.fromEntries(rows);
  const kept = [...rows].sort(([, a], [, b]) => b - a).slice(0, limits.creditsCountMax);
  return Object.fromEntries(kept);
}

/** The ledger without the author's credit; the same object when there was none. */
export function spendCredit(ledger: StickyLedger, author: AuthorId): StickyLedger {
  if (!Object.hasOwn(ledger, author)) return ledger;
  return Object.fromEntries(Object.entries(ledger).filter(([id]) => id !== author));
}

/** The ledger without dead credits; the same object when all are alive. */
export function removeExpiredCredits(ledger: StickyLedger, now: Millis): StickyLedger {
  for (const author in ledger) {
    if (!holdsCredit(ledger, author, now))
      return Object.fromEntries(Object.entries(ledger).filter(([, endsAt]) => now < endsAt));
  }
  return ledger;
}
