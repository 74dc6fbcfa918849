/**
 * The outbox
 * ==========
 * Everything that leaves, one row each. A row is committed as `sending` before the platform is
 * called and as `sent` after it answered, so a crash can only leave a row whose outcome is unknown,
 * and that one is marked. Texts of a conversation leave one by one in order; accounts do not wait
 * for each other; a row that is too old is not sent any more. Reactions are best effort: in order,
 * tried a few times, dropped.
 *
 * The states and their changes are `deliveryMachine`; this file decides when, and tells the
 * conversation.
 */

import type { Millis } from "../domain/message.ts";
import type { Clock, Log, OutboxRow, OutboxState, Random } from "../domain/ports.ts";
import type { SendStatus, StreamLine } from "../domain/stream.ts";
import { type DeliveryEvent, nextDelivery } from "../machines/delivery.machine.ts";
import type { ConversationEvent } from "../machines/events.ts";
import { newEvent } from "./journal.codec.ts";
import type { Journal } from "./journal.ts";
import { type Delivery, deliveryOf, isText, sendLine } from "./outbox.body.ts";
import { createSendLanes, type QueuedDelivery } from "./outbox.lanes.ts";
import { type SendOutcome, trySend } from "./outbox.send.ts";
import type { OutboundDirectory } from "./runtime.types.ts";

export interface OutboxPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly random: Random;
  readonly journal: Journal;
  readonly directory: OutboundDirectory;
  readonly publish: (line: StreamLine) => void;
  /** What to do with a doubt, and until what age. */
  readonly doubts: () => { readonly policy: "resend-if-fresh" | "hold"; readonly freshMs: number };
  /** Config version for the events that tell the conversation. */
  readonly cfg: () => number;
  /** Tests end the process here. */
  readonly onPoint: (point: "after-send" | "before-mark") => void;
}

export interface Outbox {
  /** Takes rows that are durable, in order. */
  enqueue(rows: readonly OutboxRow[]): void;
  /**
   * Takes up what was found at start: the open rows, and how many rows are in each state. Resolves
   * when those found in `sending` are marked.
   */
  recover(
    rows: readonly OutboxRow[],
    counts: Readonly<Partial<Record<OutboxState, number>>>,
  ): Promise<void>;
  /** An account may send again. */
  wake(channel: string, account: string): void;
  /** Gives up what a turn has not sent yet. */
  discard(turnId: string, why: string): void;
  /** The operator sends a row again, or gives it up. False: its state does not allow it. */
  resend(row: OutboxRow): Promise<boolean>;
  drop(row: OutboxRow): Promise<boolean>;
  counts(): Readonly<Record<string, number>>;
  /** Texts that could be sent now or are being sent. */
  active(): number;
  /** Starts nothing any more. */
  stop(): void;
}

const backoffMsMin = 1_000;
const backoffMsMax = 60_000;
const reactionTriesMax = 3;
/** A platform that names very short waits is taken at its word this often. */
const quickTriesMax = 8;

