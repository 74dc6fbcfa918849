/**
 * Everything that is sent, one row each. A row is committed as `sending` before the platform is
 * called and as `sent` after it answered, so a crash can only leave a row with an unknown result,
 * and that row is in doubt. Texts of a conversation are sent one by one in order; accounts do not
 * wait for each other; a row that is too old is not sent. An edit may be repeated, so it is never
 * in doubt. Reactions are best effort.
 *
 * `deliveryMachine` defines the states; this file decides when they change and notifies the
 * conversation.
 */
import { setMaxListeners } from "node:events";
import type { ChannelOutbound, OutboxRow } from "../../domain/ports/index.ts";
import { createBackoff } from "./backoff.ts";
import { stepsBetween } from "./delivery-steps.ts";
import {
  changed,
  cutShort,
  resendOnce,
  resumed,
  seenDead,
  sentAgain,
  withoutRetry,
} from "./doubts.ts";
import { createWaitingReactions, isTiring, unseen } from "./pending-reactions.ts";
import {
  asMessage,
  type Delivery,
  deliveryOf,
  deliveryWith,
  discardedBy,
  isDraft,
  isOnlyEdit,
  isText,
  openAttempt,
  sendLine,
  type TextBody,
  withAttempt,
} from "./row-body.ts";
import { endRow } from "./row-end.ts";
import { createRowOrders } from "./row-orders.ts";
import { type CallOutcome, trySend } from "./send-attempt.ts";
import { asAsked, askHooks } from "./send-hooks.ts";
import { createSendQueues, type QueuedDelivery } from "./send-queues.ts";
import { createSentTexts } from "./sent-texts.ts";
import { markStopped } from "./stopped-turns.ts";
import { createDrafts } from "./streamed-drafts.ts";
import { givenUp, type Outbox, type OutboxPorts } from "./types.ts";

