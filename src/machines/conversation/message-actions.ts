/**
 * What is said, changed and removed
 * =================================
 * What a conversation does with the messages of its room. Each function takes one event and leaves
 * its mark on the step it is given; what is to happen outside is put among the effects, in order.
 */
import { limits } from "../../domain/limits.ts";
import { type Millis, routeOf } from "../../domain/message.ts";
import { chatOf, idsIn, isSame, nameIn, namesIn, placed } from "../batching/chats.ts";
import type { AskedMessage, BufferEntry } from "../batching/context-buffer.ts";
import {
  editBuffered,
  remember as rememberIn,
  removeBuffered,
  seedBuffer,
} from "../batching/context-buffer.ts";
import { addNote, removeNotes } from "../batching/notes.ts";
import { editPending, isOvertaken, overtake, removePending } from "../batching/pending.ts";
import { callRules } from "../engagement/engagement.ts";
import { hearLine, keepCredited } from "../engagement/floor.ts";
import { noteSpeaker, participantDaysOf } from "../engagement/humans.ts";
import { grantCredits, removeExpiredCredits, spendCredit } from "../engagement/sticky.ts";
import type { DropReason, MessageRef } from "../events/effects.ts";
import type {
  HistorySeeded,
  MembershipRead,
  MessageDeleted,
  MessageEdited,
  MessageReacted,
  MessageReceived,
  SiblingSpoke,
} from "../events/events.ts";
import { joinRelay, leaveRelay, mustWait, passRelay } from "./agent-relay.ts";
import { judgesFloor, latest } from "./delivery-actions.ts";
import { askedOf, askJudge } from "./judge-actions.ts";
import type { AnalyzedMessage } from "./message-analysis.ts";
import {
  type AtWork,
  armFlush,
  extendQuiet,
  firstClose,
  queueClosed,
  removeAcks,
  requestIfFreed,
  setQuiet,
} from "./queue-actions.ts";
import { keepInTurn, stopHeartbeat } from "./steering-actions.ts";
import type { Step } from "./step.ts";
import { startTyping, updateTyping } from "./typing-actions.ts";

/** Notes who spoke and publishes the decision. First action of every message. */
export function recordDecision({ context, effects }: Step, event: AnalyzedMessage): void {
  const { at, seq, message, analysis } = event;
  context.participants = analysis.participants;
  context.membership = analysis.membership;
  context.counters = analysis.counters;
  context.ledger = removeExpiredCredits(context.ledger, at);
  const { decision, rule, credit, creditExpiresAt } = analysis.verdict;
  const decided = { type: "decided", seq, messageId: message.id, decision, rule, credit } as const;
  effects.push(creditExpiresAt === undefined ? decided : { ...decided, creditExpiresAt });
  if (message.chat.kind === "direct") return;
  noteFloor(context, event);
  const name = nameIn(chatOf(context.settings, message), message.id);
  context.heardMessages = withNewest(context.heardMessages, name);
  if (analysis.isNew) effects.push({ type: "membership.refresh", route: routeOf(message) });
}

/** The list with one more, in one copy: every line of every room makes it. */
function withNewest(list: readonly string[], id: string): readonly string[] {
  const kept = Math.min(list.length, limits.heardMessagesCountMax - 1);
  const first = list.length - kept;
  const next = new Array<string>(kept + 1);
  for (let index = 0; index < kept; index += 1) next[index] = list[first + index] as string;
  next[kept] = id;
  return next;
}

/** Who addressed which author, where the floor is judged. */
function noteFloor(context: Step["context"], { at, message, analysis }: AnalyzedMessage): void {
  if (!judgesFloor(context)) return;
  const { verdict } = analysis;
  const { mentions, replyTo, author } = message;
  const addresses = mentions.filter(({ isSelf }) => isSelf !== true).map(({ id }) => id);
  const parent = replyTo?.authorIsSelf === true ? undefined : replyTo?.authorId;
  if (parent !== undefined && !addresses.includes(parent)) addresses.push(parent);
  const engaged = verdict.decision === "engage";
  const calls = callRules.includes(verdict.rule);
  const line = { author: author.id, at, addresses, engaged, calls };
  context.floors = hearLine(keepCredited(context.floors, context.ledger), line);
}

