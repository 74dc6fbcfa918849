/**
 * What a thread does
 * ==================
 * Whether a thread works, waits for something, or waits for a processor, as Linux tells it of each
 * (proc(5), `/proc/self/task/<id>/stat`). So a host that hangs can be told from one that the machine
 * has no time for. Elsewhere nothing is known, and a host is judged by its silence alone.
 */
import { readFileSync, readlinkSync } from "node:fs";

export interface ThreadWork {
  /** Time on a processor so far, ms; counted in steps of 10. */
  readonly cpuMs: number;
  /** It works, or would if it were given a processor; else it waits for something. */
  readonly runnable: boolean;
}

/** A clock tick of `stat`: 100 a second on every machine that Node runs on. */
const tickMs = 10;
const stateField = 0;
const userField = 11;
const systemField = 12;

/** The number by which the system knows the calling thread; 0: unknown. */
export function currentThread(): number {
  try {
    // A synchronous call is made by this very thread.
    const [, id = ""] = /\/task\/(\d+)$/u.exec(readlinkSync("/proc/thread-self")) ?? [];
    return Number(id);
  } catch {
    return 0;
  }
}

/** How a thread of this process stands; null: unknown, or it is gone. */
export function threadWork(id: number): ThreadWork | null {
  if (id === 0) return null;
  let stat: string;
  try {
    stat = readFileSync(`/proc/self/task/${id}/stat`, "utf8");
  } catch {
    return null;
  }
  // A thread's name stands in brackets and may hold anything.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields[userField]) + Number(fields[systemField]);
  if (!Number.isFinite(ticks)) return null;
  return { cpuMs: ticks * tickMs, runnable: fields[stateField] === "R" };
}
