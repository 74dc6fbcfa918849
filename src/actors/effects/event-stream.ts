/**
 * From events to lines (domain/stream.ts). Fields of place and person are only in the live stream:
 * the output of a replay is compared byte for byte and holds only what follows from the scenario.
 */
import type { Verdict } from "../../domain/decision.ts";
import type { Inbound, Millis } from "../../domain/message.ts";
import type { OutboxRow } from "../../domain/ports/index.ts";
import type { AgentEndLine, AgentStartLine, DecisionLine, ReactLine } from "../../domain/stream.ts";
import type { OutcomeReached, React, TurnRun, Unreact } from "../../machines/events/effects.ts";
import type { ReactionBody } from "../outbox/row-body.ts";

/** Every message has exactly one of these for each agent that receives it. */
export function decisionLine(
  t: Millis,
  message: Pick<Inbound, "id" | "channel" | "chat" | "author">,
  key: string | null,
  { decision, rule, credit }: Verdict,
  live: boolean,
): DecisionLine {
  const { id, channel, chat, author } = message;
  if (!live) return { t, id, key, decision, rule, credit };
  return { t, id, key, decision, rule, credit, channel, chat: chat.id, author: author.id };
}

export function reactLine(t: Millis, effect: React | Unreact): ReactLine {
  const { type, emoji, message, route } = effect;
  return { t, out: type, emoji, message, chat: route.chat.id };
}

/** A reaction that answers a command: it has a row of its own and no effect. */
export const answersCommand = ({ kind, turnId }: OutboxRow): boolean =>
  kind === "react" && turnId !== "";

export function rowReactLine(t: Millis, row: OutboxRow): ReactLine {
  const { message, emoji, route } = JSON.parse(row.body) as ReactionBody;
  return { t, out: "react", emoji, message, chat: route.chat.id };
}

export function agentStartLine(
  t: Millis,
  key: string,
  order: TurnRun,
  live: boolean,
): AgentStartLine {
  const { turn, turnId, batch, replyTo, guard, nudge } = order;
  return {
    t,
    key,
    event: "agent_start",
    turn,
    batch: batch.map(({ id }) => id),
    replyTo,
    guard,
    nudge,
    ...(live && { turnId }),
  };
}

export function agentEndLine(t: Millis, key: string, effect: OutcomeReached): AgentEndLine {
  const { turn, outcome, reason, cause } = effect;
  const because = reason === undefined ? {} : { reason };
  const failed = cause === undefined ? {} : { cause };
  return { t, key, event: "agent_end", turn, outcome, ...because, ...failed };
}
