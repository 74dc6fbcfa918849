/**
 * Running a turn
 * ==============
 * From the lane to the last delivery. A turn is ordered once, with everything it needs; it may be
 * tried again if its host is lost before it said anything; it has exactly one outcome, given when
 * the running state is left; and what it may still do to the room is named by its lock.
 */
import { limits } from "../../domain/limits.ts";
import type { Millis, Route } from "../../domain/message.ts";
import { sameRoute } from "../../domain/message.ts";
import type { ConversationSettings } from "../../domain/settings.ts";
import { emptyBuffer, takeBuffer } from "../batching/context-buffer.ts";
import { type Flush, refOf } from "../batching/inbox.ts";
import { release } from "../batching/pending.ts";
import { countHumans, isMultiHumanGroup } from "../engagement/humans.ts";
import type { Block, Outcome, TurnRun } from "../events/effects.ts";
import type {
  AgentEnded,
  AgentFailed,
  AgentSpoke,
  AgentText,
  AgentTool,
  HostRecovered,
  LaneGranted,
  RunAborted,
} from "../events/events.ts";
import { passRelay } from "./agent-relay.ts";
import type { ConversationContext, Run, TurnLock } from "./context.ts";
import {
  openQuiet,
  releaseLane,
  retuneTyping,
  startTyping,
  stopTyping,
  takeFromLine,
  unreact,
} from "./queue-actions.ts";
import { addressBlock, failureNotice, tellsRoom } from "./reply-addressing.ts";
import { answersOf, join, unsteered } from "./steering-actions.ts";

/** How a turn's agent may end. */
export type RunEnd = AgentEnded | AgentFailed | HostRecovered;

const namesShownMax = 20;

/** A lane is ours: the first in line becomes the running turn and is shown what was overheard. */
export function startTurn(context: ConversationContext, event: LaneGranted): void {
  const flush = takeFromLine(context);
  if (flush === null) {
    startHeartbeat(context, event);
    return;
  }
  context.turnSeq += 1;
  const order = orderOf(context, event, flush);
  const { messages: batch, holds, overtaken } = flush;
  context.run = { ...newRun(order), batch, holds, overtaken };
  context.inbox = context.inbox.map((one) => (one.backlog ? one : { ...one, backlog: true }));
  context.droppedWhileBusy = [];
  context.introduced = true;
  context.abortedLastRun = false;
  context.effects.push(order);
  const { typing } = context;
  if (typing !== null && !sameRoute(typing, flush.route)) stopTyping(context);
  if (flush.instant) startTyping(context, flush.route);
}

/** Nobody waits, and a heartbeat is owed. What was overheard stays for the next real turn. */
function startHeartbeat(context: ConversationContext, { turnId, at }: LaneGranted): void {
  const { heartbeat: route, participants, membership, settings } = context;
  if (route === null) return;
  context.heartbeat = null;
  context.turnSeq += 1;
  const order: TurnRun = {
    type: "turn.run",
    turnId,
    turn: context.turnSeq,
    attempt: 1,
    batch: [],
    context: [],
    omitted: 0,
    droppedWhileBusy: [],
    route,
    replyTo: "",
    guard: false,
    nudge: false,
    introduce: false,
    afterAbort: false,
    participants: [],
    humans: countHumans({ participants, membership }, settings.engagement, at),
    heartbeat: true,
  };
  context.run = newRun(order);
  context.effects.push(order);
}

/** A run that answers nobody yet. */
function newRun(order: TurnRun): Run {
  return {
    order,
    batch: [],
    holds: false,
    overtaken: false,
    lock: "open",
    ended: false,
    abortedBy: null,
    blocks: 0,
    offset: 0,
    open: [],
  };
}

/** The first in line has waited too long to be answered: it ends here, without a run. */
export function expireTurn(context: ConversationContext, event: LaneGranted): void {
  const flush = takeFromLine(context);
  if (flush === null) return;
  context.turnSeq += 1;
  context.effects.push({
    type: "outcome",
    turnId: event.turnId,
    turn: context.turnSeq,
    outcome: "expired",
    batch: flush.messages.map(refOf),
  });
  passRelay(context, flush.messages);
  unreact(context, flush.messages, flush.route);
  releaseLane(context);
  retuneTyping(context);
}

