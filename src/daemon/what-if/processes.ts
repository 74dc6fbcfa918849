/**
 * A run must be cancellable immediately, and the next run often follows a moment later, so a process
 * stays warm for a while after its run. A cancelled run's process is killed. It is not a thread,
 * because a simulation has a database, and ending a thread inside the SQLite driver ends the whole
 * process.
 */

import { type ChildProcess, fork } from "node:child_process";
import { loaderFor } from "../../actors/supervisor/worker-pool.ts";
import { EarshotError } from "../../domain/errors.ts";
import type { Clock, TimerHandle } from "../../domain/ports/index.ts";
import { whatIfWorker } from "../state/worker-entries.ts";
import type { WhatIfAnswer, WhatIfTask } from "./worker.ts";

export type WhatIfDone = Exclude<WhatIfAnswer, { type: "progress" | "failed" }>;

export interface WhatIfProcesses {
  /**
   * Runs a task; `share` is called with the progress (0 to 1).
   * @throws EarshotError EAR_USAGE with the process's error, or when too many run; the reason of
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
  readonly child: ChildProcess;
  readonly timer: TimerHandle;
  readonly drop: () => void;
}

export function createWhatIfProcesses(clock: Clock): WhatIfProcesses {
  const running = new Set<ChildProcess>();
  let warm: Warm[] = [];

  function start(): ChildProcess {
    return fork(whatIfWorker, {
      execArgv: [`--max-old-space-size=${memoryMb}`, ...loaderFor(whatIfWorker)],
      serialization: "advanced",
    });
  }

  function take(): ChildProcess {
    const idle = warm.pop();
    if (idle === undefined) return start();
    clock.clearTimer(idle.timer);
    idle.child.off("exit", idle.drop);
    idle.child.ref();
    idle.child.channel?.ref();
    return idle.child;
  }

  function keep(child: ChildProcess): void {
    const drop = () => {
      warm = warm.filter((item) => item.child !== child);
      clock.clearTimer(timer);
      end(child);
    };
    const timer = clock.setTimer(clock.now() + warmMs, drop);
    // An idle process that ends needs no other handling.
    child.on("exit", drop);
    child.unref();
    child.channel?.unref();
    warm.push({ child, drop, timer });
  }

  return {
    run(task, share, signal) {
      if (running.size >= runsMax)
        throw new EarshotError(
          "EAR_USAGE",
          "Cannot replay now: too many replays are running. Try again in a moment",
        );
      signal.throwIfAborted();
      const child = take();
      running.add(child);
      return new Promise((done, failed) => {
        const over = (isFine: boolean) => {
          signal.removeEventListener("abort", abort);
          child.off("message", answered).off("error", failing).off("exit", gone);
          running.delete(child);
          if (isFine) keep(child);
          else end(child);
        };
        const abort = () => {
          over(false);
          failed(signal.reason);
        };
        const broken = (why: string) => {
          over(false);
          failed(new EarshotError("EAR_USAGE", `Cannot replay that: ${why}`));
        };
        const answered = (answer: WhatIfAnswer) => {
          if (answer.type === "progress") return share(answer.share);
          over(answer.type !== "failed");
          if (answer.type === "failed") failed(new EarshotError("EAR_USAGE", answer.message));
          else done(answer);
        };
        const failing = (error: Error) => broken(error.message);
        const gone = () => broken("its process has ended");
        signal.addEventListener("abort", abort);
        child.on("message", answered).on("error", failing).on("exit", gone);
        child.send(task);
      });
    },
    close() {
      for (const { child, timer } of warm) {
        clock.clearTimer(timer);
        end(child);
      }
      for (const child of running) end(child);
      warm = [];
    },
  };
}

function end(child: ChildProcess): void {
  // Errors of a process that is being killed do not matter.
  child.on("error", () => undefined);
  child.kill("SIGKILL");
}
