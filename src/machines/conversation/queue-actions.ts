/**
 * Gathering and waiting
 * =====================
 * Moves batches along: from their open window into the line, from the line to a turn. Sets the two
 * durable deadlines ("flush" for the first window to close, "quiet" for the pause after a turn)
 * whenever they change.
 */
import type { Millis, Route } from "../../domain/message.ts";
import { chatOf, placed } from "../batching/chats.ts";
import { type BufferEntry, closeQuestions, rememberLate } from "../batching/context-buffer.ts";
import {
  closeDue,
  enqueue,
  type Flush,
  type Forming,
  flushOf,
  type PendingMessage,
  refOf,
} from "../batching/inbox.ts";
import { quietWindow, waitsForQuiet } from "../batching/timing.ts";
import type { DropReason } from "../events/effects.ts";
import type { DeadlineDue, RunAborted } from "../events/events.ts";
import { mustWait, passRelay, takeFree } from "./agent-relay.ts";
import type { ConversationContext } from "./context.ts";
import { reaches } from "./same-person.ts";
import { reachAgent } from "./steering-actions.ts";
import type { Step } from "./step.ts";
import { updateTyping } from "./typing-actions.ts";

/** Whether an agent is at work: the chart says so where it is. A batch that closes reaches it. */
export interface AtWork {
  readonly running: boolean;
}

/** When the first window closes, which the deadline "flush" is set for; null: none is open. */
export function firstClose({ forming }: Pick<ConversationContext, "forming">): Millis | null {
  return forming[0]?.closesAt ?? null;
}

/** Sets, moves or clears the deadline "flush". `setFor`: what it is set for, before the change. */
export function armFlush({ context, effects }: Step, setFor: Millis | null): void {
  const at = firstClose(context);
  if (at === setFor) return;
  effects.push(
    at === null
      ? { type: "deadline.clear", id: "flush" }
      : { type: "deadline.set", id: "flush", at },
  );
}

/** Sets, moves or clears the deadline "quiet". */
export function setQuiet({ context, effects }: Step, at: Millis | null): void {
  if (at === context.quietAt) return;
  context.quietAt = at;
  if (at === null) context.quietBy = 0;
  effects.push(
    at === null
      ? { type: "deadline.clear", id: "quiet" }
      : { type: "deadline.set", id: "quiet", at },
  );
}

/** Whether what is in line waits for a pause in the room, now that this turn is over. */
export function needsQuiet({ settings, run, inbox }: ConversationContext): boolean {
  if (run === null || run.order.heartbeat === true || inbox.length === 0) return false;
  return waitsForQuiet(settings.queue.mode) && settings.queue.debounceMs > 0;
}

/** A turn is over and the line waits for a pause in the room. */
export function openQuiet(step: Step, { at }: { readonly at: Millis }): void {
  const { until, by } = quietWindow(at, step.context.settings);
  step.context.quietBy = by;
  setQuiet(step, until);
}

/** Somebody spoke to us during the quiet window: it starts again, up to its cap. */
export function extendQuiet(step: Step, at: Millis): void {
  const { quietAt, quietBy, settings } = step.context;
  if (quietAt === null) return;
  setQuiet(step, Math.max(quietAt, Math.min(quietBy, at + settings.queue.debounceMs)));
}

/** The deadline "flush" fired: closes what is due. One that comes early is set again. */
export function closeDueWindows(step: Step, { at }: DeadlineDue, work?: AtWork): void {
  closeUpTo(step, at, work);
  armFlush(step, null);
}

/** The deadline "quiet" fired: the line may move on, with whatever else is due by now. */
export function endQuiet(step: Step, { at }: DeadlineDue): void {
  const setFor = firstClose(step.context);
  closeUpTo(step, at);
  step.context.quietAt = null;
  step.context.quietBy = 0;
  armFlush(step, setFor);
}

/** The deadline "quiet" came early: set again. */
export function keepQuiet({ context, effects }: Step): void {
  const { quietAt } = context;
  if (quietAt !== null) effects.push({ type: "deadline.set", id: "quiet", at: quietAt });
}

