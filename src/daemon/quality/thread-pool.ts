/** Threads that play labelled rooms. */
import { availableParallelism } from "node:os";
import { Piscina } from "piscina";
import { loaderFor } from "../../actors/supervisor/worker-pool.ts";
import type { LabelledRoom } from "../../domain/quality/labelled-room.ts";
import { qualityWorker } from "../state/worker-entries.ts";

/** Fewer decisions are quicker without another thread. */
export const threadsFromDecisions = 50_000;

/** Lines that are decided: each by every agent of the room. */
export const linesToDecide = ({ lines, agents }: LabelledRoom): number =>
  lines.length * agents.length;

/** As many threads as there are cores; no more than `threads`. */
export function openPool(threads: number): Piscina {
  return new Piscina({
    filename: qualityWorker.href,
    maxThreads: Math.max(1, Math.min(availableParallelism(), threads)),
    execArgv: loaderFor(qualityWorker),
    // No thread needs a secret.
    env: {},
  });
}
