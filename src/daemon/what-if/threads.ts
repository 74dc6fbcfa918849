/**
 * Threads for What-if
 * ===================
 * A try needs a thread that can be ended at once, and the next try comes a moment later: so a thread
 * that is done stays warm for a while. One that is called off is ended, whatever it was doing, which
 * harms nobody: it holds nothing.
 */

import { Worker } from "node:worker_threads";
import { moduleLoader } from "../../actors/supervisor/worker-pool.ts";
import { EarshotError } from "../../domain/errors.ts";
import type { Clock, TimerHandle } from "../../domain/ports/index.ts";
import { isSource, whatIfWorker } from "../state/package-files.ts";
import type { WhatIfAnswer, WhatIfTask } from "./worker.ts";

export type WhatIfDone = Exclude<WhatIfAnswer, { type: "progress" | "failed" }>;

export interface WhatIfThreads {
  /**
   * Runs a task; `share` is told how much of it is done.
   * @throws EarshotError EAR_USAGE with the thread's own words, or when too many run; the reason of
   * `signal`.
   */
  run(task: WhatIfTask, share: (of: number) => void, signal: AbortSignal): Promise<WhatIfDone>;
  close(): void;
}

/** Each has a core to itself while it runs. */
const runsMax = 2;
const memoryMb = 768;
const warmMs = 60_000;

interface Warm {
  readonly worker: Worker;
  readonly timer: TimerHandle;
  readonly drop: () => void;
}

export function createThreads(clock: Clock): WhatIfThreads {
  const running = new Set<Worker>();
  let warm: Warm[] = [];

  function start(): Worker {
    return new Worker(whatIfWorker, {
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
      execArgv: isSource ? ["--import", moduleLoader()] : [],
    });
  }

  function take(): Worker {
    const kept = warm.pop();
    if (kept === undefined) return start();
    clock.clearTimer(kept.timer);
    kept.worker.off("error", kept.drop);
    kept.worker.ref();
    return kept.worker;
  }

  function keep(worker: Worker): void {
    const drop = () => {
      warm = warm.filter((one) => one.worker !== worker);
      void worker.terminate();
    };
    // A thread that fails with nothing to do is simply gone.
    worker.on("error", drop);
    worker.unref();
    warm.push({ worker, drop, timer: clock.setTimer(clock.now() + warmMs, drop) });
  }

  return {
    run(task, share, signal) {
      if (running.size >= runsMax)
        throw new EarshotError(
          "EAR_USAGE",
          "Cannot replay now as others do: try again in a moment",
        );
      signal.throwIfAborted();
      const worker = take();
      running.add(worker);
      return new Promise((done, failed) => {
        const end = (isFine: boolean) => {
          signal.removeEventListener("abort", abort);
          worker.off("message", answered).off("error", failing).off("exit", gone);
          running.delete(worker);
          if (isFine) return keep(worker);
          // What it still says about its end is of no interest to anyone.
          worker.on("error", () => undefined);
          void worker.terminate();
        };
        const abort = () => {
          end(false);
          failed(signal.reason);
        };
        const broken = (why: string) => {
          end(false);
          failed(new EarshotError("EAR_USAGE", `Cannot replay that: ${why}`));
        };
        const answered = (answer: WhatIfAnswer) => {
          if (answer.type === "progress") return share(answer.share);
          end(answer.type !== "failed");
          if (answer.type === "failed") failed(new EarshotError("EAR_USAGE", answer.message));
          else done(answer);
        };
        const failing = (error: Error) => broken(error.message);
        const gone = () => broken("its thread has ended");
        signal.addEventListener("abort", abort);
        worker.on("message", answered).on("error", failing).on("exit", gone);
        worker.postMessage(task);
      });
    },
    close() {
      for (const { worker, timer } of warm) {
        clock.clearTimer(timer);
        void worker.terminate();
      }
      for (const worker of running) void worker.terminate();
      warm = [];
    },
  };
}
