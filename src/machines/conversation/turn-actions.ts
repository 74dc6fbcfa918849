/**
 * Running a turn
 * ==============
 * From the turn slot to the last delivery. A turn is ordered once, with everything it needs; it may be
 * tried again if its host is lost before it said anything; and it has exactly one outcome, given
 * when its agent has ended for good.
 */
import { limits } from "../../domain/limits.ts";
import { type Millis, sameRoute } from "../../domain/message.ts";
import type { ConversationSettings } from "../../domain/settings.ts";
import { failureKindOf } from "../../domain/stream.ts";
import { chatOf, isSame, placed } from "../batching/chats.ts";
import { emptyBuffer, splitBuffer, takeBuffer } from "../batching/context-buffer.ts";
import { type Flush, refOf } from "../batching/inbox.ts";
import { addRead, editsOf, type Note, takeNotes, withEdits, withNotes } from "../batching/notes.ts";
import { countHumans, isMultiHumanGroup, isPresent } from "../engagement/humans.ts";
import type { TurnRun } from "../events/effects.ts";
import type {
  AgentEnded,
  AgentFailed,
  ConversationEvent,
  HostRecovered,
  SlotGranted,
} from "../events/events.ts";
import { passRelay, takeFree } from "./agent-relay.ts";
import type { ConversationContext, Run, RunFailure } from "./context.ts";
import { dropUnanswered } from "./delivery-actions.ts";
import { releaseSlot, removeAcks, takeFromLine } from "./queue-actions.ts";
import { failureNotice, notifiesRoom } from "./reply-addressing.ts";
import { answersOf, noteJoined, unsteered } from "./steering-actions.ts";
import type { Step } from "./step.ts";
import { startTyping, stopTyping, updateTyping } from "./typing-actions.ts";

/** How a turn's agent may end. */
export type RunEnd = AgentEnded | AgentFailed | HostRecovered;

const namesShownMax = 20;

/** Whether the chart's loop guard has tripped: the prompt says that the agent may stay silent. */
export interface Warning {
  readonly warned: boolean;
}

/** A turn slot is granted: the first in line becomes the running turn and is shown what was overheard. */
export function startTurn(step: Step, event: SlotGranted, warning?: Warning): void {
  const { context, effects } = step;
  const flush = takeFromLine(step);
  if (flush === null) {
    if (context.prompts.length > 0) startPrompted(step, event, warning);
    else startHeartbeat(step, event);
    return;
  }
  context.turnSeq += 1;
  const order = orderOf(step, event, flush, warning?.warned === true);
  const { messages: batch, holds, overtaken, past } = flush;
  const left = past === undefined ? {} : ({ left: true } as const);
  context.run = { ...newRun(order), batch, holds, overtaken, ...left };
  context.inbox = context.inbox.map((one) => (one.backlog ? one : { ...one, backlog: true }));
  context.droppedWhileBusy = [];
  if (past === undefined) {
    context.introduced = true;
    context.abortedLastRun = false;
  }
  effects.push(order);
  const { typing } = context;
  if (typing !== null && !sameRoute(typing, flush.route)) stopTyping(step);
  if (flush.instant) startTyping(step, flush.route);
}

/** Nobody waits, and a prompt is due: a turn like any other, but there is no message to answer. */
function startPrompted(step: Step, event: SlotGranted, warning?: Warning): void {
  const { context, effects } = step;
  const [prompt, ...rest] = context.prompts;
  if (prompt === undefined) return;
  context.prompts = rest;
  context.turnSeq += 1;
  const { seq, route } = prompt;
  const owed = { messages: [], route, past: undefined };
  const order = { ...orderOf(step, event, owed, warning?.warned === true), prompt: seq };
  context.run = newRun(order);
  context.droppedWhileBusy = [];
  context.introduced = true;
  context.abortedLastRun = false;
  effects.push(order);
}

/** Nobody waits, and a heartbeat is due. What was overheard stays for the next real turn. */
function startHeartbeat({ context, effects }: Step, { turnId, at }: SlotGranted): void {
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
  effects.push(order);
}

/** A run that answers nobody yet. */
function newRun(order: TurnRun): Run {
  return {
    order,
    batch: [],
    holds: false,
    overtaken: false,
    abortedBy: null,
    blocks: 0,
    offset: 0,
    open: [],
  };
}

/** What a turn's order depends on of its batch. */
type Answered = Pick<Flush, "messages" | "route"> & { readonly past?: number | undefined };

/**
 * What was overheard, for the turn of a flush. That of a session which is over leaves what came
 * after its question to the next one.
 */
