/**
 * Group commit: everything that waits at the end of a tick becomes one transaction. Events come back
 * in the order of their numbers, through one callback, so conversations get them in exactly the order
 * that a recovery would use.
 *
 * What is written survives the end of the process, and is lost with the machine's power until the
 * store has synced it; a sync covers all that was written before it. So only what leaves the
 * process waits for one: the acknowledgement of a platform, the call of an agent, the call of a
 * platform. The hosts work meanwhile. What is left after a loss of power is always a beginning of what
 * was written, and nothing that happened outside is missing in it.
 *
 * There are two kinds of callers. `offer` is for the intake: when the store fails it rejects, and
 * the platform is not acknowledged. `append` and `keep` are for consequences of what is already
 * durable: they stay queued, in order, and are tried again until the store accepts them. Nothing
 * else starts while the store fails.
 */

import { EarshotError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import type { Clock, Log, Scheduler, Store, StoreWrite } from "../../domain/ports/index.ts";
import { entryOf, type NewEvent } from "../protocol/event-codec.ts";
import type { HostEntry } from "../protocol/host-protocol.ts";
import type { RuntimeEvents } from "../protocol/runtime-events.ts";
import { Times } from "../util/quantiles.ts";
import { nextTurn } from "../util/scheduling.ts";
import type { StartGate } from "./start-gate.ts";

export interface JournalPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: Store;
  readonly lastSeq: number;
  /** Gets events to apply, in the order of their numbers, right after their commit. */
  readonly startGate: Pick<StartGate, "pass">;
  /** The store began to fail, or works again (null). */
  readonly onHealth: (error: EarshotError | null) => void;
  readonly events: Pick<RuntimeEvents, "emit">;
  readonly scheduler: Scheduler;
}

export interface Journal {
  /**
   * Stores events from outside. Resolves to a number for each event, 0 for a duplicate.
   * @throws EarshotError EAR_STORE_FAILED
   *
   * EAR_STORE_FULL: nothing was stored.
   */
  offer(events: readonly NewEvent[], writes?: readonly StoreWrite[]): Promise<readonly number[]>;
  /**
   * Stores events of the runtime and their writes; waits until the store accepts them. `ordered`:
   * resolves when they are written, which nothing outside may rest on before `synced`.
   * @default durable
   */
  append(
    events: readonly NewEvent[],
    writes?: readonly StoreWrite[],
    until?: Until,
  ): Promise<readonly number[]>;
  /** Stores consequences of applied events; waits until the store accepts them. */
  keep(writes: readonly StoreWrite[], until?: Until): Promise<void>;
  /**
   * Resolves when everything written so far is durable. Rejects once the journal has stopped, and when another
   * process owns the database.
   */
  synced(): Promise<void>;
  /** Begins to sync what is written so far, for somebody who will soon wait for `synced`. */
  syncAhead(): void;
  /**
   * Whether something may be done outside, looked up in the store at each call: not when another process owns the
   * database, which also counts as a failure of the store, and not once the journal has stopped. A process that
   * stood still does not know by itself that its place was taken.
   */
  mayAct(): boolean;
  /** Why the store fails, or null. */
  failing(): EarshotError | null;
  /**
   * Calls back once, as soon as the store fails (immediately if it does). Returns a function that
   * cancels.
   */
  onceFailing(call: () => void): () => void;
  /** Whether nothing is being written or queued. */
  isQuiet(): boolean;
  lastCommitMs(): number;
  /** Of the newest commits: the 99th percentile in ms, and the number of rows of each. */
  commits(): { readonly msP99: number | null; readonly rows: number | null };
  /** The highest number so far; 0 before the first. */
  lastSeq(): number;
  /** Stored events whose consequences are not stored yet: those of this start, and those `foundUnapplied`. */
  unapplied(): number;
  /** The start has found so many more of before. */
  foundUnapplied(events: number): void;
  /** Ends the retries and rejects what is queued. */
  stop(): Promise<void>;
}

/** Durable: it survives a loss of power. */
export type Until = "durable" | "ordered";

interface Job {
  readonly events: readonly NewEvent[];
  readonly writes: readonly StoreWrite[];
  /** Stays queued when the store fails. */
  readonly stays: boolean;
  readonly until: Until;
  readonly done: (numbers: readonly number[]) => void;
  readonly failed: (error: EarshotError) => void;
}

/** Written jobs that wait for the store's next sync. */
interface Written {
  readonly done: () => void;
  readonly failed: (error: EarshotError) => void;
}

const retryMsMin = 100;
const retryMsMax = 5_000;
/** What nobody waits for is synced after this time. */
const idleSyncMs = 100;

