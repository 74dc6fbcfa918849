/**
 * Writing transcript files
 * ========================
 * Every transcript line is appended to its session's file after its commit and before anything of
 * it is shown. Lines that arrive during a write are batched, one write per file. Files are not
 * synced: before the first write to a file, its end is compared with the store, a torn line and lines
 * that the store does not have are cut off, and missing lines are added.
 *
 * A file that cannot be written (a full disk) delays what would be shown, is retried until it
 * succeeds, and is reported once.
 */
import { LRUCache } from "lru-cache";
import { EarshotError } from "../../domain/errors.ts";
import { atMost, limits } from "../../domain/limits.ts";
import type {
  Clock,
  Log,
  SessionFile,
  SessionFiles,
  Store,
  TimerHandle,
} from "../../domain/ports/index.ts";
import type { TranscriptLine } from "../../domain/session.ts";

export interface ProjectionPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: Pick<Store, "transcript" | "lately">;
  /** Null: no files (simulations). */
  readonly files: SessionFiles | null;
  /** Called when writing begins to fail, and with null when it works again. */
  readonly onHealth: (error: EarshotError | null) => void;
}

export interface FiledLine {
  readonly agentId: string;
  readonly line: TranscriptLine;
}

export interface TranscriptFiles {
  /** Resolves when the lines are written; never after `stop`. */
  write(lines: readonly FiledLine[]): Promise<void>;
  /** Compares these files with the store and repairs them. Resolves when they are complete. */
  repairNow(files: readonly SessionFile[]): Promise<void>;
  /** As `repairNow`, for the files written last. */
  repair(): Promise<void>;
  failing(): EarshotError | null;
  /**
   * Calls back once, as soon as writing fails (immediately if it does). Returns a function that
   * cancels this.
   */
  onceFailing(call: () => void): () => void;
  stop(): void;
}

interface Waiting {
  readonly lines: readonly FiledLine[];
  /** A file to compare with the store, even without new lines. */
  readonly file?: SessionFile;
  readonly done: () => void;
}

const retryMsMin = 100;
const retryMsMax = 5_000;
/** Newest lines whose files are checked at start. */
const repairLines = 5_000;
const pageLines = 1_000;

export function createTranscriptFiles(ports: ProjectionPorts): TranscriptFiles {
  const { clock, log, store, files } = ports;
  /** The last line of each file checked in this process. */
  const reached = new LRUCache<string, number>(atMost(limits.sessionFilesKnownMax));
  const waiting: Waiting[] = [];
  let working = false;
  let stopped = false;
  let failure: EarshotError | null = null;
  let retryMs = retryMsMin;
  let timer: TimerHandle | null = null;
  const waitingForFailure = new Set<() => void>();

  /** The fields in one order, so that a file that is repaired is what it was. */
  const text = ({ id, at, turnId, role, text, ...rest }: TranscriptLine) =>
    JSON.stringify({ id, at, turnId, role, text, ...rest, sessionId: undefined });

  /** Brings one file up to date with these lines. */
  async function bring(file: SessionFile, lines: readonly TranscriptLine[]): Promise<void> {
    if (files === null) return;
    const { sessionId } = file;
    const first = lines[0]?.id ?? Number.POSITIVE_INFINITY;
    let last = reached.get(sessionId);
    if (last === undefined) {
      const [newest] = await store.transcript({ sessionId, limit: 1, newest: true });
      // A loss of power may leave lines here that the store has lost; their numbers are given again.
      last = await files.lastLine(file, newest?.id ?? 0);
      for (let more = true; more; ) {
        const missing = await store.transcript({ sessionId, after: last, limit: pageLines });
        const older = missing.filter(({ id }) => id < first);
        if (older.length > 0) await files.append(file, older.map(text));
        last = older.at(-1)?.id ?? last;
        more = older.length === pageLines;
      }
      reached.set(sessionId, last);
    }
    const fresh = lines.filter(({ id }) => id > (last as number));
    if (fresh.length === 0) return;
    // Unknown during a write: a failed write is checked again.
    reached.delete(sessionId);
    await files.append(file, fresh.map(text));
    reached.set(sessionId, fresh.at(-1)?.id as number);
  }

  async function work(): Promise<void> {
    working = true;
    while (waiting.length > 0 && !stopped) {
      const taken = waiting.splice(0);
      while (!stopped && !(await attempt(taken))) await pause();
      if (stopped) return;
      for (const { done } of taken) done();
    }
    working = false;
  }

  async function attempt(taken: readonly Waiting[]): Promise<boolean> {
    try {
      for (const { file } of taken) if (file !== undefined) await bring(file, []);
      for (const [file, lines] of byFile(taken.flatMap((job) => job.lines)))
        await bring(file, lines);
      if (failure !== null) log("info", "sessions.working", {});
      if (failure !== null) ports.onHealth(null);
      failure = null;
      retryMs = retryMsMin;
      return true;
    } catch (error) {
      report(error);
      return false;
    }
  }

  function report(error: unknown): void {
    const text = error instanceof Error ? error.message : String(error);
    const reason =
      error instanceof EarshotError
        ? error
        : new EarshotError("EAR_STORE_FAILED", `Cannot write a session's file: ${text}`, {
            cause: error,
          });
    if (failure === null) {
      log("error", "sessions.failing", { code: reason.code, reason: reason.message });
      ports.onHealth(reason);
    }
    failure = reason;
    for (const call of waitingForFailure) call();
    waitingForFailure.clear();
  }

  function pause(): Promise<void> {
    const wait = retryMs;
    retryMs = Math.min(retryMs * 2, retryMsMax);
    return new Promise((resolve) => {
      timer = clock.setTimer(clock.now() + wait, resolve);
    });
  }

  function enter(entry: Omit<Waiting, "done">): Promise<void> {
    return new Promise((done) => {
      waiting.push({ ...entry, done });
      if (!working) void work();
    });
  }

  async function repairFiles(wanted: readonly SessionFile[]): Promise<void> {
    for (const { agentId, sessionId } of wanted) {
      if (files === null || stopped) return;
      if (!reached.has(sessionId)) await enter({ lines: [], file: { agentId, sessionId } });
    }
  }

  return {
    write(lines) {
      if (files === null || lines.length === 0) return Promise.resolve();
      return enter({ lines });
    },
    repairNow: repairFiles,
    async repair() {
      if (files !== null) await repairFiles(await store.lately(repairLines));
    },
    failing: () => failure,
    onceFailing(call) {
      if (failure !== null) call();
      else waitingForFailure.add(call);
      return () => waitingForFailure.delete(call);
    },
    stop() {
      stopped = true;
      if (timer !== null) clock.clearTimer(timer);
    },
  };
}

/** Lines grouped by file, each group in order. */
function byFile(lines: readonly FiledLine[]): [SessionFile, TranscriptLine[]][] {
  const found = new Map<string, [SessionFile, TranscriptLine[]]>();
  for (const { agentId, line } of lines) {
    const { sessionId } = line;
    const entry = found.get(sessionId) ?? [{ agentId, sessionId }, []];
    entry[1].push(line);
    found.set(sessionId, entry);
  }
  for (const [, own] of found.values()) own.sort((a, b) => a.id - b.id);
  return [...found.values()];
}