export function createOutbox(ports: OutboxPorts): Outbox {
  const { clock, journal, log } = ports;
  const { emit } = ports.events;
  const pace = createBackoff(clock, ports.random);
  const counts: Record<string, number> = {};
  const queued = new Map<string, QueuedDelivery>();
  const sent = createSentTexts();
  const reactions = createWaitingReactions();
  const alone = createRowOrders();
  /** Drafts that wait, as do their whole texts. */
  const completed = new Set<string>();
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const limited = { clock, stop: stop.signal, mayAct: journal.mayAct };
  const calls = { ...limited, readFile: ports.readFile };
  const queues = createSendQueues({
    clock,
    ready: (channel, account) => ports.directory.ready(channel, account),
    start: (item) => void send(item).catch(stopped(item.delivery.row.id)),
  });

  const drafts = createDrafts({
    ...limited,
    log,
    directory: ports.directory,
    pause: queues.pause,
    pausedUntil: queues.pausedUntil,
  });

  const tally = (from: string | null, to: string) => {
    if (from !== null) counts[from] = (counts[from] ?? 1) - 1;
    counts[to] = (counts[to] ?? 0) + 1;
  };

  function moved(before: OutboxRow, row: OutboxRow): void {
    tally(before.state, row.state);
    const { stepped } = emit;
    if (stepped !== undefined) for (const step of stepsBetween(before, row)) stepped(step);
  }

  function put(item: QueuedDelivery, row: OutboxRow): void {
    moved(item.delivery.row, row);
    item.delivery = deliveryWith(item.delivery, row);
  }

  const finish = (delivery: Delivery, row: OutboxRow) => endRow({ ...ports, sent }, delivery, row);

  function end(item: QueuedDelivery, row: OutboxRow): Promise<void> {
    put(item, row);
    const { body } = item.delivery;
    queued.delete(row.id);
    reactions.ended(item);
    completed.delete(row.id);
    if ("draft" in body && row.state !== "sent") void drafts.seal(row.id);
    if (item.expiry !== null) clock.clearTimer(item.expiry);
    return finish(item.delivery, row);
  }

  async function expire(item: QueuedDelivery): Promise<void> {
    const row = changed(item.delivery.row, "expire", { error: "too old to be sent" });
    if (row === null) return;
    queues.remove(item);
    await end(item, row);
  }

  /** Only a stop: the next start finds the row as it is stored. */
  const stopped = (id: string) => (error: unknown) =>
    log("warn", "outbox.stopped", { id, error: String(error) });

  async function send(item: QueuedDelivery): Promise<void> {
    const { row, body } = item.delivery;
    const outbound = ports.directory.outbound(body.route.channel, body.route.account);
    if (outbound === null) return queues.park(item);
    if (openAttempt(item.delivery) !== null) return attempt(item, carrierOf(item.delivery), null);
    if (clock.now() >= body.expiresAt) return expire(item);
    if (completed.has(row.id)) await giveUp(item, "the whole answer was there before it");
    const passed = await askHooks(item.delivery, ports);
    if (!queued.has(row.id)) return;
    if (passed?.kind === "refuse") return void (await giveUp(item, passed.why));
    if (passed?.kind === "send") put(item, asAsked(item.delivery.row, passed.text));
    const target = await targetOf(item, outbound);
    // It may have been given up meanwhile.
    if (!queued.has(row.id)) return;
    const begun = changed(item.delivery.row, "send");
    if (begun === null) return queues.park(item);
    const carried = "newAttempt" in outbound ? outbound.newAttempt() : null;
    const sending = isText(item.delivery) ? withAttempt(begun, carried) : begun;
    put(item, sending);
    if (isText(item.delivery)) await journal.keep([{ kind: "outbox", row: sending }]);
    // Nothing was sent yet: the next start sends it, without a doubt.
    if (queues.isHeld() || discardedBy(item.delivery) !== null) return withhold(item);
    // The store may have failed for long.
    if (clock.now() >= body.expiresAt) {
      put(item, changed(sending, "defer", { dueAt: clock.now() }) ?? sending);
      return expire(item);
    }
    await attempt(item, outbound, target);
  }

  const carrierOf = ({ body: { route } }: Delivery) =>
    ports.directory.carrier?.(route.channel, route.account) ?? null;

  /** Makes the call of a row that is stored as `sending`; one that was carried before is asked about. */
  async function attempt(
    item: QueuedDelivery,
    outbound: ChannelOutbound | null,
    target: string | null,
  ): Promise<void> {
    if (outbound === null) return queues.park(item);
    const outcome = await trySend(calls, outbound, item.delivery, target);
    ports.onPoint("after-send");
    // The next start finds the row in `sending`.
    if (stop.signal.aborted && outcome.kind !== "confirm") throw stop.signal.reason;
    if (outcome.kind === "withhold") await withhold(item);
    else if (isText(item.delivery)) await settleText(item, outcome);
    else await settleReaction(item, outcome);
  }

  /**
   * The platform's id of the message that an edit replaces. Without one, an answer is sent as a new
   * message; that of a stopped turn and a side message are dropped.
   */
  async function targetOf(item: QueuedDelivery, outbound: ChannelOutbound) {
    const { row, body } = item.delivery;
    if (row.kind !== "edit" || !("edits" in body) || body.edits === undefined) return null;
    await drafts.seal(body.edits);
    const draft = await ports.row(body.edits);
    const ids = JSON.parse(draft?.messageIds ?? "[]") as string[];
    if (draft?.state === "sent" && ids[0] !== undefined && outbound.editText !== undefined)
      return ids[0];
    // Its turn may have been stopped meanwhile.
    const now = item.delivery;
    if (isOnlyEdit(now.body as TextBody)) await giveUp(item, "its message never came to be");
    else item.delivery = deliveryOf(asMessage(now.row));
    return null;
  }

  /** The row is as it was before the attempt, and waits until the account may be used. */
  async function withhold(item: QueuedDelivery): Promise<void> {
    const row = changed(item.delivery.row, "withhold") as OutboxRow;
    if (discardedBy(item.delivery) !== null) return done(item, row);
    put(item, row);
    if (isText(item.delivery)) await journal.keep([{ kind: "outbox", row }]);
    // It may be used again by now: nobody says so twice.
    queues.release(item, row.dueAt);
  }

  async function settleText(item: QueuedDelivery, outcome: CallOutcome): Promise<void> {
    const { row, body } = item.delivery as Delivery & { body: TextBody };
    if (outcome.kind === "confirm") {
      const messageIds = JSON.stringify(outcome.messageIds);
      const sent = changed(row, "confirm", { messageIds }) as OutboxRow;
      const [id] = outcome.messageIds;
      if (body.draft && id !== undefined) drafts.sent(row.id, body.route, id, body.text);
      return done(item, sent);
    }
    log("warn", `send.${outcome.kind}`, {
      id: row.id,
      attempts: row.attempts,
      error: outcome.error,
    });
    if (outcome.kind === "defer") return defer(item, outcome);
    // The message was deleted meanwhile: its final text is sent as a new one.
    if (outcome.kind === "refuse" && row.kind === "edit" && !isOnlyEdit(body)) {
      put(item, asMessage(row));
      const { error } = outcome;
      return defer(item, { kind: "defer", afterMs: 1, wholeAccount: false, error });
    }
    let next = changed(row, outcome.kind, { error: outcome.error }) as OutboxRow;
    if (next.state === "in-doubt" && body.draft) {
      // The whole answer is sent anyway, as a message of its own.
      reportDoubt(item.delivery);
      next = changed(next, "drop") as OutboxRow;
    }
    const again = next.state === "in-doubt" ? resendOnce(next, ports.doubts(), clock) : null;
    if (again === null) return done(item, next);
    put(item, again);
    await journal.keep([{ kind: "outbox", row: again }]);
    reportDoubt(item.delivery);
    queues.release(item, again.dueAt);
  }

  /** Reports a row in doubt that is sent again: it may be seen twice. */
  function reportDoubt(delivery: Delivery): void {
    if (isText(delivery))
      emit.line?.(sendLine(clock.now(), delivery.row, delivery.body, "in-doubt"));
  }

  async function defer(
    item: QueuedDelivery,
    { afterMs, wholeAccount, error }: Extract<CallOutcome, { kind: "defer" }>,
  ): Promise<void> {
    const { row, body } = item.delivery;
    const dueAt = clock.now() + pace.afterTry(row, afterMs);
    const next = changed(row, "defer", { dueAt, error }) as OutboxRow;
    if (wholeAccount) queues.pause(body.route.channel, body.route.account, dueAt);
    if (next.state === "dead" || discardedBy(item.delivery) !== null) return done(item, next);
    put(item, next);
    if (isText(item.delivery)) await journal.keep([{ kind: "outbox", row: next }]);
    queues.release(item, dueAt);
  }

  async function settleReaction(item: QueuedDelivery, outcome: CallOutcome): Promise<void> {
    const { row } = item.delivery;
    if (outcome.kind === "confirm") return done(item, changed(row, "confirm") as OutboxRow);
    log("debug", "reaction.failed", { id: row.id, error: outcome.error });
    if (outcome.kind === "refuse" || isTiring(row))
      return done(item, changed(row, "refuse", { error: outcome.error }) as OutboxRow);
    // Adding a reaction twice adds it once, so one in doubt is simply tried again.
    const afterMs = outcome.kind === "defer" ? outcome.afterMs : null;
    await defer(item, { kind: "defer", afterMs, wholeAccount: false, error: outcome.error });
  }

  async function done(item: QueuedDelivery, row: OutboxRow): Promise<void> {
    await end(item, withoutRetry(row, discardedBy(item.delivery)));
    pace.ended(item.delivery);
    queues.next(item, pace.notBefore(queues.following(item)?.delivery));
  }

  function add(row: OutboxRow, counted = true): void {
    // Committed, so the next start finds it; a timer would keep the process running.
    if (stop.signal.aborted) return;
    const delivery = deliveryOf(row);
    if (counted) tally(null, row.state);
    if (isUndone(delivery)) return;
    const item: QueuedDelivery = { delivery, expiry: null, queue: null };
    queued.set(row.id, item);
    reactions.added(item, !counted);
    const { edits = "" } = delivery.body as Partial<TextBody>;
    if (queued.has(edits)) completed.add(edits);
    if ("draft" in delivery.body) drafts.open(row.id);
    item.expiry = clock.setTimer(delivery.body.expiresAt, () => {
      item.expiry = null;
      expire(item).catch(stopped(row.id));
    });
    queues.add(item, pace.notBefore(delivery));
  }

  /** Cancels the reaction that a row removes; true: nothing is left to do. */
  function isUndone(delivery: Delivery): boolean {
    const undone = reactions.undoneBy(delivery);
    if (undone === null) return false;
    const { row } = delivery;
    const { item, why } = undone;
    if (item !== null) giveUp(item, unseen).catch(stopped(row.id));
    const dead = why === null ? null : changed(row, "drop", { error: why });
    if (dead === null) return false;
    moved(row, dead);
    finish(delivery, dead).catch(stopped(row.id));
    return true;
  }

  function giveUpAll(turnId: string, why: string, isMeant: (of: Delivery) => boolean): void {
    for (const item of [...queued.values()]) {
      const { row } = item.delivery;
      if (row.turnId === turnId && isMeant(item.delivery)) giveUp(item, why).catch(stopped(row.id));
    }
  }

  /** Queues a row that a start found; returns what stores and reports its change. */
  function resume(row: OutboxRow): () => Promise<void> {
    const isCarried = (of: Delivery) => openAttempt(of) !== null && carrierOf(of) !== null;
    const next = resumed(row, { doubts: ports.doubts(), clock, isCarried });
    const { id, state, error } = next;
    moved(row, next);
    if (state === "pending" || state === "waiting" || state === "sending") add(next, false);
    return async () => {
      const isDoubted = next.doubts > row.doubts && !isDraft(row);
      if (isDoubted) log("warn", "send.doubt", { id, error, again: state === "pending" });
      if (state === "dead" || (isDoubted && state === "in-doubt"))
        return finish(deliveryOf(next), next);
      if (!isDoubted) return;
      await journal.keep([{ kind: "outbox", row: next }]);
      reportDoubt(deliveryOf(next));
    };
  }

  async function giveUp(item: QueuedDelivery, why: string): Promise<boolean> {
    const row = changed(item.delivery.row, "drop", { error: why });
    if (row === null) return false;
    queues.remove(item);
    await end(item, row);
    return true;
  }

  return {
    enqueue: (rows) => {
      emit.queued?.(rows);
      for (const row of rows) add(row);
    },
    async recover(rows, found, repaired) {
      Object.assign(counts, found);
      // Queued before this returns: rows that follow while files are repaired come behind them.
      const marks = rows.map(resume);
      await repaired;
      await Promise.all(marks.map((mark) => mark()));
      queues.open();
    },
    wake: queues.wake,
    stopping: (turnId, why, planned) => markStopped(queued, planned, turnId, why),
    discard(turnId, why) {
      drafts.forget(turnId);
      markStopped(queued, [], turnId, why);
      giveUpAll(turnId, why, (of) => discardedBy(of) !== null);
    },
    draft: drafts.update,
    endTurn(turnId, broken) {
      drafts.forget(turnId);
      if (broken) giveUpAll(turnId, cutShort, ({ row }) => isDraft(row));
    },
    resend: alone(async (row) => {
      const next = queued.has(row.id) || isDraft(row) ? null : sentAgain(row, clock.now());
      if (next === null) return false;
      await journal.keep([{ kind: "outbox", row: next }]);
      moved(row, next);
      add(next, false);
      return true;
    }),
    drop: alone(async (row) => {
      const item = queued.get(row.id);
      if (item !== undefined) return giveUp(item, givenUp);
      const seen = seenDead(row);
      if (seen !== null) {
        await journal.keep([{ kind: "outbox", row: seen }]);
        return true;
      }
      const next = changed(row, "drop", { error: givenUp });
      if (next === null) return false;
      moved(row, next);
      await finish(deliveryOf(next), next);
      return true;
    }),
    counts: () => counts,
    textOf: sent.find,
    active: () => queues.active() + drafts.active(),
    hold: queues.hold,
    stop() {
      stop.abort(new Error("the runtime stops"));
      drafts.stop();
      queues.stop();
      for (const item of queued.values()) if (item.expiry !== null) clock.clearTimer(item.expiry);
      queued.clear();
    },
  };
}
