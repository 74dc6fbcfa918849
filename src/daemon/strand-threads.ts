/**
 * Threads for strands
 * ===================
 * Starts a thread for each strand of a replay and hands out what they tell, batch by batch. One that
 * is taken is acknowledged, which lets its thread go on: so little waits here however fast the
 * threads are. All of them are ended at the end, whatever they are doing.
 */
import { Worker } from "node:worker_threads";
import { moduleLoader } from "../actors/pool.ts";
import type { Batch } from "../actors/simulation.activities.ts";
import type { StrandSource } from "../actors/simulation.braid.ts";
import type { StrandPlan } from "../actors/simulation.plan.ts";
import type { ScenarioFile } from "../adapters/scenario-file.ts";
import { EarshotError } from "../domain/errors.ts";
import type { StrandOptions } from "./strand.ts";
import type { StrandAnswer, StrandTask } from "./strand-worker.ts";

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
    const source = import.meta.url.endsWith(".ts");
    const entry = new URL(`../daemon/strand-worker.${source ? "ts" : "js"}`, import.meta.url);
    this.#worker = new Worker(entry, {
      workerData: task,
      execArgv: source ? ["--import", moduleLoader()] : [],
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