function takeOverheard({ context }: Step, { messages, past, route }: Answered, at: Millis) {
  const newest = messages.at(-1)?.seq ?? 0;
  const [taken, left] =
    past === undefined ? [context.buffer, emptyBuffer] : splitBuffer(context.buffer, newest);
  context.buffer = left;
  const { maxAgeMs } = context.settings.context;
  const before = past === undefined ? Number.POSITIVE_INFINITY : newest;
  const notes = takeNotes(context.notes, before, at, maxAgeMs);
  context.notes = notes.left;
  const { shown, aged, omitted } = takeBuffer(taken, at, maxAgeMs);
  // The text of a message that is to be answered has its edit.
  const chat = chatOf(context.settings, route);
  const isAnswered = (note: Note) => messages.some(({ id }) => isSame(note, placed({ id }, chat)));
  const more = notes.shown.filter((note) => note.was === undefined || !isAnswered(note));
  return { shown, aged, omitted: omitted + notes.lost, notes: more };
}

function orderOf(step: Step, event: SlotGranted, flush: Answered, guard: boolean): TurnRun {
  const { context, effects } = step;
  const { settings, participants, membership } = context;
  const { at, turnId } = event;
  const { shown, aged, omitted, notes } = takeOverheard(step, flush, at);
  const isPast = flush.past !== undefined;
  const introduced = isPast ? context.turnSeq > 1 : context.introduced;
  const newest = flush.messages.at(-1);
  for (const { seq, id } of aged)
    effects.push({ type: "dropped", message: { seq, id }, why: "context-age" });
  const humans = countHumans({ participants, membership }, settings.engagement, at);
  const direct = flush.route.chat.kind === "direct";
  const batch = flush.messages.map(refOf);
  const overheard = shown.map(refOf);
  if (!isPast) {
    const chat = chatOf(settings, flush.route);
    const others = shown.map((entry) => placed(refOf(entry), entry.chat));
    const own = batch.map((message) => placed(message, chat));
    context.readByTurns = addRead(context.readByTurns, [...others, ...own]);
  }
  return {
    type: "turn.run",
    turnId,
    turn: context.turnSeq,
    attempt: 1,
    batch,
    context: withNotes(overheard, notes),
    omitted,
    droppedWhileBusy: context.droppedWhileBusy,
    route: flush.route,
    replyTo: newest?.id ?? "",
    guard,
    nudge: !guard && isMultiHumanGroup(direct, humans),
    introduce: !introduced && !direct,
    afterAbort: context.abortedLastRun && !isPast,
    participants: participants
      .filter((participant) => isPresent(participant, settings.engagement, at))
      .slice(-namesShownMax)
      .map(({ name }) => name),
    humans,
    ...(isPast && newest !== undefined ? { sessionAt: newest.seq } : {}),
  };
}

/** The first in line is too old to be answered. */
export function isExpired(context: ConversationContext, event: SlotGranted): boolean {
  const newest = takeFree(context).flush?.messages.at(-1);
  return newest !== undefined && event.at - newest.at > context.settings.turn.replyAgeMsMax;
}

/** The first in line has waited too long to be answered: it ends here, without a run. */
export function expireTurn(step: Step, event: SlotGranted): void {
  const { context, effects } = step;
  const flush = takeFromLine(step);
  if (flush === null) return;
  context.turnSeq += 1;
  effects.push({
    type: "outcome",
    turnId: event.turnId,
    turn: context.turnSeq,
    outcome: "expired",
    batch: flush.messages.map(refOf),
  });
  passRelay(step, flush.messages);
  removeAcks(step, flush.messages, flush.route);
  releaseSlot(step);
  updateTyping(step);
}

/** The host is gone, nothing was said, and there are tries left. */
export function mayRetry(
  context: ConversationContext,
  event: AgentFailed | HostRecovered,
): boolean {
  const { run } = context;
  if (run === null || run.abortedBy !== null || answersOf(run) > 0) return false;
  if (!isOfRun(run, event) || !isLoss(event) || isStale(context.settings, run, event)) return false;
  return run.order.attempt < limits.turnAttemptsMax;
}

/** The event names this turn, or is about whatever ran in the host that is gone. */
const isOfRun = (run: Run, event: ConversationEvent): boolean =>
  !("turnId" in event) || event.turnId === run.order.turnId;

const isLoss = (event: RunEnd): boolean =>
  event.type === "host.recovered" || (event.type === "agent.failed" && event.code === "host-lost");

/** Its question is too old to be answered: the process was away for a while. */
function isStale({ turn }: ConversationSettings, { batch }: Run, { at }: RunEnd): boolean {
  const newest = batch.at(-1);
  return newest !== undefined && at - newest.at > turn.replyAgeMsMax;
}

/** The same turn again, with what has joined it. */
export function retryTurn(step: Step, event: AgentFailed | HostRecovered): void {
  const { context, effects } = step;
  const { run, typing: route } = context;
  if (run === null) return;
  const { blocks } = run;
  // It has said nothing yet: it reads its messages as they are now.
  const edits = editsOf(context.notes, run.batch);
  context.notes = context.notes.filter((note) => !edits.includes(note));
  const batch = withEdits(run.batch, edits);
  const order = {
    ...run.order,
    attempt: run.order.attempt + 1,
    batch: batch.map(refOf),
    ...(blocks === 0 ? {} : { firstIndex: blocks }),
    ...sessionLeft(run),
  };
  context.run = { ...run, order, batch };
  context.inbox = unsteered(context.inbox);
  effects.push(order);
  if (route !== null && event.type === "host.recovered" && event.restarted === true)
    effects.push({ type: "typing", on: true, route });
}

