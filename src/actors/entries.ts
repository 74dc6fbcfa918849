/**
 * Where the files of worker hosts are
 * ===================================
 * The only file of this layer that finds other files relative to itself. It must stay one folder
 * below src: in the package this code is in dist/chunks, where the same relative path must be
 * right.
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