export function createOutbox(ports: OutboxPorts): Outbox {
  const { clock, journal, log } = ports;
  const counts: Record<string, number> = {};
  const queued = new Map<string, QueuedDelivery>();
  let stopped = false;
  const lanes = createSendLanes({
    clock,
    ready: (channel, account) => ports.directory.ready(channel, account),
    start: (item) => {
      void run(item);
    },
  });

  const tally = (from: string | null, to: string) => {
    if (from !== null) counts[from] = (counts[from] ?? 1) - 1;
    counts[to] = (counts[to] ?? 0) + 1;
  };

  /** The row after an event; null when the event means nothing in its state. */
  function changed(row: OutboxRow, event: DeliveryEvent["type"], more: Partial<OutboxRow> = {}) {
    const next = nextDelivery(row, { type: event });
    return next === row ? null : { ...row, ...next, ...more };
  }

  function put(item: QueuedDelivery, row: OutboxRow): void {
    tally(item.delivery.row.state, row.state);
    item.delivery = { ...item.delivery, row } as Delivery;
  }

  function told(row: OutboxRow): ConversationEvent {
    const { turnId, index } = row;
    const at = clock.now();
    if (row.state === "sent") {
      const messageIds = JSON.parse(row.messageIds ?? "[]") as string[];
      return { type: "delivery.sent", at, turnId, index, messageIds };
    }
    const status = row.state as "expired" | "dead" | "in-doubt";
    return { type: "delivery.failed", at, turnId, index, status };
  }

  /** Commits a row's end and tells its conversation in the same commit; then says so. */
  async function finish(delivery: Delivery, row: OutboxRow): Promise<void> {
    const write = { kind: "outbox", row } as const;
    if (!isText(delivery)) return journal.keep([write]);
    const identity = `delivery|${row.id}|${row.state}|${row.attempts}|${row.doubts}`;
    const event = newEvent(row, ports.cfg(), told(row), { identity });
    ports.onPoint("before-mark");
    await journal.append([event], [write]);
    ports.publish(sendLine(clock.now(), row, delivery.body, row.state as SendStatus));
  }

  function end(item: QueuedDelivery, row: OutboxRow): Promise<void> {
    put(item, row);
    queued.delete(row.id);
    if (item.expiry !== null) clock.clearTimer(item.expiry);
    return finish(item.delivery, row);
  }

  async function expire(item: QueuedDelivery): Promise<void> {
    const row = changed(item.delivery.row, "expire", { error: "too old to be said" });
    if (row === null) return;
    lanes.remove(item);
    await end(item, row);
  }

  async function run(item: QueuedDelivery): Promise<void> {
    try {
      await send(item);
    } catch (error) {
      // Only a stopped journal rejects: the row is found in `sending` at the next start.
      log("warn", "outbox.stopped", { id: item.delivery.row.id, error: String(error) });
    }
  }

  async function send(item: QueuedDelivery): Promise<void> {
    const { body } = item.delivery;
    const outbound = ports.directory.outbound(body.route.channel, body.route.account);
    const sending = changed(item.delivery.row, "send");
    if (outbound === null || sending === null) return lanes.park(item);
    if (clock.now() >= body.expiresAt) return expire(item);
    put(item, sending);
    if (isText(item.delivery)) await journal.keep([{ kind: "outbox", row: sending }]);
    const outcome = await trySend(clock, outbound, item.delivery);
    ports.onPoint("after-send");
    if (isText(item.delivery)) await settleText(item, outcome);
    else await settleReaction(item, outcome);
  }

  async function settleText(item: QueuedDelivery, outcome: SendOutcome): Promise<void> {
    const { row } = item.delivery;
    if (outcome.kind === "confirm") {
      const messageIds = JSON.stringify(outcome.messageIds);
      const sent = changed(row, "confirm", { messageIds }) as OutboxRow;
      return done(item, sent);
    }
    log("warn", `send.${outcome.kind}`, {
      id: row.id,
      attempts: row.attempts,
      error: outcome.error,
    });
    if (outcome.kind === "defer") return defer(item, outcome);
    const next = changed(row, outcome.kind, { error: outcome.error }) as OutboxRow;
    const again = next.state === "in-doubt" ? resendOnce(next) : null;
    if (again === null) return done(item, next);
    put(item, again);
    await journal.keep([{ kind: "outbox", row: again }]);
    tellDoubt(item.delivery);
    lanes.release(item, again.dueAt);
  }

  /** Says that a row is in doubt although it goes again: the room may see it twice. */
  function tellDoubt(delivery: Delivery): void {
    if (isText(delivery))
      ports.publish(sendLine(clock.now(), delivery.row, delivery.body, "in-doubt"));
  }

  /** The policy for doubts: once more, if young enough and never in doubt before. */
  function resendOnce(row: OutboxRow): OutboxRow | null {
    const { policy, freshMs } = ports.doubts();
    const now = clock.now();
    if (policy !== "resend-if-fresh" || row.doubts > 1 || now - row.createdAt >= freshMs)
      return null;
    const error = `in doubt, sent again: ${row.error ?? ""}`;
    return changed(row, "resend", { dueAt: now + backoffMsMin, error });
  }

  async function defer(
    item: QueuedDelivery,
    { afterMs, wholeAccount, error }: Extract<SendOutcome, { kind: "defer" }>,
  ): Promise<void> {
    const { row, body } = item.delivery;
    const dueAt = clock.now() + waitAfter(row.attempts, afterMs);
    const next = changed(row, "defer", { dueAt, error }) as OutboxRow;
    if (wholeAccount) lanes.pause(body.route.channel, body.route.account, dueAt);
    if (next.state === "dead") return done(item, next);
    put(item, next);
    if (isText(item.delivery)) await journal.keep([{ kind: "outbox", row: next }]);
    lanes.release(item, dueAt);
  }

  async function settleReaction(item: QueuedDelivery, outcome: SendOutcome): Promise<void> {
    const { row } = item.delivery;
    if (outcome.kind === "confirm") return done(item, changed(row, "confirm") as OutboxRow);
    log("debug", "reaction.failed", { id: row.id, error: outcome.error });
    if (outcome.kind === "refuse" || row.attempts >= reactionTriesMax) {
      return done(item, changed(row, "refuse", { error: outcome.error }) as OutboxRow);
    }
    // Putting a reaction twice is putting it once, so a doubt is just another try.
    const afterMs = outcome.kind === "defer" ? outcome.afterMs : null;
    await defer(item, { kind: "defer", afterMs, wholeAccount: false, error: outcome.error });
  }

  async function done(item: QueuedDelivery, row: OutboxRow): Promise<void> {
    await end(item, row);
    lanes.next(item, pauseBetween(lanes.following(item)));
  }

  function pauseBetween(next: QueuedDelivery | null): Millis {
    if (next === null || !isText(next.delivery)) return 0;
    const { pauseMs } = next.delivery.body;
    if (pauseMs === undefined || next.delivery.row.index === 0) return 0;
    return clock.now() + pauseMs[0] + Math.floor(ports.random.next() * (pauseMs[1] - pauseMs[0]));
  }

  /** As long as the platform said; without a word from it, longer each time. */
  function waitAfter(attempts: number, toldMs: number | null): number {
    if (toldMs === null) return backoff(attempts);
    return Math.max(toldMs, attempts > quickTriesMax ? backoffMsMin : 1);
  }

  function backoff(attempts: number): number {
    const whole = Math.min(backoffMsMin * 2 ** (attempts - 1), backoffMsMax);
    return Math.round(whole * (0.5 + ports.random.next() / 2));
  }

  function add(row: OutboxRow, counted = true): void {
    // Committed, so the next start finds it; a timer now would keep the process from ending.
    if (stopped) return;
    const delivery = deliveryOf(row);
    if (counted) tally(null, row.state);
    const item: QueuedDelivery = { delivery, expiry: null };
    queued.set(row.id, item);
    item.expiry = clock.setTimer(delivery.body.expiresAt, () => {
      item.expiry = null;
      expire(item).catch((error: unknown) =>
        log("warn", "outbox.stopped", { id: row.id, error: String(error) }),
      );
    });
    lanes.add(item);
  }

  async function giveUp(item: QueuedDelivery, why: string): Promise<boolean> {
    const row = changed(item.delivery.row, "drop", { error: why });
    if (row === null) return false;
    lanes.remove(item);
    await end(item, row);
    return true;
  }

  return {
    enqueue: (rows) => {
      for (const row of rows) add(row);
    },
    async recover(rows, found) {
      Object.assign(counts, found);
      const marked = rows.map(async (row) => {
        if (row.state !== "sending") {
          if (row.state !== "in-doubt") add(row, false);
          return;
        }
        const doubted = changed(row, "doubt", { error: "the process ended while sending" });
        const next = resendOnce(doubted as OutboxRow) ?? (doubted as OutboxRow);
        tally(row.state, next.state);
        log("warn", "send.doubt", {
          id: row.id,
          error: next.error,
          again: next.state === "pending",
        });
        if (next.state === "pending") {
          add(next, false);
          await journal.keep([{ kind: "outbox", row: next }]);
          return tellDoubt(deliveryOf(next));
        }
        return finish(deliveryOf(next), next);
      });
      await Promise.all(marked);
    },
    wake: lanes.wake,
    discard(turnId, why) {
      for (const item of [...queued.values()]) {
        const { row } = item.delivery;
        if (row.turnId !== turnId || !isText(item.delivery)) continue;
        giveUp(item, why).catch((error: unknown) =>
          log("warn", "outbox.stopped", { id: row.id, error: String(error) }),
        );
      }
    },
    async resend(row) {
      const now = clock.now();
      const { expiresAt } = deliveryOf(row).body;
      const body = JSON.stringify({
        ...deliveryOf(row).body,
        expiresAt: now + Math.max(0, expiresAt - row.createdAt),
      });
      const next = queued.has(row.id)
        ? null
        : changed(row, "resend", { createdAt: now, dueAt: now, body });
      if (next === null) return false;
      await journal.keep([{ kind: "outbox", row: next }]);
      tally(row.state, next.state);
      add(next, false);
      return true;
    },
    async drop(row) {
      const item = queued.get(row.id);
      if (item !== undefined) return giveUp(item, "given up by the operator");
      const next = changed(row, "drop", { error: "given up by the operator" });
      if (next === null) return false;
      tally(row.state, next.state);
      await finish(deliveryOf(next), next);
      return true;
    },
    counts: () => counts,
    active: () => lanes.active(),
    stop() {
      stopped = true;
      lanes.stop();
      for (const item of queued.values()) if (item.expiry !== null) clock.clearTimer(item.expiry);
      queued.clear();
    },
  };
}
