/**
 * How rows change
 * ===============
 * A row after an event of `deliveryMachine`, the policy for rows in doubt, and what becomes of the
 * rows that a start finds.
 */
import type { Millis } from "../../domain/message.ts";
import type { Clock, OutboxRow } from "../../domain/ports/index.ts";
import { type DeliveryEvent, nextDelivery } from "../../machines/delivery.machine.ts";
import { backoffMsMin } from "./backoff.ts";
import { type Delivery, deliveryOf, discardedBy, isDraft, type TextBody } from "./row-body.ts";
import { givenUp, type OutboxPorts } from "./types.ts";

/** The error of a draft whose turn is lost, or whose whole text another row sends. */
export const cutShort = "the answer that it began was cut short";

/** The row after an event; null when its state does not accept the event. */
export function changed(
  row: OutboxRow,
  event: DeliveryEvent["type"],
  more: Partial<OutboxRow> = {},
): OutboxRow | null {
  const next = nextDelivery(row, { type: event });
  return next === row ? null : { ...row, ...next, ...more };
}

/** The policy for rows in doubt: sent once more, if young enough and never in doubt before. */
export function resendOnce(
  row: OutboxRow,
  { policy, freshMs }: ReturnType<OutboxPorts["doubts"]>,
  clock: Clock,
): OutboxRow | null {
  const now = clock.now();
  if (policy !== "resend-if-fresh" || row.doubts > 1 || now - row.createdAt >= freshMs) return null;
  if (discardedBy(deliveryOf(row)) !== null) return null;
  const error = `in doubt, sent again: ${row.error ?? ""}`;
  return changed(row, "resend", { dueAt: now + backoffMsMin, error });
}

/**
 * A row whose turn was stopped, for the reason `why`: dropped, unless it has ended or nobody knows what
 * became of it. Without a reason it is as it was.
 */
export const withoutRetry = (row: OutboxRow, why: string | null): OutboxRow =>
  why === null || row.state === "in-doubt" ? row : (changed(row, "drop", { error: why }) ?? row);

/** A row that the operator sends again, as old as a new one; null when its state does not allow it. */
export function sentAgain(row: OutboxRow, now: Millis): OutboxRow | null {
  const { discarded: _, ...body } = deliveryOf(row).body as TextBody;
  const expiresAt = now + Math.max(0, body.expiresAt - row.createdAt);
  const again = JSON.stringify({ ...body, expiresAt });
  return changed(row, "resend", { createdAt: now, dueAt: now, body: again });
}

/** A dead row that the operator has seen; null when it is none, or was seen before. */
export function seenDead(row: OutboxRow): OutboxRow | null {
  if (row.state !== "dead" || row.error?.startsWith(givenUp) !== false) return null;
  return { ...row, error: `${givenUp}: ${row.error}` };
}

interface ResumePorts {
  readonly doubts: ReturnType<OutboxPorts["doubts"]>;
  readonly clock: Clock;
  /** Whether it can be asked what became of an attempt. */
  readonly isCarried: (delivery: Delivery) => boolean;
}

/** A row as the start goes on with it. */
export function resumed(row: OutboxRow, { doubts, clock, isCarried }: ResumePorts): OutboxRow {
  if (isDraft(row)) {
    const doubted = changed(row, "doubt") ?? row;
    return changed(doubted, "drop", { error: cutShort }) as OutboxRow;
  }
  const why = discardedBy(deliveryOf(row));
  if (row.state !== "sending") return withoutRetry(row, why);
  // Another node may have been asked to send it: it is asked what became of it.
  if (row.kind !== "edit" && isCarried(deliveryOf(row))) return row;
  if (row.kind === "edit") {
    const error = "the process ended while editing";
    const next = changed(row, "defer", { dueAt: clock.now(), error }) as OutboxRow;
    return withoutRetry(next, why);
  }
  const doubted = changed(row, "doubt", { error: "the process ended while sending" }) as OutboxRow;
  return resendOnce(doubted, doubts, clock) ?? doubted;
}
