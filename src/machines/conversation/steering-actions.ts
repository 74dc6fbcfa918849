/**
 * Reaching the running agent
 * ==========================
 * What arrives while the agent is at work may be passed to it, or may stop it. Steering offers in the
 * order of the line, with everything before it that the agent has not taken yet, so a message that
 * came when the agent could not listen is never overtaken by a later one. Only what was said in the
 * turn's own place is offered: its answer goes nowhere else. A turn that nobody asked for is stopped
 * for anybody who is to be answered.
 *
 * All of this is for the running state only: once the agent has ended nothing reaches it.
 */
import { limits } from "../../domain/limits.ts";
import { type Millis, sameRoute } from "../../domain/message.ts";
import { chatOf, placed } from "../batching/chats.ts";
import { type Flush, type Forming, type PendingMessage, refOf } from "../batching/inbox.ts";
import {
  addNote,
  addRead,
  editsOf,
  noteRef,
  type ReadMessage,
  withEdits,
  withNotes,
} from "../batching/notes.ts";
import type { AgentSteered, DeadlineDue, RunAborted } from "../events/events.ts";
import { freeLine } from "./agent-relay.ts";
import type { Run } from "./context.ts";
import { askedBy, reaches, samePerson } from "./same-person.ts";
import type { Step } from "./step.ts";

/** Blocks handed to delivery that are an answer. */
export const answersOf = ({ blocks, asides = [] }: Run): number => blocks - asides.length;

const steers = (mode: string) => mode === "steer" || mode === "steer-backlog";
/** Its author said so. */
const asksToSteer = ({ messages }: Pick<Flush, "messages">) =>
  messages.some(({ steer }) => steer === true);

/** A batch has joined the line: it is offered to the running agent, or stops it. */
export function reachAgent(step: Step, batch: Forming, at: Millis): void {
  stopHeartbeat(step);
  const { run, settings } = step.context;
  if (run === null || run.abortedBy !== null) return;
  const { mode } = settings.queue;
  const asks = asksToSteer(batch);
  if (mode === "interrupt" && !asks && samePerson(askedBy(run), batch)) interrupt(step, run, at);
  if ((steers(mode) || asks) && sameRoute(batch.route, run.order.route)) offer(step, run);
}

/** A turn that nobody asked for ends for a person who is to be answered, so its turn slot is free. */
export function stopHeartbeat(step: Step): void {
  const { run } = step.context;
  if (run?.order.heartbeat === true && run.abortedBy === null) stop(step, run, "a person spoke");
}

/** Other agents have ended: the running one may take in what waited for them. */
export function offerLine(step: Step): void {
  const { run } = step.context;
  if (run !== null && run.abortedBy === null) offer(step, run);
}

/**
 * Offers what the turn's own people have waiting in its place, and how they changed what it answers; in
 * modes that do not steer, only what its author wants to be offered (`/steer`).
 * Anybody else gets an answer of their own. The runner knows what its agent has taken before.
 */
function offer({ context, effects }: Step, run: Run): void {
  if (run.left === true) return;
  const { turnId, route } = run.order;
  const asked = askedBy(run);
  const all = steers(context.settings.queue.mode);
  const line = freeLine(context.inbox, context.relays).filter(
    (flush) =>
      flush.steeredAt === null &&
      (all || asksToSteer(flush)) &&
      sameRoute(flush.route, route) &&
      samePerson(asked, flush),
  );
  const edits = all ? editsOf(context.notes, run.batch) : [];
  const batch = withNotes(
    line.flatMap(({ messages }) => messages.map(refOf)),
    edits,
  );
  if (batch.length > 0) effects.push({ type: "turn.steer", turnId, batch });
}

/** Each interruption may have cost a model call: in a room that thrashes the newest waits a bit. */
function interrupt(step: Step, run: Run, at: Millis): void {
  const soonest = step.context.interruptedAt + limits.interruptMsMin;
  if (at < soonest) {
    step.effects.push({ type: "deadline.set", id: "interrupt", at: soonest });
    return;
  }
  step.context.interruptedAt = at;
  stop(step, run, "interrupt");
}

/** The deadline "interrupt" fired: what came too soon after an interruption may interrupt now. */
export function interruptDue(step: Step, { at }: DeadlineDue): void {
  const { run, inbox, settings } = step.context;
  if (run === null || run.abortedBy !== null || inbox.length === 0) return;
  const isNewer = inbox.some((flush) => samePerson(askedBy(run), flush));
  if (settings.queue.mode === "interrupt" && isNewer) interrupt(step, run, at);
}