/** Observed: kept for awareness. The judge is asked where nothing else has decided. */
export function bufferMessage(step: Step, event: AnalyzedMessage): void {
  const isAsked = event.analysis.verdict.rule === "judge";
  remember(step, event, isAsked ? askedOf(step.context.settings, event.message) : undefined);
  leaveRelay(step, event);
  if (isAsked) askJudge(step, routeOf(event.message));
}

/** Another agent of ours spoke: kept like what was observed, but nobody here has spoken to us. */
export function bufferSibling(step: Step, event: SiblingSpoke): void {
  remember(step, event);
  const { context } = step;
  const { message } = event;
  const name = nameIn(chatOf(context.settings, message), message.id);
  context.siblingMessages = latest(context.siblingMessages, [name], limits.ownMessagesCountMax);
}

function remember(
  step: Step,
  event: MessageReceived | SiblingSpoke,
  asked?: AskedMessage | undefined,
): void {
  const { context } = step;
  const { at, seq, message } = event;
  const heard = { seq, id: message.id, at, author: message.author.id, self: false };
  const known = asked === undefined ? heard : { ...heard, asked };
  const entry: BufferEntry = placed(known, chatOf(context.settings, message));
  const { buffer, dropped } = rememberIn(context.buffer, entry, context.settings.context.size);
  context.buffer = buffer;
  for (const { seq, id } of dropped) drop(step, { seq, id }, "context-size");
  noteOvertaken(step, event);
}

/** Engaged: a turn is due. */
export function engage(step: Step, event: AnalyzedMessage, work?: AtWork): void {
  const { context, effects } = step;
  const { gathered, instant } = event.analysis;
  if (gathered === null) return;
  useCredit(step, event);
  joinRelay(step, event);
  if (work?.running === true) stopHeartbeat(step);
  const route = routeOf(event.message);
  const emoji = context.settings.ackReaction;
  if (emoji !== null) effects.push({ type: "react", message: event.message.id, emoji, route });
  if (instant) startTyping(step, route);
  const setFor = firstClose(context);
  context.forming = gathered.forming;
  queueClosed(step, gathered.closed, event.at, work);
  extendQuiet(step, event.at);
  armFlush(step, setFor);
  noteOvertaken(step, event);
}

function useCredit({ context }: Step, { at, message, analysis }: AnalyzedMessage): void {
  const { id } = message.author;
  const { credit, rule } = analysis.verdict;
  const { windowMs } = context.settings.engagement.stickiness;
  if (credit === "consumed") context.ledger = spendCredit(context.ledger, id);
  // Where the floor is judged, who calls us has it from then on, and not only from our answer.
  const calls = message.chat.kind !== "direct" && callRules.includes(rule) && judgesFloor(context);
  if (credit === "slid" || calls) context.ledger = grantCredits(context.ledger, [id], at, windowMs);
}