function orderOf(context: ConversationContext, event: LaneGranted, flush: Flush): TurnRun {
  const { settings, participants, membership } = context;
  const { at, turnId } = event;
  const { shown, aged, omitted } = takeBuffer(context.buffer, at, settings.context.maxAgeMs);
  context.buffer = emptyBuffer;
  for (const { seq, id } of aged)
    context.effects.push({ type: "dropped", message: { seq, id }, why: "context-age" });
  const humans = countHumans({ participants, membership }, settings.engagement, at);
  const direct = flush.route.chat.kind === "direct";
  const guard = context.guard !== "clear";
  return {
    type: "turn.run",
    turnId,
    turn: context.turnSeq,
    attempt: 1,
    batch: flush.messages.map(refOf),
    context: shown.map(({ seq, id, editSeq }) =>
      editSeq === undefined ? { seq, id } : { seq, id, editSeq },
    ),
    omitted,
    droppedWhileBusy: context.droppedWhileBusy,
    route: flush.route,
    replyTo: flush.messages.at(-1)?.id ?? "",
    guard,
    nudge: !guard && isMultiHumanGroup(direct, humans),
    introduce: !context.introduced && !direct,
    afterAbort: context.abortedLastRun,
    participants: participants.slice(-namesShownMax).map(({ name }) => name),
    humans,
  };
}

/** The host is gone and nothing was said: the same turn again, with what has joined it. */
export function retryRun(context: ConversationContext, event: AgentFailed | HostRecovered): void {
  const { run } = context;
  if (run === null) return;
  const { blocks } = run;
  const order = {
    ...run.order,
    attempt: run.order.attempt + 1,
    batch: run.batch.map(refOf),
    ...(blocks === 0 ? {} : { firstIndex: blocks }),
  };
  context.run = { ...run, order };
  context.inbox = unsteered(context.inbox);
  context.effects.push(order);
  const { typing: route } = context;
  if (route !== null && event.type === "host.recovered" && event.restarted === true)
    context.effects.push({ type: "typing", on: true, route });
}

/** Whether a turn that lost its host gets another try. */
export function mayRetry(
  context: ConversationContext,
  event: AgentFailed | HostRecovered,
): boolean {
  const { run } = context;
  if (run === null || run.abortedBy !== null || answersOf(run) > 0) return false;
  if (!isLoss(event) || isStale(context, run, event)) return false;
  return run.order.attempt < limits.turnAttemptsMax;
}

const isLoss = (event: RunEnd): boolean =>
  event.type === "host.recovered" || (event.type === "agent.failed" && event.code === "host-lost");

/** Its question is too old to be answered: the process was away for a while. */
function isStale({ settings }: ConversationContext, { batch }: Run, { at }: RunEnd): boolean {
  const newest = batch.at(-1);
  return newest !== undefined && at - newest.at > settings.turn.replyAgeMsMax;
}

/** The running state's substate, for deliveries that drain after it was left. */
export function lockRun(context: ConversationContext, lock: TurnLock): void {
  const { run } = context;
  if (run === null || run.lock === lock) return;
  context.run = { ...run, lock };
  if (lock !== "skipped") return;
  stopTyping(context);
  retuneTyping(context);
}

