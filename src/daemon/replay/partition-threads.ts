/**
 * Threads for strands
 * ===================
 * Starts a thread for each strand of a replay and hands out what they tell, batch by batch. One that
 * is taken is acknowledged, which lets its thread go on: so little waits here however fast the
 * threads are. All of them are ended at the end, whatever they are doing.
 */

import { Worker } from "node:worker_threads";
import type { Batch } from "../../actors/simulation/activity-log.ts";
import type { StrandSource } from "../../actors/simulation/merge-partitions.ts";
import type { StrandPlan } from "../../actors/simulation/partition.ts";
import { moduleLoader } from "../../actors/supervisor/worker-pool.ts";
import type { ScenarioFile } from "../../adapters/files/scenario-file.ts";
import { EarshotError } from "../../domain/errors.ts";
import { isSource, partitionWorker } from "../state/package-files.ts";
import type { StrandOptions } from "./partition-run.ts";
import type { StrandAnswer, StrandTask } from "./partition-worker.ts";

export interface StrandThreads {
  readonly sources: readonly StrandSource[];
  end(): Promise<void>;
}

export function startStrands(
  file: ScenarioFile,
  plan: StrandPlan,
  options: StrandOptions,
): StrandThreads {
  const { at, lines: _, ...outline } = file;
  // One copy for all threads.
  const places = new Uint8Array(new SharedArrayBuffer(plan.lines.length));
  places.set(plan.lines);
  const shared = { ...plan, lines: places };
  const threads = Array.from({ length: plan.strands }, (_strand, strand) => {
    return new StrandThread({ at, outline, plan: shared, strand, options });
  });
  return {
    sources: threads,
    end: async () => void (await Promise.all(threads.map((thread) => thread.end()))),
  };
}

class StrandThread implements StrandSource {
  readonly #worker: Worker;
  readonly #batches: Batch[] = [];
  #wake: () => void = () => undefined;
  #state: "running" | "done" | { readonly failed: string } = "running";

  constructor(task: StrandTask) {
    this.#worker = new Worker(partitionWorker, {
      workerData: task,
      execArgv: isSource ? ["--import", moduleLoader()] : [],
    });
    this.#worker.on("message", (answer: StrandAnswer) => this.#answered(answer));
    this.#worker.on("error", (error) => this.#over({ failed: error.message }));
    this.#worker.on("exit", () => this.#over({ failed: "its thread has ended" }));
  }

  async next(): Promise<Batch | null> {
    while (this.#batches.length === 0 && this.#state === "running")
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    const batch = this.#batches.shift();
    if (batch !== undefined) {
      this.#worker.postMessage("taken");
      return batch;
    }
    if (typeof this.#state === "string") return null;
    throw new EarshotError("EAR_HOST_LOST", `Cannot go on in strands as ${this.#state.failed}`);
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #answered(answer: StrandAnswer): void {
    if (answer.type === "batch") {
      this.#batches.push(answer.batch);
      this.#wake();
    } else if (answer.type === "done") this.#over("done");
    else this.#over({ failed: answer.message });
  }

  #over(state: "done" | { readonly failed: string }): void {
    if (this.#state === "running") this.#state = state;
    this.#wake();
  }
}
