/**
 * Gathering and waiting
 * =====================
 * Moves batches along: from their open window into the line, from the line to a lane. Sets the two
 * durable deadlines ("flush" for the first window to close, "quiet" for the pause after a turn)
 * whenever they change, and shows typing where somebody waits for an answer.
 */
import { limits } from "../../domain/limits.ts";
import { type Millis, type Route, sameRoute } from "../../domain/message.ts";
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
import type { DeadlineDue } from "../events/events.ts";
import { mustWait, passRelay, takeFree } from "./agent-relay.ts";
import type { ConversationContext, Run } from "./context.ts";
import { offerLine } from "./steering-actions.ts";

/** Sets, moves or clears the deadline "flush" so that it wakes us when the first window closes. */
export function armFlush(context: ConversationContext): void {
  const at = context.forming[0]?.closesAt ?? null;
  if (at === context.flushAt) return;
  context.flushAt = at;
  context.effects.push(
    at === null
      ? { type: "deadline.clear", id: "flush" }
      : { type: "deadline.set", id: "flush", at },
  );
}

/** Sets, moves or clears the deadline "quiet". */
export function setQuiet(context: ConversationContext, at: Millis | null): void {
  if (at === context.quietAt) return;
  context.quietAt = at;
  if (at === null) context.quietBy = 0;
  context.effects.push(
    at === null
      ? { type: "deadline.clear", id: "quiet" }
      : { type: "deadline.set", id: "quiet", at },
  );
}

/**
 * Opens the quiet window after a turn, if something piled up behind it that has to wait for one.
 */
export function openQuiet(context: ConversationContext, at: Millis): void {
  const { settings, inbox } = context;
  if (inbox.length === 0 || !needsQuiet(context)) return;
  const { until, by } = quietWindow(at, settings);
  context.quietBy = by;
  setQuiet(context, until);
}

/** Whether the line waits for a pause after a turn. After one that nobody asked for it does not. */
export function needsQuiet({ settings, run }: ConversationContext): boolean {
  if (run?.order.heartbeat === true) return false;
  return waitsForQuiet(settings.queue.mode) && settings.queue.debounceMs > 0;
}

/** Somebody spoke to us during the quiet window: it starts again, up to its cap. */
export function extendQuiet(context: ConversationContext, at: Millis): void {
  const { quietAt, quietBy, settings } = context;
  if (quietAt === null) return;
  setQuiet(context, Math.max(quietAt, Math.min(quietBy, at + settings.queue.debounceMs)));
}

/** The deadline "flush" fired: closes what is due. One that comes early is set again. */
export function flushDue(context: ConversationContext, { at }: DeadlineDue): void {
  if (context.flushAt === null) return;
  if (at >= context.flushAt) closeUpTo(context, at);
  context.flushAt = null;
  armFlush(context);
}

/** The deadline "quiet" fired: the line may move on, with whatever else is due by now. */
export function endQuiet(context: ConversationContext, { at }: DeadlineDue): void {
  closeUpTo(context, at);
  context.quietAt = null;
  context.quietBy = 0;
  armFlush(context);
}

/** The deadline "quiet" came early: set again. */
export function keepQuiet(context: ConversationContext): void {
  const { quietAt } = context;
  if (quietAt !== null) context.effects.push({ type: "deadline.set", id: "quiet", at: quietAt });
}

/** A command ends every open window: what was said before it goes before it. */
export function closeWindows(context: ConversationContext, { at }: { readonly at: Millis }): void {
  const { forming } = context;
  context.forming = [];
  passOn(context, forming, at);
  armFlush(context);
}

function closeUpTo(context: ConversationContext, at: Millis): void {
  const { forming, closed } = closeDue(context.forming, at);
  context.forming = forming;
  passOn(context, closed, at);
}

/** Puts closed batches in line; steers or interrupts the running turn where the mode says so. */
export function passOn(context: ConversationContext, closed: readonly Forming[], at: Millis): void {
  for (const batch of closed) {
    const behindTurn = context.run !== null && context.run.order.heartbeat !== true;
    const backlog = behindTurn || context.quietAt !== null;
    const held = mustWait(context);
    const queued = enqueue(context.inbox, flushOf(batch, backlog), context.settings.queue);
    context.inbox = queued.inbox;
    discard(context, queued.dropped, queued.why);
    askIfFreed(context, held);
    if (queued.notes.length > 0) {
      const notes = [...context.droppedWhileBusy, ...queued.notes];
      context.droppedWhileBusy = notes.slice(-Math.max(1, context.settings.queue.cap));
    }
    if (queued.why !== "queue-cap-new" || queued.dropped.length === 0) reachRun(context, batch, at);
  }
}