/** The session that a turn began in, where another one has begun since. */
function sessionLeft({ left, order, batch }: Run): Pick<TurnRun, "sessionAt"> {
  const { sessionAt = batch.at(-1)?.seq ?? order.prompt } = order;
  return left === undefined || sessionAt === undefined ? {} : { sessionAt };
}

/** Why this end of the agent gives no whole answer; null: it does. */
function failureOf({ settings }: ConversationContext, run: Run, event: RunEnd): RunFailure | null {
  if (run.abortedBy !== null) return { outcome: "cancelled", reason: run.abortedBy };
  if (isLoss(event) && isStale(settings, run, event))
    return { outcome: "expired", reason: "host-lost" };
  if (event.type === "host.recovered")
    return { outcome: "failed", reason: "host-lost", cause: { kind: "crashed", message: "" } };
  if (event.type === "agent.ended") return null;
  const { code, message } = event;
  if (code === "aborted") return { outcome: "cancelled", reason: code };
  return { outcome: "failed", reason: code, cause: { kind: failureKindOf(event), message } };
}

/** The agent has ended: its turn slot is free, and the room is notified if it failed. */
export function endTurn(step: Step, event: RunEnd): void {
  const { context, effects } = step;
  const { run } = context;
  if (run === null) return;
  if (event.type === "agent.ended" && event.silent) dropUnanswered(step);
  const failure = failureOf(context, run, event);
  const answered = failure === null ? answeredInPassing(context, run) : [];
  const inPassing = answered.flatMap(({ messages }) => messages);
  noteJoined(step, run, inPassing);
  context.inbox = unsteered(context.inbox.filter((flush) => !answered.includes(flush)));
  const { turnId, route, heartbeat, prompt } = run.order;
  context.run = {
    ...run,
    batch: [...run.batch, ...inPassing],
    ...(failure === null ? {} : { failure }),
  };
  if (heartbeat === undefined && run.left === undefined)
    context.abortedLastRun = failure?.outcome === "cancelled" || failure?.reason === "host-lost";
  effects.push({ type: "run.ended", turnId, broken: failure !== null });
  const { settings } = context;
  const isAsked = heartbeat !== true && (prompt === undefined || context.run.batch.length > 0);
  const isOurs = isAsked && settings.send !== "deny";
  if (failure?.outcome === "failed" && isOurs && notifiesRoom(settings.notifyRoom, route.chat.kind))
    sendNotice(step, context.run);
  releaseSlot(step);
}

/** What the turn took in and then said something after: it needs no turn of its own. */
function answeredInPassing({ inbox }: ConversationContext, run: Run): readonly Flush[] {
  return inbox.filter(({ steeredAt }) => steeredAt !== null && answersOf(run) > steeredAt);
}

function sendNotice({ context, effects }: Step, run: Run): void {
  const { turnId, route } = run.order;
  const index = run.blocks;
  const open = [...run.open, { index, kind: "notice" as const, mentions: [] }];
  context.run = { ...run, blocks: index + 1, open };
  effects.push({
    type: "block",
    turnId,
    index,
    text: failureNotice,
    route,
    replyTo: null,
    quote: false,
    kind: "notice",
  });
}

/** What the turn came to, now that its last delivery is settled. */
function outcomeOf({ failure, refused, sent = 0, unsent = [], shown, asides = [] }: Run) {
  if (failure !== undefined) return failure;
  const isSeen = sent > 0 || (shown !== undefined && !asides.includes(shown));
  if (unsent.length > 0) {
    const reason = [...new Set(unsent.map(({ status }) => status))].join(", ");
    return { outcome: isSeen ? "partly" : "undelivered", reason } as const;
  }
  if (isSeen) return { outcome: "replied" } as const;
  return refused === true
    ? ({ outcome: "silent", reason: "send-policy" } as const)
    : ({ outcome: "silent" } as const);
}

/** The turn that has ended, if one has, is over: its one outcome is reported, nothing of it is open. */
export function closeTurn(step: Step): void {
  const { run } = step.context;
  if (run === null) return;
  const { order, batch, unsent, reported } = run;
  if (reported === undefined)
    step.effects.push({
      type: "outcome",
      turnId: order.turnId,
      turn: order.turn,
      batch: batch.map(refOf),
      ...outcomeOf(run),
      ...(unsent === undefined ? {} : { unsent }),
      ...sessionLeft(run),
    });
  removeAcks(step, batch, order.route);
  passRelay(step, batch);
  step.context.run = null;
  updateTyping(step);
}