/** A command ends every open window: what was said before it goes before it. */
export function closeWindows(step: Step, { at }: { readonly at: Millis }, work?: AtWork): void {
  const { forming } = step.context;
  const setFor = firstClose(step.context);
  step.context.forming = [];
  queueClosed(step, forming, at, work);
  armFlush(step, setFor);
}

function closeUpTo(step: Step, at: Millis, work?: AtWork): void {
  const { forming, closed } = closeDue(step.context.forming, at);
  step.context.forming = forming;
  queueClosed(step, closed, at, work);
}

/** Puts closed batches in the queue, and offers each that got a place to a running agent. */
export function queueClosed(
  step: Step,
  closed: readonly Forming[],
  at: Millis,
  { running }: AtWork = { running: false },
): void {
  const { context } = step;
  for (const batch of closed) {
    const { run, quietAt, inbox, settings } = context;
    const behindTurn = run !== null && run.order.heartbeat !== true;
    const held = mustWait(context);
    const queued = enqueue(inbox, flushOf(batch, behindTurn || quietAt !== null), settings.queue);
    context.inbox = queued.inbox;
    discard(step, queued.dropped, queued.why);
    requestIfFreed(step, held);
    if (queued.notes.length > 0) {
      const notes = [...context.droppedWhileBusy, ...queued.notes];
      context.droppedWhileBusy = notes.slice(-Math.max(1, settings.queue.cap));
    }
    const isIn = queued.why !== "queue-cap-new" || queued.dropped.length === 0;
    if (running && isIn) reachAgent(step, batch, at);
  }
}

/** The line no longer waits for other agents, as its first batch is gone. `held`: it did before. */
export function requestIfFreed(step: Step, held: boolean): void {
  const { run, inbox } = step.context;
  if (held && run === null && inbox.length > 0) requestSlot(step);
}

/** Takes the next turn's batch out of the line. */
export function takeFromLine(step: Step): Flush | null {
  const { flush, inbox, dropped } = takeFree(step.context);
  step.context.inbox = inbox;
  discard(step, dropped, "interrupted");
  return flush;
}

/** Batches that will never reach the agent: each message is named, and its ack reaction removed. */
function discard(step: Step, batches: readonly Flush[], why: DropReason): void {
  for (const { messages, route } of batches) {
    for (const message of messages)
      step.effects.push({ type: "dropped", message: refOf(message), why });
    passRelay(step, messages);
    removeAcks(step, messages, route);
  }
}

/**
 * Somebody has ordered a stop: what they have waiting gets no turn, and is shown to the next one
 * like what was overheard. No answer of the judge engages what was said before. What belongs to a session that is over is not shown to the one in use.
 */
export function parkLine(step: Step, { from }: RunAborted): void {
  const { context } = step;
  context.buffer = closeQuestions(context.buffer);
  if (from === undefined) return;
  const parked = context.inbox.filter((flush) => reaches(from, flush));
  if (parked.length === 0) return;
  const held = mustWait(context);
  context.inbox = context.inbox.filter((flush) => !parked.includes(flush));
  discard(step, parked, "stopped");
  const shown = parked.filter(({ past }) => past === undefined);
  context.buffer = rememberLate(
    context.buffer,
    shown.flatMap(({ messages, route }) =>
      messages.map((message) => placed(entryOf(message), chatOf(context.settings, route))),
    ),
  );
  requestIfFreed(step, held);
  if (context.inbox.length === 0) setQuiet(step, null);
  updateTyping(step);
}

function entryOf({ seq, id, at, author, editSeq }: PendingMessage): BufferEntry {
  const entry = { seq, id, at, author, self: false, stopped: true } as const;
  return editSeq === undefined ? entry : { ...entry, editSeq };
}

/** Takes the ack reaction off the messages that carry one. */
export function removeAcks(
  { effects }: Step,
  messages: readonly PendingMessage[],
  route: Route,
): void {
  for (const { id, ack } of messages)
    if (ack !== null) effects.push({ type: "unreact", message: id, emoji: ack, route });
}

/** Asks for a turn slot, unless other agents have to answer first: their end asks then. */
export function requestSlot({ context, effects }: Step): void {
  if (!mustWait(context)) effects.push({ type: "lane.request" });
}

export function releaseSlot({ effects }: Step): void {
  effects.push({ type: "lane.release" });
}
