/**
 * Where the files of worker hosts are
 * ===================================
 * The only place of this layer that finds files beside itself. It has to stay one folder below src:
 * in the package this code stands in dist/chunks, where the same relative path has to be right.
 */
const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
const isSource = extension === "ts";

/** What a worker thread runs. */
export const hostWorker = new URL(
  isSource ? "../actors/host/worker.ts" : "../actors/host.js",
  import.meta.url,
);

/** Drivers and clock of the hosts. */
export const hostPorts = new URL(`../adapters/host-ports.${extension}`, import.meta.url);
