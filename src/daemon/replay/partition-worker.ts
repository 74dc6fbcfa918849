/**
 * The thread of a strand
 * ======================
 * Replays the rooms of one strand from the file and tells what they do, a batch at a time and never
 * far ahead of whoever lays the strands together. It holds nothing that anyone else needs, so it may
 * be ended at any moment.
 */
import { parentPort, workerData } from "node:worker_threads";
import type { Batch } from "../../actors/simulation/activity-log.ts";
import type { StrandPlan } from "../../actors/simulation/partition.ts";
import { type ScenarioPlace, someLines } from "../../adapters/files/scenario-file.ts";
import type { Scenario } from "../../domain/scenario/scenario.ts";
import { runStrand, type StrandOptions, strandOf } from "./partition-run.ts";

/** What the thread is started with. */
export interface StrandTask {
  readonly at: ScenarioPlace;
  readonly outline: Omit<Scenario, "lines" | "number">;
  readonly plan: StrandPlan;
  readonly strand: number;
  readonly options: StrandOptions;
}

export type StrandAnswer =
  | { readonly type: "batch"; readonly batch: Batch }
  | { readonly type: "done" }
  | { readonly type: "failed"; readonly message: string };

/** Batches that nobody has taken yet. */
const aheadMax = 8;

let ahead = 0;
let wake: () => void = () => undefined;

/** Each batch that was taken makes room for another. */
parentPort?.on("message", () => {
  ahead -= 1;
  wake();
});

async function send(batch: Batch): Promise<void> {
  tell({ type: "batch", batch });
  ahead += 1;
  while (ahead >= aheadMax)
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
}

const tell = (answer: StrandAnswer) => parentPort?.postMessage(answer);

const { at, outline, plan, strand, options } = workerData as StrandTask;
const scenario = strandOf(outline, plan, strand, (isWanted) => someLines(at, isWanted));
runStrand(scenario, options, send).then(
  () => tell({ type: "done" }),
  (error: unknown) =>
    tell({ type: "failed", message: error instanceof Error ? error.message : String(error) }),
);
