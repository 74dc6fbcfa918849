/** What the daemon holds at one moment: in memory, in the system's tables and on the disk. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { SoakDaemon } from "./daemon.ts";

/**
 * What is measured. Memory is that of the main thread and of the host, each after a garbage
 * collection; the other sizes are those of files.
 */
export const quantities = [
  { name: "heap, main thread", unit: "MB" },
  { name: "heap, host", unit: "MB" },
  { name: "outside the heaps", unit: "MB" },
  { name: "RSS", unit: "MB" },
  { name: "handles", unit: "" },
  { name: "timers", unit: "" },
  { name: "descriptors", unit: "" },
  { name: "WAL", unit: "MB" },
  { name: "database", unit: "MB" },
  { name: "search index", unit: "MB" },
  { name: "transcripts", unit: "MB" },
  { name: "log", unit: "MB" },
] as const;
export type Quantity = (typeof quantities)[number]["name"];

export interface Sample {
  /** Seconds since the start. */
  readonly at: number;
  /** Messages that were acknowledged, and turns that the agent has had, up to here. */
  readonly messages: number;
  readonly answers: number;
  /** Bytes or counts. */
  readonly values: Readonly<Record<Quantity, number>>;
}

function bytesOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function bytesBelow(folder: string): number {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true }))
    if (entry.isFile()) bytes += bytesOf(join(entry.parentPath, entry.name));
  return bytes;
}

/** Null: the daemon did not answer in time. Linux only: descriptors are read from /proc. */
export async function sample(
  daemon: SoakDaemon,
  stateDir: string,
  progress: Pick<Sample, "at" | "messages" | "answers">,
): Promise<Sample | null> {
  const measured = await daemon.measure();
  if (measured === null) return null;
  const { main, host } = measured;
  const file = (name: string) => bytesOf(join(stateDir, name));
  return {
    ...progress,
    values: {
      "heap, main thread": main.heap,
      "heap, host": host.heap,
      "outside the heaps": main.external + host.external,
      RSS: main.rss,
      handles: main.handles,
      timers: main.timers,
      descriptors: readdirSync(`/proc/${daemon.pid}/fd`).length,
      WAL: file("earshot.db-wal"),
      database: file("earshot.db"),
      "search index": file("earshot.search.db") + file("earshot.search.db-wal"),
      transcripts: bytesBelow(join(stateDir, "agents")),
      log: file("daemon.log"),
    },
  };
}