/** The line no longer waits for other agents, as its first batch is gone. `held`: it did before. */
export function askIfFreed(context: ConversationContext, held: boolean): void {
  if (held && context.run === null && context.inbox.length > 0) requestLane(context);
}

/** Other agents have ended: the running one may take in what waited for them. */
export function steerFreed(context: ConversationContext): void {
  const { run, settings } = context;
  if (run === null || run.ended || run.abortedBy !== null) return;
  if (steers(settings.queue.mode)) offerLine(context, run);
}

const steers = (mode: string) => mode === "steer" || mode === "steer-backlog";

/** Takes the next turn's batch out of the line. */
export function takeFromLine(context: ConversationContext): Flush | null {
  const { flush, inbox, dropped } = takeFree(context);
  context.inbox = inbox;
  discard(context, dropped, "interrupted");
  return flush;
}

/** Somebody is to be answered: a turn that nobody asked for ends, so that its lane is free in time. */
export function giveWay(context: ConversationContext): void {
  const { run } = context;
  if (run === null || run.ended || run.abortedBy !== null) return;
  if (run.order.heartbeat === true) stopRun(context, run, "a person spoke");
}

function reachRun(context: ConversationContext, batch: Forming, at: Millis): void {
  const { run, settings } = context;
  if (run === null || run.ended || run.abortedBy !== null) return;
  const { mode } = settings.queue;
  giveWay(context);
  if (run.order.heartbeat === true) return;
  if (mode === "interrupt") interrupt(context, run, at);
  if (steers(mode) && sameRoute(batch.route, run.order.route)) offerLine(context, run);
}

/** Each interruption may have cost a model call: in a room that thrashes the newest waits a bit. */
function interrupt(context: ConversationContext, run: Run, at: Millis): void {
  const soonest = context.interruptedAt + limits.interruptMsMin;
  if (at < soonest) {
    context.effects.push({ type: "deadline.set", id: "interrupt", at: soonest });
    return;
  }
  context.interruptedAt = at;
  stopRun(context, run, "interrupt");
}

/** The deadline "interrupt" fired: what came too soon after an interruption may interrupt now. */
export function interruptDue(context: ConversationContext, { at }: DeadlineDue): void {
  const { run, inbox, settings } = context;
  if (run === null || run.ended || run.abortedBy !== null || inbox.length === 0) return;
  if (settings.queue.mode === "interrupt") interrupt(context, run, at);
}

function stopRun(context: ConversationContext, run: Run, reason: string): void {
  context.run = { ...run, abortedBy: reason };
  context.effects.push({ type: "turn.abort", turnId: run.order.turnId, reason });
}

/**
 * Batches that will never reach the agent: each message is named, and its ack reaction taken off.
 */
export function discard(
  context: ConversationContext,
  batches: readonly Flush[],
  why: DropReason,
): void {
  for (const { messages, route } of batches) {
    for (const message of messages)
      context.effects.push({ type: "dropped", message: refOf(message), why });
    passRelay(context, messages);
    unreact(context, messages, route);
  }
}

/** Takes the ack reaction off the messages that carry one. */
export function unreact(
  context: ConversationContext,
  messages: readonly PendingMessage[],
  route: Route,
): void {
  for (const { id, ack } of messages)
    if (ack !== null) context.effects.push({ type: "unreact", message: id, emoji: ack, route });
}

/** Asks for a lane, unless other agents have to answer first: their end asks then. */
export function requestLane(context: ConversationContext): void {
  if (mustWait(context)) return;
  context.effects.push({ type: "lane.request" });
}

export function releaseLane(context: ConversationContext): void {
  context.effects.push({ type: "lane.release" });
}

/** Shows typing, unless it is shown somewhere already. */
export function startTyping(context: ConversationContext, route: Route): void {
  if (context.typing !== null) return;
  context.typing = route;
  context.effects.push({ type: "typing", on: true, route });
}

export function stopTyping(context: ConversationContext): void {
  const route = context.typing;
  if (route === null) return;
  context.typing = null;
  context.effects.push({ type: "typing", on: false, route });
}

/**
 * After a turn: typing goes on where somebody still waits, and moves to where the next one does.
 */
export function retuneTyping(context: ConversationContext): void {
  const waiting = [...context.inbox, ...context.forming];
  const { typing } = context;
  if (typing !== null && !waiting.some(({ route }) => sameRoute(route, typing)))
    stopTyping(context);
  const next = waiting.find(({ instant }) => instant);
  if (next !== undefined) startTyping(context, next.route);
}
