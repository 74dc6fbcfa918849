/**
 * Transcript lines, usage and new sessions as rows of the commit that marks the step applied, so
 * they exist exactly once, however often a host or the process dies. A turn that ends without an
 * answer leaves a note.
 */
import type { SessionUsed, StoreWrite } from "../../domain/ports/index.ts";
import { noUsage, type TranscriptLine } from "../../domain/session.ts";
import type {
  Effect,
  Joined,
  OutcomeReached,
  SessionBegan,
  Usage,
} from "../../machines/events/effects.ts";
import type { HostStep } from "../protocol/host-protocol.ts";
import type { Sessions } from "./session-registry.ts";
import { arrival } from "./transcript-view.ts";
import { type MessageLine, messageLines } from "./turn-session.ts";

export interface SessionPlanContext {
  readonly sessions: Pick<Sessions, "ofTurn" | "forget" | "number" | "opening">;
  readonly agentOf: (key: string) => string;
  /**
   * Messages without a transcript line yet: those that joined a turn, or those of a turn that ended
   * before writing them. By effect; read beforehand.
   */
  readonly unwritten: ReadonlyMap<Joined | OutcomeReached, readonly MessageLine[]>;
}

/** The turn whose session must be known to plan the effect; null: none. */
export function turnConcerned(effect: Effect): string | null {
  const { type } = effect;
  if (type === "transcript" || type === "usage" || type === "joined") return effect.turnId;
  if (type === "unsaid") return effect.turnId;
  return effect.type === "outcome" && effect.outcome !== "expired" ? effect.turnId : null;
}

/** The rows of one effect; none for effects without a session. */
export function sessionWrites(
  effect: Effect,
  step: HostStep,
  context: SessionPlanContext,
): readonly StoreWrite[] {
  if (effect.type === "session.began") return began(effect, step, context);
  const turnId = turnConcerned(effect);
  const sessionId = turnId === null ? undefined : context.sessions.ofTurn(turnId);
  if (turnId === null || sessionId === undefined) return [];
  const { conv, at } = step;
  const note = (line: Omit<TranscriptLine, "id" | "sessionId" | "at" | "turnId">): StoreWrite => ({
    kind: "transcript",
    conv,
    line: context.sessions.number({ sessionId, at, turnId, ...line }),
  });
  switch (effect.type) {
    case "transcript":
      return [note({ role: effect.role, text: effect.text, part: effect.index })];
    case "joined": {
      const lines = spoken(effect, sessionId, { turnId, at }, context);
      return lines.map((line) => ({ kind: "transcript", conv, line }));
    }
    case "usage": {
      const usage = transcriptReasons(effect);
      const used = { ...noUsage, ...usage };
      return [counted(sessionId, at, used, null), note({ role: "note", text: "usage", usage })];
    }
    case "unsaid": {
      const { part, status } = effect;
      const unsent = [{ part, status }];
      context.sessions.forget(turnId);
      return [note({ role: "note", text: `not sent: part ${part} ${arrival(unsent)}`, unsent })];
    }
    case "outcome": {
      context.sessions.forget(turnId);
      const used = { ...noUsage, turns: 1 };
      const count = counted(sessionId, at, used, cutShort(effect));
      if (effect.outcome === "replied") return [count];
      const { unsent } = effect;
      const lines = spoken(effect, sessionId, { turnId, at }, context);
      return [
        count,
        ...lines.map((line): StoreWrite => ({ kind: "transcript", conv, line })),
        note({
          role: "note",
          text: endOf(effect),
          ...(unsent === undefined ? {} : { unsent }),
        }),
      ];
    }
    default:
      return [];
  }
}

function spoken(
  effect: Joined | OutcomeReached,
  sessionId: string,
  turn: { readonly turnId: string; readonly at: number },
  { sessions, unwritten }: SessionPlanContext,
): readonly TranscriptLine[] {
  const spokenLines = unwritten.get(effect);
  // What joined may be an edit that changes no text.
  const isEmpty = effect.type === "joined" && spokenLines?.length === 0;
  if (spokenLines === undefined || isEmpty) return [];
  return messageLines(sessions, sessionId, turn, spokenLines);
}

function began(effect: SessionBegan, step: HostStep, context: SessionPlanContext): StoreWrite[] {
  const { sessionId, owes } = effect;
  const { conv, key, at, seq } = step;
  const agentId = context.agentOf(key);
  const names = { conv, key, agentId, sessionId };
  const begin = { kind: "session", op: "begin", ...names, at, fromSeq: seq } as const;
  return owes === true ? [context.sessions.opening({ conv, key, agentId, at }), begin] : [begin];
}

const transcriptReasons = ({ inputTokens, outputTokens, costUsd }: Usage) => ({
  inputTokens,
  outputTokens,
  costUsd,
});

function counted(
  sessionId: string,
  at: number,
  used: SessionUsed["used"],
  aborted: boolean | null,
): SessionUsed {
  return { kind: "session", op: "used", sessionId, at, used, aborted };
}

/** A heartbeat turn does not change the state of the last run. */
function cutShort({ outcome, reason, batch }: OutcomeReached): boolean | null {
  if (batch.length === 0) return null;
  return outcome === "cancelled" || reason === "host-lost";
}

function endOf({ outcome, reason, unsent = [] }: OutcomeReached): string {
  const end = reason === undefined ? outcome : `${outcome}: ${reason}`;
  const parts =
    unsent.length === 1 ? "1 part of the answer" : `${unsent.length} parts of the answer`;
  return unsent.length === 0 ? end : `${end}; ${parts} ${arrival(unsent)}`;
}
