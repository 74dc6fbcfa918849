/** Stands in for src/actors/entries.ts in tests, so that hosts are started from the bundle. */
import { builtUrl } from "./files.ts";

export const hostWorker = builtUrl("actors/host");
export const hostPorts = builtUrl("adapters/host-ports");