function noteOvertaken({ context }: Step, { message }: Pick<MessageReceived, "message">): void {
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

/** Rewrites what is pending or remembered. What a turn has already read is noted for the next one. */
export function applyEdit(step: Step, event: MessageEdited): void {
  const { context } = step;
  const { seq, edit } = event;
  const route = routeOf(edit);
  const { buffer, forming, inbox } = context;
  const edited = placed({ id: edit.id }, chatOf(context.settings, edit));
  context.buffer = editBuffered(buffer, edited, seq);
  context.forming = editPending(forming, route, edit.id, seq);
  context.inbox = editPending(inbox, route, edit.id, seq);
  noteEdit(step, event);
}

function noteEdit({ context }: Step, { at, seq, edit }: MessageEdited): void {
  const edited = placed({ id: edit.id }, chatOf(context.settings, edit));
  const read = context.readByTurns.find((message) => isSame(message, edited));
  if (read === undefined) return;
  const { id: _, chat: __, ...was } = read;
  context.readByTurns = context.readByTurns.map((message) =>
    message === read ? { ...message, editSeq: seq } : message,
  );
  const { size } = context.settings.context;
  const { notes, lost } = addNote(context.notes, { seq, at, was, ...edited }, size);
  context.notes = notes;
  context.buffer = { ...context.buffer, dropped: context.buffer.dropped + lost };
}

/** Somebody reacted to a message of ours: shown to the next turn, and nothing else. */
export function noteReaction({ context }: Step, { at, seq, reaction }: MessageReacted): void {
  const { id, ofSelf, added, removed } = reaction;
  const { ownMessages, siblingMessages, settings } = context;
  const chat = chatOf(settings, reaction);
  const isIn = (list: readonly string[]) => idsIn(list, chat).includes(id);
  const isOurs = ofSelf === true ? !isIn(siblingMessages) : isIn(ownMessages);
  if (!isOurs || added.length + removed.length === 0) return;
  context.notes = addNote(
    context.notes,
    placed({ seq, id, at }, chat),
    settings.context.size,
  ).notes;
}

/** Removes a deleted message that no turn has read. One that a turn has read stays a part of that turn. */
export function applyDeletion(step: Step, { deletion }: MessageDeleted): void {
  const { context } = step;
  const deleted = placed({ id: deletion.id }, chatOf(context.settings, deletion));
  const remembered = context.buffer.entries.find((entry) => isSame(entry, deleted));
  if (remembered !== undefined) {
    context.buffer = removeBuffered(context.buffer, deleted);
    drop(step, { seq: remembered.seq, id: remembered.id }, "deleted");
  }
  context.notes = removeNotes(context.notes, deleted);
  const route = routeOf(deletion);
  const forming = removePending(context.forming, route, deletion.id);
  const inbox = removePending(context.inbox, route, deletion.id);
  const removed = forming.removed ?? inbox.removed;
  if (removed === null) return;
  if ((inbox.from?.steeredAt ?? null) !== null) {
    context.inbox = inbox.batches;
    keepInTurn(step, removed);
    return;
  }
  drop(step, { seq: removed.seq, id: removed.id }, "deleted");
  const held = mustWait(context);
  passRelay(step, [removed]);
  removeAcks(step, [removed], route);
  const setFor = firstClose(context);
  context.forming = forming.batches;
  context.inbox = inbox.batches;
  requestIfFreed(step, held);
  armFlush(step, setFor);
  if (context.inbox.length === 0) setQuiet(step, null);
  updateTyping(step);
}

/**
 * Cold start. History is remembered and shows who is here; it decides nothing, and it comes once.
 */
export function seedHistory({ context }: Step, event: HistorySeeded): void {
  if (context.seeded) return;
  context.seeded = true;
  const days = participantDaysOf(context.settings.engagement);
  const heard = heardMeanwhile(context);
  const entries: BufferEntry[] = [];
  const spoken: { message: HistorySeeded["messages"][number]; at: Millis }[] = [];
  for (const message of event.messages) {
    const { id, author } = message;
    const at = Math.min(event.at, message.sentAt ?? event.at);
    const chat = chatOf(context.settings, message);
    if (heard(id, chat)) continue;
    const entry = { seq: event.seq, id, at, author: author.id, self: author.isSelf };
    entries.push(placed(entry, chat));
    if (!author.isSelf) spoken.push({ message, at });
  }
  context.buffer = seedBuffer(context.buffer, entries);
  const idsOf = (self: boolean) =>
    entries.flatMap((entry) => (entry.self === self ? nameIn(entry.chat, entry.id) : []));
  // What came meanwhile is newer than the history.
  const { ownMessages, heardMessages } = context;
  context.ownMessages = latest(idsOf(true), ownMessages, limits.ownMessagesCountMax);
  context.heardMessages = latest(idsOf(false), heardMessages, limits.heardMessagesCountMax);
  const since = context.participants;
  for (const { message, at } of spoken)
    context.participants = noteSpeaker(context.participants, message.author, at, days).participants;
  for (const person of since) {
    const { lastSeenAt } = person;
    context.participants = noteSpeaker(context.participants, person, lastSeenAt, days).participants;
  }
}

/** Whether a message came before the history did. */
function heardMeanwhile(context: Step["context"]) {
  const { settings, ownMessages, heardMessages, siblingMessages, forming, inbox, run } = context;
  const running = run === null ? [] : [{ messages: run.batch, route: run.order.route }];
  const pending = [...inbox, ...forming, ...running].flatMap(({ messages, route }) => {
    const ids = messages.map(({ id }) => id);
    return namesIn(chatOf(settings, route), ids);
  });
  const all = [...ownMessages, ...heardMessages, ...siblingMessages, ...pending];
  return (id: string, chat: string | undefined) => idsIn(all, chat).includes(id);
}

export function noteMembership({ context }: Step, event: MembershipRead): void {
  context.membership = event.membership;
}

function drop({ effects }: Step, message: MessageRef, why: DropReason): void {
  effects.push({ type: "dropped", message, why });
}
