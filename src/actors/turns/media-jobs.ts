/**
 * Runs fetches and conversions with a limit for the daemon and a lower one per conversation, so
 * that a room full of videos does not delay other rooms. Equal jobs run once, and results are
 * remembered for the turn that needs them. A job that takes too long is abandoned.
 */
import { LRUCache } from "lru-cache";
import { limits } from "../../domain/limits.ts";
import type { Clock, TimerHandle } from "../../domain/ports/index.ts";

/** The result of a job, or the reason why there is none. */
export type Outcome<Found> = { readonly found: Found } | { readonly note: string };

export interface MediaJobRequest<Found = unknown> {
  readonly id: string;
  readonly conv: number;
  readonly msMax: number;
  readonly keep: (found: Found) => boolean;
  readonly work: (signal: AbortSignal) => Promise<Found>;
}

interface Job {
  readonly id: string;
  readonly conv: number;
  readonly msMax: number;
  readonly work: (signal: AbortSignal) => Promise<unknown>;
  readonly stop: AbortController;
  readonly done: Promise<Outcome<unknown>>;
  settle: (outcome: Outcome<unknown>) => void;
}

export interface MediaJobs {
  /**
   * Starts the job, or returns the running or finished one with the same id. `keep` false: the next
   * call runs it again. Never rejects.
   */
  run<Found>(job: MediaJobRequest<Found>): Promise<Outcome<Found>>;
  /** The result of a finished job, without starting one. */
  known<Found>(id: string): Outcome<Found> | undefined;
  /** Forgets a result: the next `run` starts again. */
  forget(id: string): void;
  /** Aborts all running jobs. */
  stop(): void;
}

export function createMediaJobs(clock: Clock): MediaJobs {
  const underWay = new Map<string, Job>();
  const over = new LRUCache<string, Outcome<unknown>>({ max: limits.mediaReadingsMax });
  const busy = new Map<number, number>();
  let running = 0;
  let waiting: Job[] = [];
  let stopped = false;

  function pump(): void {
    while (running < limits.mediaJobsMax) {
      const next = waiting.findIndex(
        ({ conv }) => (busy.get(conv) ?? 0) < limits.mediaJobsPerConversationMax,
      );
      const [job] = next === -1 ? [] : waiting.splice(next, 1);
      if (job === undefined) return;
      void perform(job);
    }
  }

  async function perform(job: Job): Promise<void> {
    running += 1;
    busy.set(job.conv, (busy.get(job.conv) ?? 0) + 1);
    const late: TimerHandle = clock.setLimit(job.msMax, () => {
      job.stop.abort(new Error("late"));
      job.settle({ note: `took longer than ${job.msMax} ms` });
    });
    try {
      job.settle({ found: await job.work(job.stop.signal) });
    } catch (error) {
      job.settle({ note: error instanceof Error ? error.message : "it failed" });
    } finally {
      clock.clearTimer(late);
      running -= 1;
      const left = (busy.get(job.conv) ?? 1) - 1;
      if (left === 0) busy.delete(job.conv);
      else busy.set(job.conv, left);
      pump();
    }
  }

  function begin({ id, conv, msMax, keep, work }: MediaJobRequest): Promise<Outcome<unknown>> {
    const known = underWay.get(id)?.done ?? over.get(id);
    if (known !== undefined) return Promise.resolve(known);
    if (stopped || waiting.length >= limits.mediaJobsWaitingMax)
      return Promise.resolve({ note: "too much is being fetched at the moment" });
    let settle: Job["settle"] = () => undefined;
    const done = new Promise<Outcome<unknown>>((resolve) => {
      settle = (outcome) => {
        underWay.delete(id);
        if (!("found" in outcome) || keep(outcome.found)) over.set(id, outcome);
        resolve(outcome);
      };
    });
    const job: Job = { id, conv, msMax, work, stop: new AbortController(), done, settle };
    underWay.set(id, job);
    waiting.push(job);
    pump();
    return done;
  }

  return {
    run: <Found>(job: MediaJobRequest<Found>) =>
      begin(job as MediaJobRequest) as Promise<Outcome<Found>>,
    known: <Found>(id: string) => over.get(id) as Outcome<Found> | undefined,
    forget: (id) => void over.delete(id),
    stop() {
      stopped = true;
      waiting = [];
      for (const { stop, settle } of [...underWay.values()]) {
        stop.abort(new Error("stopping"));
        settle({ note: "the daemon is stopping" });
      }
    },
  };
}
