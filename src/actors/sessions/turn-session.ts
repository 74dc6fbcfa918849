/**
 * A turn's part of its session
 * ============================
 * When a turn is composed, what people said in it is written to its session, once, and what was
 * said before is read from there. Both happen before the agent is called.
 */
import type { SessionRow, Store, StoreWrite, TranscriptEntry } from "../../domain/ports/index.ts";
import type { TranscriptLine } from "../../domain/session.ts";
import type { Journal } from "../journal/journal.ts";
import type { OrderedTurn, Sessions } from "./session-registry.ts";
import type { TranscriptFiles } from "./transcript-files.ts";

/** A message as it goes into a transcript. */
export interface SaidLine {
  readonly id: string;
  readonly author: { readonly id: string; readonly name: string };
  readonly text: string;
}

/** What a turn is to be given of its session. */
export interface Remembering {
  readonly turn: OrderedTurn;
  readonly cfg: number;
  readonly session: SessionRow;
  readonly system: string;
  /** The composed user turn, for its length. */
  readonly prompt: string;
  /** Several people may have spoken. */
  readonly named: boolean;
}

/** What composing a turn may ask of its session. */
export interface TurnSessions {
  /** The turn's session, with what was said in this turn written to it. */
  enter(turn: OrderedTurn, said: readonly SaidLine[]): Promise<SessionRow>;
  /** What was said before this turn, no more than the agent can take. */
  remember(what: Remembering, signal: AbortSignal): Promise<readonly TranscriptEntry[]>;
}

export interface EnterPorts {
  readonly store: Store;
  readonly journal: Pick<Journal, "keep">;
  readonly sessions: Sessions;
  readonly projection: Pick<TranscriptFiles, "write">;
}

/** As `TurnSessions.enter`. */
export async function enterSession(
  { journal, sessions, projection }: EnterPorts,
  turn: OrderedTurn,
  said: readonly SaidLine[],
): Promise<SessionRow> {
  const { session, noted } = await sessions.forTurn(turn);
  if (noted) return session;
  const { conv, agentId } = turn;
  const lines = saidLines(sessions, session.sessionId, turn, said);
  await journal.keep(lines.map((line): StoreWrite => ({ kind: "transcript", conv, line })));
  await projection.write(lines.map((line) => ({ agentId, line })));
  return session;
}

/** What a turn leaves in its session that nobody asked for. */
export const heartbeatNote = "heartbeat";

/** What people said in a turn. A turn without a message is a heartbeat's, and leaves a note. */
export function saidLines(
  sessions: Pick<Sessions, "number">,
  sessionId: string,
  { turnId, at }: Pick<OrderedTurn, "turnId" | "at">,
  said: readonly SaidLine[],
): TranscriptLine[] {
  const common = { sessionId, at, turnId } as const;
  if (said.length === 0) return [sessions.number({ role: "note", text: heartbeatNote, ...common })];
  return said.map(({ id: messageId, author: { id, name }, text }) =>
    sessions.number({ role: "user", text, author: { id, name }, messageId, ...common }),
  );
}
