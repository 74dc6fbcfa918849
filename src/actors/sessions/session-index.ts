/**
 * The index of an agent's sessions
 * ================================
 * `index.json` beside the transcripts maps files to conversations, current or archived. It changes
 * only when a session begins, is written atomically, and the longer it is the less often, so that a
 * hundred thousand rooms do not keep it busy. Its first line names the newest session: a start
 * compares that with the store and rewrites an outdated index.
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
  /** Null: no files. */
  readonly files: SessionFiles | null;
}

export interface SessionIndex {
  /** Marks the agent's index as changed. */
  changed(agentId: string): void;
  /** Rewrites the indexes that lack the newest session. */
  repair(): Promise<void>;
  /** Writes pending changes and stops. */
  stop(): Promise<void>;
}

const waitMsMin = 1_000;
/** Delay per session in the index, so that a long one is written less often. */
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

  /** Writes run one at a time. */
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
