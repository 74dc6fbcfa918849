/**
 * Sessions
 * ========
 * Which session a turn belongs to, and the numbers of transcript lines. A turn belongs to the
 * session that was in use when it was ordered, up to its last word, whatever is begun meanwhile;
 * so every turn leaves a line in its session before its agent is called, and is found by it again
 * after a crash.
 *
 * Truth is the store. Nothing is cached here but the sessions of turns under way.
 */
import type { Millis } from "../../domain/message.ts";
import type { Ids, RunRow, SessionOpen, SessionRow, Store } from "../../domain/ports/index.ts";
import type { TranscriptLine } from "../../domain/session.ts";
import type { Journal } from "../journal/journal.ts";

export interface SessionsPorts {
  readonly store: Store;
  readonly journal: Pick<Journal, "keep">;
  readonly ids: Ids;
  /** An agent has a session that it had not before. */
  readonly onBegan: (agentId: string) => void;
}

/** A turn of a conversation, and the event that ordered it. */
export interface OrderedTurn {
  readonly conv: number;
  readonly key: string;
  readonly agentId: string;
  readonly turnId: string;
  readonly seq: number;
  readonly at: Millis;
}

export interface Sessions {
  /** Learns the sessions of the turns that were under way, and where line numbers go on. */
  recover(runs: readonly RunRow[]): Promise<void>;
  /** Makes the conversation's first session, where it has none yet. */
  opening(who: Pick<OrderedTurn, "conv" | "key" | "agentId" | "at">): SessionOpen;
  /** The session of a turn that is to run; `noted`: it has left its first lines before. */
  forTurn(turn: OrderedTurn): Promise<{ readonly session: SessionRow; readonly noted: boolean }>;
  /**
   * As `ofTurn`, for a turn that is not known here any more. Resolves to whether the turn has left
   * its first lines: one that ended before its agent could be called has not.
   */
  find(turnId: string, conv: number): Promise<boolean>;
  /** The session of a turn under way. */
  ofTurn(turnId: string): string | undefined;
  /** The turn has its outcome. */
  forget(turnId: string): void;
  /** Gives a line its number. */
  number(line: Omit<TranscriptLine, "id">): TranscriptLine;
  /** Resolves when the session has begun, or when so many are waited for that this is given up. */
  begun(sessionId: string): Promise<void>;
  /** A session has begun, durably. */
  began(sessionId: string, agentId: string): void;
}

/** Resets that somebody waits for at the same time. */
const waitingMax = 1_000;

export function createSessions({ store, journal, ids, onBegan }: SessionsPorts): Sessions {
  const turns = new Map<string, string>();
  const waiting = new Map<string, () => void>();
  let lastLine = 0;

  function opening({
    conv,
    key,
    agentId,
    at,
  }: Pick<OrderedTurn, "conv" | "key" | "agentId" | "at">): SessionOpen {
    const sessionId = ids.next(`session|${key}`);
    return { kind: "session", op: "open", conv, key, agentId, at, sessionId };
  }

  function publishChange(sessionId: string): void {
    waiting.get(sessionId)?.();
    waiting.delete(sessionId);
  }

  async function inUse(turn: OrderedTurn): Promise<SessionRow> {
    const found = await store.sessionOf(turn.conv, turn.seq);
    if (found !== null) return found;
    // A turn that was granted its lane by an earlier earshot, which kept no sessions.
    await journal.keep([opening(turn)]);
    return (await store.sessionOf(turn.conv)) as SessionRow;
  }

  return {
    async recover(runs) {
      lastLine = await store.lastLine();
      for (const { turnId } of runs) {
        const session = turnId === null ? null : await store.sessionOfTurn(turnId);
        if (turnId !== null && session !== null) turns.set(turnId, session.sessionId);
      }
    },
    opening,
    async forTurn(turn) {
      const before = await store.sessionOfTurn(turn.turnId);
      const session = before ?? (await inUse(turn));
      turns.set(turn.turnId, session.sessionId);
      const { createdAt, updatedAt, usage } = session;
      if (before === null && usage.turns === 0 && createdAt === updatedAt) onBegan(turn.agentId);
      return { session, noted: before !== null };
    },
    async find(turnId, conv) {
      const noted = await store.sessionOfTurn(turnId);
      const session = noted ?? (await store.sessionOf(conv));
      if (session !== null) turns.set(turnId, session.sessionId);
      return noted !== null;
    },
    ofTurn: (turnId) => turns.get(turnId),
    forget: (turnId) => turns.delete(turnId),
    number(line) {
      lastLine += 1;
      return { id: lastLine, ...line };
    },
    begun: (sessionId) =>
      new Promise((resolve) => {
        waiting.set(sessionId, resolve);
        const [oldest] = waiting;
        if (waiting.size > waitingMax && oldest !== undefined) publishChange(oldest[0]);
      }),
    began(sessionId, agentId) {
      onBegan(agentId);
      publishChange(sessionId);
    },
  };
}
