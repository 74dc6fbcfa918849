/** Stands in for src/daemon/state/worker-entries.ts in tests: what the daemon starts is bundled. */
import { builtUrl } from "./files.ts";

export const whatIfWorker = builtUrl("daemon/what-if-worker");
export const qualityWorker = builtUrl("daemon/quality-worker");
