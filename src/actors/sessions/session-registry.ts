/**
 * Assigns turns to sessions and numbers transcript lines. A turn belongs to the session that was
 * current when it was requested, until its end, whatever begins meanwhile; so every turn writes a
 * line to its session before its agent is called, and finds the session by it after a crash.
 *
 * The store is the source of truth; only the sessions of running turns are cached.
 */
import type { Millis } from "../../domain/message.ts";
import type {
  Ids,
  Numbers,
  RunRow,
  SessionOpen,
  SessionRow,
  Store,
} from "../../domain/ports/index.ts";
import type { TranscriptLine } from "../../domain/session.ts";
import type { Journal } from "../journal/journal.ts";

export interface SessionsPorts {
  readonly store: Store;
  readonly journal: Pick<Journal, "keep">;
  readonly ids: Ids;
  /** Numbers of lines. @default counted, from the last one stored */
  readonly numbers?: Numbers | undefined;
  /** Called when an agent has a new session. */
  readonly onBegan: (agentId: string) => void;
}

/** A turn of a conversation, and the event that says which session was in use for it. */
export interface OrderedTurn {
  readonly conv: number;
  readonly key: string;
  readonly agentId: string;
  readonly turnId: string;
  readonly seq: number;
  readonly at: Millis;
}

export interface Sessions {
  /** Restores the sessions of running turns and the line counter. */
  recover(runs: readonly RunRow[]): Promise<void>;
  /** The write that opens the conversation's first session, where it has none. */
  opening(who: Pick<OrderedTurn, "conv" | "key" | "agentId" | "at">): SessionOpen;
  /** The session of a turn about to run; `noted`: its first lines were written before. */
  forTurn(turn: OrderedTurn): Promise<{ readonly session: SessionRow; readonly noted: boolean }>;
  /**
   * As `ofTurn`, for a turn that is not cached. Resolves to whether the turn has written its first
   * lines: a turn that ended before its agent was called has not. `seq`: it belongs to the session in use
   * before that journal number.
   */
  find(turnId: string, conv: number, seq?: number): Promise<boolean>;
  ofTurn(turnId: string): string | undefined;
  /** Drops an ended turn. */
  forget(turnId: string): void;
  /** Numbers a line. */
  number(line: Omit<TranscriptLine, "id">): TranscriptLine;
  /** Resolves when the session has begun, or at once when too many callers wait. */
  begun(sessionId: string): Promise<void>;
  /** Records that a session has durably begun. */
  began(sessionId: string, agentId: string): void;
}

/** Resets awaited at the same time. */
const waitingMax = 1_000;

export function createSessions({ store, journal, ids, numbers, onBegan }: SessionsPorts): Sessions {
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
    // A turn that an older version, without sessions, had granted its slot.
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
    async find(turnId, conv, seq) {
      const noted = await store.sessionOfTurn(turnId);
      const session = noted ?? (await store.sessionOf(conv, seq));
      if (session !== null) turns.set(turnId, session.sessionId);
      return noted !== null;
    },
    ofTurn: (turnId) => turns.get(turnId),
    forget: (turnId) => turns.delete(turnId),
    number(line) {
      lastLine = numbers?.next() ?? lastLine + 1;
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