/** A block of the answer goes to delivery. One that covers what was sent before is a double. */
export function sendBlock(context: ConversationContext, event: AgentText): void {
  const { run, settings } = context;
  if (run === null || (run.abortedBy !== null && !completesShown(run, event))) return;
  const { index, from, to, text, turnId, draft, aside, mentions } = event;
  const isSaid = draft === undefined && aside === undefined;
  if (index < run.blocks || index >= limits.blocksPerTurnMax) return;
  if (isSaid && from < run.offset) return;
  if (isSaid) context.effects.push({ type: "transcript", turnId, role: "assistant", text });
  const refused = settings.send === "deny";
  const kind = aside === undefined ? "reply" : "aside";
  const opened = { index, kind, mentions, ...(draft === undefined ? {} : { draft }) } as const;
  const asides = [...(run.asides ?? [])];
  // A number that was left out is no answer either.
  for (let missing = run.blocks; missing < index; missing += 1) asides.push(missing);
  if (refused || aside !== undefined) asides.push(index);
  context.run = {
    ...run,
    blocks: index + 1,
    offset: isSaid ? to : run.offset,
    open: refused ? run.open : [...run.open, opened],
    ...(refused && isSaid ? { refused } : {}),
    ...(asides.length > 0 ? { asides } : {}),
  };
  if (!refused) context.effects.push(blockOf(run, event, settings));
}

/**
 * What a room has seen growing is complete with what was said until the abort: nobody can unsee it,
 * so the session has to know it.
 */
function completesShown({ shown }: Run, { edits, aside }: AgentText): boolean {
  return edits !== undefined && aside === undefined && edits === shown;
}

function blockOf(run: Run, event: AgentText, { replyTo: mode }: ConversationSettings): Block {
  const { turnId, index, text, draft, edits, aside, prefix = "" } = event;
  const { route, replyTo, heartbeat } = run.order;
  const { reply, quote } = addressBlock(mode, route.chat.kind, {
    index: placeInAnswer(run, event),
    several: run.batch.length > 1,
    overtaken: run.overtaken,
  });
  // What an answer will replace stands where the answer would; else only answers are replies.
  const isAddressed = (aside === undefined || draft === true) && aside !== "status";
  return {
    type: "block",
    turnId,
    index,
    text: prefix + text,
    route,
    replyTo: reply && isAddressed && heartbeat === undefined ? replyTo : null,
    quote: quote && isAddressed,
    kind: "reply",
    ...(draft === undefined ? {} : { draft }),
    ...(edits === undefined ? {} : { edits }),
    ...(aside === undefined ? {} : { aside }),
  };
}

/**
 * Which block of the answer it is, from 0. What completes a draft is addressed like the draft, in
 * case that one never arrived.
 */
function placeInAnswer(run: Run, { edits }: AgentText): number {
  const completes = edits !== undefined && !run.asides?.includes(edits);
  return answersOf(run) - (completes ? 1 : 0);
}

/**
 * The agent reacts to the message it answers. Its word takes the place of the ack: a platform may
 * show one reaction of ours only, and taking the ack off later would take that one.
 */
export function reactAsAsked(context: ConversationContext, event: AgentTool): void {
  const { run } = context;
  const { emoji } = event.input;
  if (event.name !== "channel_react" || typeof emoji !== "string") return;
  if (run === null || run.abortedBy !== null || run.lock === "skipped") return;
  const { route, replyTo, heartbeat } = run.order;
  if (heartbeat === true) return;
  const acked = run.batch.filter(({ id, ack }) => id === replyTo && ack !== null);
  const others = acked.filter(({ ack }) => ack !== emoji);
  unreact(context, others, route);
  context.effects.push({ type: "react", message: replyTo, emoji, route });
  const batch = run.batch.map((one) => (acked.includes(one) ? { ...one, ack: null } : one));
  context.run = { ...run, batch };
}

/** First sign of an answer: typing, where it waited for one. */
export function showTyping(context: ConversationContext, event: AgentSpoke): void {
  const { run, settings } = context;
  const { mode } = settings.typing;
  if (run === null || run.lock === "skipped" || mode === "never" || mode === "instant") return;
  // Nobody waits for a heartbeat, and most of them end without a word.
  if (run.order.heartbeat === true) return;
  if (event.what === "reasoning" && mode !== "thinking") return;
  startTyping(context, run.order.route);
}

/** Asks for the running turn's end; its outcome comes when the agent has ended. */
export function abortRun(context: ConversationContext, event: RunAborted): void {
  const { run } = context;
  if (run === null || run.abortedBy !== null) return;
  context.run = { ...run, abortedBy: event.by };
  context.effects.push({ type: "turn.abort", turnId: run.order.turnId, reason: event.by });
}