export function createJournal(ports: JournalPorts): Journal {
  const { clock, log, store } = ports;
  const queue: Job[] = [];
  let scheduled = false;
  let committing = false;
  let stopped = false;
  let failure: EarshotError | null = null;
  let retryMs = retryMsMin;
  let retryTimer: ReturnType<Clock["setTimer"]> | null = null;
  const waitingForFailure = new Set<() => void>();
  let lastCommitMs = 0;
  const commitTimes = new Times();
  const commitRows = new Times();
  let { lastSeq } = ports;
  let unapplied = 0;
  const written: Written[] = [];
  let syncing = false;
  /** The last commit and the last sync: over, or under way. */
  let committed: Promise<void> = Promise.resolve();
  let synced: Promise<void> = Promise.resolve();
  let idleTimer: ReturnType<Clock["setTimer"]> | null = null;

  /** Whether a written job waits for a sync. */
  const isPending = ({ until }: Job) => until === "durable" && !store.syncsItself;
  const isIdle = () => queue.length === 0 && written.length === 0 && !syncing;

  function submit(
    events: readonly NewEvent[],
    writes: readonly StoreWrite[],
    stays: boolean,
    until: Until,
  ): Promise<readonly number[]> {
    return new Promise((done, failed) => {
      if (stopped) return failed(closedError());
      if (failure !== null && !stays) return failed(failure);
      queue.push({ events, writes, stays, until, done, failed });
      schedule();
    });
  }

  function schedule(): void {
    if (scheduled || committing || failure !== null || queue.length === 0) return;
    scheduled = true;
    ports.scheduler.soon(() => {
      scheduled = false;
      // `commitNext` handles every error itself.
      committed = commitNext();
    });
  }

  /** The next jobs that fit one commit; at least one. */
  function take(): Job[] {
    let rows = 0;
    let count = 0;
    for (const job of queue) {
      const size = job.events.length + job.writes.length;
      if (count > 0 && rows + size > limits.commitRowsMax) break;
      rows += size;
      count += 1;
    }
    return queue.splice(0, count);
  }

  async function commitNext(): Promise<void> {
    const jobs = take();
    const writes: StoreWrite[] = [];
    for (const job of jobs) {
      for (const { write } of job.events) writes.push(write);
      for (const write of job.writes) writes.push(write);
    }
    committing = true;
    const startedAt = clock.monotonic();
    try {
      const numbers = writes.length === 0 ? [] : await commit(writes);
      const waits = jobs.some(isPending);
      const note = () => noteCommit(clock.monotonic() - startedAt, writes.length);
      if (!waits) note();
      settle(jobs, numbers, note);
    } catch (error) {
      fail(jobs, asStoreError(error));
    } finally {
      committing = false;
      schedule();
    }
  }

  /** The answers to the writes. A commit that was made and then threw counts as made. */
  async function commit(writes: readonly StoreWrite[]): Promise<readonly number[]> {
    try {
      return await store.commit(writes, "ordered");
    } catch (error) {
      const answers = await store.answersTo(writes);
      if (answers === null) throw error;
      log("warn", "store.unanswered", { rows: writes.length, error: String(error) });
      return answers;
    }
  }

  function noteCommit(ms: number, rows: number): void {
    if (rows === 0) return;
    lastCommitMs = ms;
    commitTimes.add(ms);
    commitRows.add(rows);
    ports.events.emit.committed?.(ms, rows);
  }

  /** Passes the events on; jobs that wait for it are done when the store has synced. */
  function settle(jobs: readonly Job[], numbers: readonly number[], synced: () => void): void {
    const entries: HostEntry[] = [];
    let at = 0;
    const answered = jobs.map((job) => {
      const answer = numbers.slice(at, at + job.events.length);
      at += job.events.length;
      job.events.forEach((event, index) => {
        const seq = answer[index] as number;
        lastSeq = Math.max(lastSeq, seq);
        if (seq > 0 && event.write.code === undefined) entries.push(entryOf(event, seq));
      });
      // A mark that was there already answers 0.
      for (const { kind } of job.writes) {
        if (kind === "applied" && numbers[at] === 1) unapplied -= 1;
        at += 1;
      }
      return { job, done: () => job.done(answer) };
    });
    unapplied += entries.length;
    if (entries.length > 0) ports.startGate.pass(entries);
    const waiting = answered.filter(({ job }) => isPending(job));
    for (const { job, done } of answered) if (!isPending(job)) done();
    if (waiting.length === 0) {
      syncLater();
      return;
    }
    written.push({
      done() {
        synced();
        for (const { done } of waiting) done();
      },
      failed(error) {
        for (const { job } of waiting) job.failed(error);
      },
    });
    sync();
  }

  /** Syncs until nobody waits for it. */
  function sync(): void {
    if (syncing || failure !== null) return;
    syncing = true;
    synced = syncAll();
  }

  /** It handles every error itself. */
  async function syncAll(): Promise<void> {
    try {
      while (written.length > 0) {
        const covered = written.length;
        await store.sync();
        for (const { done } of written.splice(0, covered)) done();
      }
    } catch (error) {
      // What is written stays: it is durable when the store has repaired itself.
      fail([], asStoreError(error));
    } finally {
      syncing = false;
    }
  }

  function syncLater(): void {
    if (store.syncsItself || idleTimer !== null || written.length > 0 || stopped) return;
    idleTimer = clock.setTimer(clock.now() + idleSyncMs, () => {
      idleTimer = null;
      syncForNobody();
    });
  }

  function syncForNobody(): void {
    written.push({ done: () => undefined, failed: () => undefined });
    sync();
  }

  function fail(jobs: readonly Job[], error: EarshotError): void {
    if (failure === null) {
      log("error", "store.failing", { code: error.code, reason: error.message });
      ports.onHealth(error);
    }
    failure = error;
    for (const call of waitingForFailure) call();
    waitingForFailure.clear();
    const waiting = [...jobs, ...queue.splice(0)];
    queue.push(...waiting.filter((job) => job.stays));
    for (const job of waiting) if (!job.stays) job.failed(error);
    // A sync and a commit may fail at the same time.
    if (retryTimer !== null) return;
    retryTimer = clock.setTimer(clock.now() + retryMs, retry);
    retryMs = Math.min(retryMs * 2, retryMsMax);
  }

  function mayAct(): boolean {
    if (stopped || failure?.code === "EAR_STATE_LOCKED") return false;
    try {
      store.checkOwner();
      return true;
    } catch (error) {
      fail([], asStoreError(error));
      return false;
    }
  }

  function retry(): void {
    retryTimer = null;
    // What is damaged stays so until somebody acts: another attempt may only damage more.
    if (stopped || failure?.disposition === "terminal") return;
    const probe = async () => {
      await store.commit([{ kind: "meta", name: "probe", value: String(clock.now()) }]);
      failure = null;
      retryMs = retryMsMin;
      log("info", "store.working", {});
      ports.onHealth(null);
      schedule();
      sync();
    };
    probe().catch((error: unknown) => {
      fail([], error instanceof EarshotError ? error : (failure as EarshotError));
    });
  }

  return {
    offer: (events, writes = []) => submit(events, writes, false, "durable"),
    append: (events, writes = [], until = "durable") => submit(events, writes, true, until),
    async keep(writes, until = "durable") {
      if (writes.length > 0) await submit([], writes, true, until);
    },
    synced: () =>
      new Promise((done, failed) => {
        if (stopped) return failed(closedError());
        if (store.syncsItself) return done();
        const last = () => (mayAct() ? done() : failed(failure ?? closedError()));
        written.push({ done: last, failed });
        sync();
      }),
    syncAhead() {
      if (!store.syncsItself && !stopped) syncForNobody();
    },
    mayAct,
    failing: () => failure,
    onceFailing(call) {
      if (failure !== null) call();
      else waitingForFailure.add(call);
      return () => waitingForFailure.delete(call);
    },
    isQuiet: () => !committing && (isIdle() || failure !== null),
    lastCommitMs: () => lastCommitMs,
    commits: () => ({ msP99: commitTimes.quantile(0.99), rows: commitRows.quantile(0.5) }),
    lastSeq: () => lastSeq,
    unapplied: () => unapplied,
    foundUnapplied(events) {
      unapplied += events;
    },
    async stop() {
      while (!stopped && failure === null && (committing || !isIdle())) {
        await Promise.all([committed, synced]);
        await nextTurn(ports.scheduler);
      }
      stopped = true;
      if (retryTimer !== null) clock.clearTimer(retryTimer);
      if (idleTimer !== null) clock.clearTimer(idleTimer);
      for (const job of [...queue.splice(0), ...written.splice(0)]) job.failed(closedError());
    },
  };
}

function asStoreError(error: unknown): EarshotError {
  if (error instanceof EarshotError) return error;
  return new EarshotError("EAR_STORE_FAILED", "Cannot write the journal", { cause: error });
}

function closedError(): EarshotError {
  return new EarshotError(
    "EAR_STORE_FAILED",
    "Cannot write the journal: the runtime has stopped. Nothing was stored.",
  );
}
