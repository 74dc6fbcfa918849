/**
 * When a turn is composed, its messages are written to the session once, and the earlier transcript
 * is read. Both happen before the agent is called.
 */
import type { SessionRow, Store, StoreWrite, TranscriptEntry } from "../../domain/ports/index.ts";
import type { TranscriptLine } from "../../domain/session.ts";
import type { Journal } from "../journal/journal.ts";
import type { OrderedTurn, Sessions } from "./session-registry.ts";
import type { TranscriptFiles } from "./transcript-files.ts";

/** A message for the transcript. */
export interface MessageLine {
  readonly id: string;
  readonly author: { readonly id: string; readonly name: string };
  readonly text: string;
}

/** What the transcript of a turn depends on. */
export interface Remembering {
  readonly turn: OrderedTurn;
  readonly cfg: number;
  readonly session: SessionRow;
  readonly system: string;
  /** The composed user turn, whose length counts. */
  readonly prompt: string;
  /** Several people may have spoken. */
  readonly named: boolean;
  /** Author ids of its own messages. */
  readonly authors: readonly string[];
  /** Its own lines have this number or a higher one. */
  readonly ownFrom: number;
}

/** The session of a turn that was entered. */
export interface Entered extends Pick<Remembering, "ownFrom"> {
  readonly session: SessionRow;
}

/** The session operations of composing a turn. */
export interface TurnSessions {
  /** Returns the turn's session after writing its messages. */
  enter(turn: OrderedTurn, messages: readonly MessageLine[]): Promise<Entered>;
  /** The earlier transcript, within the agent's capacity. */
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
  messages: readonly MessageLine[],
): Promise<Entered> {
  const { session, noted } = await sessions.forTurn(turn);
  if (noted) return { session, ownFrom: 0 };
  const { conv, agentId } = turn;
  const lines = messageLines(sessions, session.sessionId, turn, messages);
  const rows = lines.map((line): StoreWrite => ({ kind: "transcript", conv, line }));
  await journal.keep(rows, "ordered");
  await projection.write(lines.map((line) => ({ agentId, line })));
  return { session, ownFrom: lines[0]?.id ?? 0 };
}

export const heartbeatNote = "heartbeat";
/** The author id of a prompt that no message is behind. */
export const promptAuthor = "prompt";

/** The lines of a turn's messages; a heartbeat turn leaves a note. */
export function messageLines(
  sessions: Pick<Sessions, "number">,
  sessionId: string,
  { turnId, at }: Pick<OrderedTurn, "turnId" | "at">,
  messages: readonly MessageLine[],
): TranscriptLine[] {
  const common = { sessionId, at, turnId } as const;
  if (messages.length === 0)
    return [sessions.number({ role: "note", text: heartbeatNote, ...common })];
  return messages.map(({ id: messageId, author: { id, name }, text }) =>
    sessions.number({ role: "user", text, author: { id, name }, messageId, ...common }),
  );
}
