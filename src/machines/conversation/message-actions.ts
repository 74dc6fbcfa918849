/**
 * Hearing
 * =======
 * What a conversation does with what is said, changed and removed in its room. Each function takes
 * one event and leaves its mark on the context it is given; what should happen outside is put among
 * the effects, in order.
 */
import { limits } from "../../domain/limits.ts";
import type { Millis } from "../../domain/message.ts";
import { routeOf } from "../../domain/message.ts";
import type { BufferEntry } from "../batching/context-buffer.ts";
import {
  editBuffered,
  remember as rememberIn,
  removeBuffered,
  seedBuffer,
} from "../batching/context-buffer.ts";
import { editPending, isOvertaken, overtake, removePending } from "../batching/pending.ts";
import { noteSpeaker } from "../engagement/humans.ts";
import { grantCredits, spendCredit, sweepCredits } from "../engagement/sticky.ts";
import type { DropReason, MessageRef } from "../events/effects.ts";
import type {
  FellowSpoke,
  HistorySeeded,
  MembershipRead,
  MessageDeleted,
  MessageEdited,
  MessageReceived,
} from "../events/events.ts";
import { joinRelay, leaveRelay, mustWait, passRelay } from "./agent-relay.ts";
import type { ConversationContext } from "./context.ts";
import { latest } from "./delivery-actions.ts";
import { type Reading, readMessage } from "./message-analysis.ts";
import {
  armFlush,
  askIfFreed,
  extendQuiet,
  giveWay,
  passOn,
  setQuiet,
  startTyping,
  unreact,
} from "./queue-actions.ts";

/** Notes who spoke and publishes the decision. First action of every message. */
export function hear(context: ConversationContext, event: MessageReceived): void {
  const { verdict, participants, isNew, membership, counters } = readMessage(context, event);
  context.participants = participants;
  context.membership = membership;
  context.counters = counters;
  context.ledger = sweepCredits(context.ledger, event.at);
  context.effects.push({
    type: "decided",
    seq: event.seq,
    messageId: event.message.id,
    ...verdict,
  });
  if (isNew && event.message.chat.kind !== "direct")
    context.effects.push({ type: "membership.refresh", route: routeOf(event.message) });
}

/** Observed: kept for awareness. Last action of an observed message. */
export function remember(context: ConversationContext, event: MessageReceived): void {
  keep(context, event);
  leaveRelay(context, event);
  context.reading = null;
}

/** Another agent of ours spoke: kept like what was observed, but nobody here has spoken to us. */
export function overhear(context: ConversationContext, event: FellowSpoke): void {
  keep(context, event);
  const { id } = event.message;
  context.fellowMessages = latest(context.fellowMessages, [id], limits.ownMessagesCountMax);
}

function keep(context: ConversationContext, event: MessageReceived | FellowSpoke): void {
  const { at, seq, message } = event;
  const entry: BufferEntry = { seq, id: message.id, at, author: message.author.id, self: false };
  const { buffer, dropped } = rememberIn(context.buffer, entry, context.settings.context.size);
  context.buffer = buffer;
  for (const { seq, id } of dropped) drop(context, { seq, id }, "context-size");
  noteOvertaken(context, event);
}

/** Engaged: a turn is owed. Last action of an engaged message. */
export function takeUp(context: ConversationContext, event: MessageReceived): void {
  const reading = readMessage(context, event);
  const { gathered, instant } = reading;
  context.reading = null;
  if (gathered === null) return;
  useCredit(context, reading);
  joinRelay(context, event);
  giveWay(context);
  const route = routeOf(event.message);
  const emoji = context.settings.ackReaction;
  if (emoji !== null)
    context.effects.push({ type: "react", message: event.message.id, emoji, route });
  if (instant) startTyping(context, route);
  context.forming = gathered.forming;
  passOn(context, gathered.closed, event.at);
  extendQuiet(context, event.at);
  armFlush(context);
  noteOvertaken(context, event);
}

function useCredit(context: ConversationContext, { event, verdict }: Reading): void {
  const { id } = event.message.author;
  const { windowMs } = context.settings.engagement.stickiness;
  if (verdict.credit === "consumed") context.ledger = spendCredit(context.ledger, id);
  if (verdict.credit === "slid")
    context.ledger = grantCredits(context.ledger, [id], event.at, windowMs);
}

function noteOvertaken(
  context: ConversationContext,
  { message }: Pick<MessageReceived, "message">,
): void {
  const { forming, inbox, run } = context;
  if (run === null && forming.length === 0 && inbox.length === 0) return;
  const route = routeOf(message);
  const author = message.author.id;
  context.forming = overtake(forming, route, author);
  context.inbox = overtake(inbox, route, author);
  if (run === null) return;
  const { batch: messages, holds } = run;
  const asBatch = { route: run.order.route, messages, holds, overtaken: run.overtaken };
  if (isOvertaken(asBatch, route, author)) context.run = { ...run, overtaken: true };
}

/** Rewrites what is pending or remembered. What a turn has already taken stays as it was. */
export function applyEdit(context: ConversationContext, { seq, edit }: MessageEdited): void {
  const route = routeOf(edit);
  context.buffer = editBuffered(context.buffer, edit.id, seq);
  context.forming = editPending(context.forming, route, edit.id, seq);
  context.inbox = editPending(context.inbox, route, edit.id, seq);
}

/** Forgets a message nobody has answered yet. What a turn has already taken stays as it was. */
export function applyDeletion(context: ConversationContext, { deletion }: MessageDeleted): void {
  const remembered = context.buffer.entries.find(({ id }) => id === deletion.id);
  if (remembered !== undefined) {
    context.buffer = removeBuffered(context.buffer, deletion.id);
    drop(context, { seq: remembered.seq, id: remembered.id }, "deleted");
  }
  const route = routeOf(deletion);
  const forming = removePending(context.forming, route, deletion.id);
  const inbox = removePending(context.inbox, route, deletion.id);
  const removed = forming.removed ?? inbox.removed;
  if (removed === null) return;
  drop(context, { seq: removed.seq, id: removed.id }, "deleted");
  const held = mustWait(context);
  passRelay(context, [removed]);
  unreact(context, [removed], route);
  context.forming = forming.batches;
  context.inbox = inbox.batches;
  askIfFreed(context, held);
  armFlush(context);
  if (context.inbox.length === 0) setQuiet(context, null);
}

/**
 * Cold start. History is remembered and tells who is here; it decides nothing, and it comes once.
 */
export function seedHistory(context: ConversationContext, event: HistorySeeded): void {
  if (context.seeded) return;
  context.seeded = true;
  const days = context.settings.engagement.participantDays ?? 7;
  const entries: BufferEntry[] = [];
  const spoken: { message: HistorySeeded["messages"][number]; at: Millis }[] = [];
  for (const message of event.messages) {
    const { id, author } = message;
    const at = Math.min(event.at, message.sentAt ?? event.at);
    entries.push({ seq: event.seq, id, at, author: author.id, self: author.isSelf });
    if (!author.isSelf) spoken.push({ message, at });
  }
  context.buffer = seedBuffer(context.buffer, entries);
  const since = context.participants;
  for (const { message, at } of spoken)
    context.participants = noteSpeaker(context.participants, message.author, at, days).participants;
  for (const one of since)
    context.participants = noteSpeaker(
      context.participants,
      one,
      one.lastSeenAt,
      days,
    ).participants;
}

export function noteMembership(context: ConversationContext, event: MembershipRead): void {
  context.membership = event.membership;
}

function drop(context: ConversationContext, message: MessageRef, why: DropReason): void {
  context.effects.push({ type: "dropped", message, why });
}