/** Backs off: no credit is left, none is granted by this turn, nobody is held. */
export function backOff(context: ConversationContext): void {
  const { run } = context;
  context.ledger = {};
  context.disengagedTurn = context.turnSeq;
  context.forming = release(context.forming);
  context.inbox = release(context.inbox);
  if (run?.holds) context.run = { ...run, holds: false };
}

/** How this end of the agent counts. */
function outcomeOf(
  context: ConversationContext,
  run: Run,
  event: RunEnd,
): { outcome: Outcome; reason?: string } {
  if (run.abortedBy !== null) return { outcome: "cancelled", reason: run.abortedBy };
  if (isLoss(event) && isStale(context, run, event))
    return { outcome: "expired", reason: "host-lost" };
  if (event.type === "host.recovered") return { outcome: "failed", reason: "host-lost" };
  if (event.type === "agent.failed") {
    const { code } = event;
    return { outcome: code === "aborted" ? "cancelled" : "failed", reason: code };
  }
  if (run.lock !== "skipped" && answersOf(run) > 0) return { outcome: "replied" };
  return run.refused === true
    ? { outcome: "silent", reason: "send-policy" }
    : { outcome: "silent" };
}

/** Whether this end of the agent puts a line of our own into delivery. */
export function willTellRoom(context: ConversationContext, event: RunEnd): boolean {
  const { run, settings } = context;
  if (run === null || outcomeOf(context, run, event).outcome !== "failed") return false;
  if (run.order.heartbeat === true || settings.send === "deny") return false;
  return tellsRoom(settings.notifyRoom, run.order.route.chat.kind);
}

/**
 * What is left in line when this turn's agent ends: without what the turn has answered in passing.
 */
export function inboxAfterRun(context: ConversationContext, event: RunEnd): readonly Flush[] {
  const { run, inbox } = context;
  if (run === null || outcomeOf(context, run, event).outcome !== "replied") return inbox;
  return inbox.filter(({ steeredAt }) => steeredAt === null || answersOf(run) <= steeredAt);
}

/**
 * The running state was left: the turn's one outcome, its lane, and the room's notice if it failed.
 */
export function endRun(context: ConversationContext, event: RunEnd): void {
  const { run } = context;
  if (run === null) return;
  const { outcome, reason } = outcomeOf(context, run, event);
  const inbox = inboxAfterRun(context, event);
  const answered = context.inbox.filter((flush) => !inbox.includes(flush));
  const inPassing = answered.flatMap(({ messages }) => messages);
  const batch = [...run.batch, ...inPassing];
  join(context, run, inPassing);
  const notifies = willTellRoom(context, event);
  context.inbox = unsteered(inbox);
  const { turnId, turn, route } = run.order;
  context.run = { ...run, batch, ended: true };
  if (run.order.heartbeat === undefined && run.left === undefined)
    context.abortedLastRun = outcome === "cancelled" || reason === "host-lost";
  context.effects.push({
    type: "outcome",
    turnId,
    turn,
    outcome,
    batch: batch.map(refOf),
    ...(reason === undefined ? {} : { reason }),
  });
  if (notifies) giveNotice(context, run, route);
  releaseLane(context);
}

function giveNotice(context: ConversationContext, run: Run, route: Route): void {
  const index = run.blocks;
  if (context.run === null) return;
  const open = [...run.open, { index, kind: "notice" as const, mentions: [] }];
  context.run = { ...context.run, blocks: index + 1, open };
  context.effects.push({
    type: "block",
    turnId: run.order.turnId,
    index,
    text: failureNotice,
    route,
    replyTo: null,
    quote: false,
    kind: "notice",
  });
}

/** Nothing of the turn is open any more: acks off, and the line behind it gets its quiet window. */
export function closeTurn(context: ConversationContext, { at }: { readonly at: Millis }): void {
  const { run } = context;
  if (run === null) return;
  unreact(context, run.batch, run.order.route);
  passRelay(context, run.batch);
  // While it is still known which turn this was.
  openQuiet(context, at);
  context.run = null;
  retuneTyping(context);
}
