/**
 * Steering
 * ========
 * What arrives while a turn runs may be told to its agent. It is offered in the order of the line,
 * with everything before it that the agent has not taken yet, so a message that came when nobody
 * could listen is never overtaken by one that came later. Only what was said in the turn's own place
 * is offered: its answer goes nowhere else.
 */
import { sameRoute } from "../../domain/message.ts";
import { type Flush, refOf } from "../batching/inbox.ts";
import type { AgentSteered } from "../events/events.ts";
import { freeLine } from "./agent-relay.ts";
import type { ConversationContext, Run } from "./context.ts";

/** Blocks handed to delivery that are an answer. */
export const answersOf = ({ blocks, asides = [] }: Run): number => blocks - asides.length;

/** Offers the running agent what waits in its place. Whoever passes it on knows what it has. */
export function offerLine(context: ConversationContext, { order, left }: Run): void {
  if (left === true) return;
  const { effects, inbox, relays } = context;
  const { turnId, route } = order;
  const line = freeLine(inbox, relays).filter(
    (one) => one.steeredAt === null && sameRoute(one.route, route),
  );
  const batch = line.flatMap(({ messages }) => messages.map(refOf));
  if (batch.length > 0) effects.push({ type: "turn.steer", turnId, batch });
}

/** The running agent took pending messages in: they are this turn's now. */
export function joinRun(context: ConversationContext, event: AgentSteered): void {
  const { run, settings } = context;
  if (run === null) return;
  const isTaken = (flush: Flush) => flush.messages.every(({ seq }) => event.messages.includes(seq));
  if (settings.queue.mode === "steer-backlog") {
    context.inbox = context.inbox.map((flush) =>
      isTaken(flush) ? { ...flush, steeredAt: answersOf(run) } : flush,
    );
    return;
  }
  const taken = context.inbox.filter(isTaken).flatMap(({ messages }) => messages);
  context.inbox = context.inbox.filter((flush) => !isTaken(flush));
  context.run = { ...run, batch: [...run.batch, ...taken] };
  join(context, run, taken);
}

/** Messages became a part of the turn: its transcript has them, too. */
export function join(
  { effects }: ConversationContext,
  { order: { turnId } }: Run,
  messages: Run["batch"],
): void {
  if (messages.length > 0) effects.push({ type: "joined", turnId, batch: messages.map(refOf) });
}

/** The line with nothing taken in: the agent that took it is gone or has not answered it. */
export const unsteered = (inbox: readonly Flush[]): readonly Flush[] =>
  inbox.map((one) => (one.steeredAt === null ? one : { ...one, steeredAt: null }));
