/**
 * The index of an agent's sessions
 * ================================
 * `index.json` beside the transcripts: which file holds which conversation, in use or archived. It
 * changes only when a session begins, is written as a whole, and not more often than its length
 * allows, so a house with a hundred thousand rooms does not spend its time on it. Its first line
 * names the newest session: a start compares that and writes what is missing or behind.
 */
import type {
  Clock,
  Log,
  SessionFiles,
  SessionRow,
  Store,
  TimerHandle,
} from "../../domain/ports/index.ts";

export interface SessionIndexPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: Pick<Store, "sessions" | "newestSessions">;
  /** Null: nothing is written. */
  readonly files: SessionFiles | null;
}

export interface SessionIndex {
  /** A session of this agent has begun. */
  changed(agentId: string): void;
  /** Writes the indexes that do not know the newest session. */
  repair(): Promise<void>;
  /** Writes what is due and ends. */
  stop(): Promise<void>;
}

const waitMsMin = 1_000;
/** An index of many sessions waits longer before it is written again. */
const waitMsPerSession = 5;
const pageSessions = 500;

export function createSessionIndex({ clock, log, store, files }: SessionIndexPorts): SessionIndex {
  const due = new Map<string, TimerHandle>();
  const counts = new Map<string, number>();
  let writing: Promise<void> = Promise.resolve();
  let stopped = false;

  async function* parts(agentId: string, newest: string): AsyncGenerator<string> {
    yield head(newest);
    let count = 0;
    for (let after = "", more = true; more; ) {
      const page = await store.sessions({ agentId, all: true, after, limit: pageSessions });
      if (page.length > 0) yield page.map((row, n) => entry(row, count + n)).join("");
      count += page.length;
      after = page.at(-1)?.sessionId ?? after;
      more = page.length === pageSessions;
    }
    counts.set(agentId, count);
    yield "\n]}\n";
  }

  async function newestOf(agentId: string): Promise<string | null> {
    const all = await store.newestSessions();
    return all.find((session) => session.agentId === agentId)?.sessionId ?? null;
  }

  async function write(agentId: string): Promise<void> {
    const newest = await newestOf(agentId);
    if (files === null || newest === null) return;
    try {
      await files.writeIndex(agentId, parts(agentId, newest));
    } catch (error) {
      log("warn", "sessions.index", { agentId, error: String(error) });
      if (!stopped) changed(agentId);
    }
  }

  /** One after the other: each is written as a whole. */
  function writeNext(agentId: string): Promise<void> {
    writing = writing.then(() => write(agentId));
    return writing;
  }

  function changed(agentId: string): void {
    if (files === null || stopped || due.has(agentId)) return;
    const wait = Math.max(waitMsMin, (counts.get(agentId) ?? 0) * waitMsPerSession);
    const fire = () => {
      due.delete(agentId);
      void writeNext(agentId);
    };
    due.set(agentId, clock.setTimer(clock.now() + wait, fire));
  }

  return {
    changed,
    async repair() {
      if (files === null) return;
      for (const { agentId, sessionId } of await store.newestSessions())
        if ((await files.indexHead(agentId)) !== head(sessionId).trimEnd())
          await writeNext(agentId);
    },
    async stop() {
      stopped = true;
      for (const [agentId, timer] of due) {
        clock.clearTimer(timer);
        void writeNext(agentId);
      }
      due.clear();
      await writing;
    },
  };
}

const head = (newest: string) => `{"version":1,"newest":${JSON.stringify(newest)},"sessions":[\n`;

function entry(row: SessionRow, index: number): string {
  const { sessionId, key, createdAt, archivedAt } = row;
  return `${index === 0 ? "" : ",\n"}${JSON.stringify({ sessionId, key, createdAt, archivedAt })}`;
}