/** Asks for the running turn's end; its outcome comes when the agent has ended. */
export function abortTurn(step: Step, { by, from }: RunAborted): void {
  const { run } = step.context;
  if (run === null || run.abortedBy !== null || !reaches(from, askedBy(run))) return;
  stop(step, run, by);
}

/** The agent has ended, and its words are on their way: those that have not left are dropped. */
export function abortDelivery(step: Step, event: RunAborted): void {
  abortTurn(step, event);
  const { run } = step.context;
  if (run === null || run.abortedBy === null || run.failure !== undefined) return;
  step.context.run = { ...run, failure: { outcome: "cancelled", reason: run.abortedBy } };
}

function stop({ context, effects }: Step, run: Run, reason: string): void {
  context.run = { ...run, abortedBy: reason };
  effects.push({ type: "turn.abort", turnId: run.order.turnId, reason });
}

/** The running agent took pending messages in: they are this turn's now. */
export function joinTurn(step: Step, event: AgentSteered): void {
  const { context } = step;
  const { settings, inbox } = context;
  const run = joinEdits(step, event);
  if (run === null) return;
  const isTaken = (flush: Flush) => flush.messages.every(({ seq }) => event.messages.includes(seq));
  const taken = noteTaken(step, inbox.filter(isTaken), event);
  if (settings.queue.mode === "steer-backlog") {
    context.inbox = inbox.map((flush) =>
      isTaken(flush) ? { ...flush, steeredAt: answersOf(run) } : flush,
    );
    return;
  }
  context.inbox = inbox.filter((flush) => !isTaken(flush));
  const joined = { ...run, batch: [...run.batch, ...taken] };
  context.run = joined;
  noteJoined(step, run, taken);
  if (editsOf(context.notes, taken).length > 0) offer(step, joined);
}

/**
 * Messages as the agent has read them. One that was edited while it was on its way to the agent was
 * read as it had been; the edit is still to be read.
 */
function noteTaken(
  { context }: Step,
  flushes: readonly Flush[],
  { at, edits }: AgentSteered,
): readonly PendingMessage[] {
  const { size } = context.settings.context;
  const read: ReadMessage[] = [];
  const taken = flushes.flatMap(({ messages, route }) => {
    const chat = chatOf(context.settings, route);
    const asRead = messages.map((message) => {
      const { editSeq, ...unedited } = message;
      if (editSeq === undefined || edits === undefined || edits.includes(editSeq)) return message;
      const { seq, id } = message;
      const note = placed({ seq: editSeq, id, at, was: { seq } }, chat);
      context.notes = addNote(context.notes, note, size).notes;
      return unedited;
    });
    read.push(...asRead.map((message) => placed(refOf(message), chat)));
    return asRead;
  });
  context.readByTurns = addRead(context.readByTurns, read);
  return taken;
}

/** The running agent took in how its messages have changed. */
function joinEdits({ context, effects }: Step, { messages }: AgentSteered): Run | null {
  const { run, notes } = context;
  if (run === null) return null;
  const taken = editsOf(notes, run.batch).filter(({ seq }) => messages.includes(seq));
  if (taken.length === 0) return run;
  context.notes = notes.filter((note) => !taken.includes(note));
  context.run = { ...run, batch: withEdits(run.batch, taken) };
  effects.push({ type: "joined", turnId: run.order.turnId, batch: taken.map(noteRef) });
  return context.run;
}

/**
 * The agent has read a message that is deleted now: no turn is left for it but this one, whether or
 * not it is answered.
 */
export function keepInTurn(step: Step, message: PendingMessage): void {
  const { run } = step.context;
  if (run === null) return;
  step.context.run = { ...run, batch: [...run.batch, message] };
  noteJoined(step, run, [message]);
}

/** Messages became a part of the turn: its transcript has them, too. */
export function noteJoined(
  { effects }: Step,
  { order: { turnId } }: Run,
  messages: readonly PendingMessage[],
): void {
  if (messages.length > 0) effects.push({ type: "joined", turnId, batch: messages.map(refOf) });
}

/** The line with nothing taken in: the agent that took it is gone or has not answered it. */
export const unsteered = (inbox: readonly Flush[]): readonly Flush[] =>
  inbox.map((flush) => (flush.steeredAt === null ? flush : { ...flush, steeredAt: null }));
