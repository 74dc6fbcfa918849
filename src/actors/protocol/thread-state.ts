/**
 * Whether a thread works, waits for something, or waits for a processor, from Linux (proc(5),
 * `/proc/self/task/<id>/stat`). This distinguishes a host that hangs from one that gets no
 * processor time. On other systems nothing is known, and only the host's silence counts.
 */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

export interface ThreadWork {
  /** Processor time so far, ms; counted in steps of 10. */
  readonly cpuMs: number;
  /** It works, or would if it had a processor; otherwise it waits for something. */
  readonly runnable: boolean;
}

/** A clock tick of `stat`: 100 a second on every machine that Node runs on. */
const tickMs = 10;
const stateField = 0;
const userField = 11;
const systemField = 12;

/** The system's number of the calling thread; 0: unknown. */
export function currentThread(): number {
  try {
    // The calling thread itself makes this synchronous call.
    const [, id = ""] = /\/task\/(\d+)$/u.exec(readlinkSync("/proc/thread-self")) ?? [];
    return Number(id);
  } catch {
    return 0;
  }
}

/** The state of a thread of this process; null: unknown, or it is gone. */
export function threadWork(id: number): ThreadWork | null {
  if (id === 0) return null;
  let stat: string;
  try {
    stat = readFileSync(`/proc/self/task/${id}/stat`, "utf8");
  } catch {
    return null;
  }
  // A thread's name is in brackets and may hold any character.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields[userField]) + Number(fields[systemField]);
  if (!Number.isFinite(ticks)) return null;
  return { cpuMs: ticks * tickMs, runnable: fields[stateField] === "R" };
}

/** What all threads of this process had of the processors, and what they waited for one, ms. */
export interface ProcessWork {
  readonly cpuMs: number;
  /** Of the threads that are there now; 0 where the system does not say. */
  readonly waitedMs: number;
}

export function processWork(): ProcessWork {
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1_000, waitedMs: waitedMs() };
}

const waitedField = 1;

/** From `/proc/self/task/<id>/schedstat`, in nanoseconds. */
function waitedMs(): number {
  let sum = 0;
  for (const id of threads()) {
    try {
      const stat = readFileSync(`/proc/self/task/${id}/schedstat`, "utf8");
      sum += Number(stat.split(" ")[waitedField] ?? 0) / 1e6;
    } catch {
      // The thread has ended meanwhile, or this kernel does not count.
    }
  }
  return sum;
}

function threads(): string[] {
  try {
    return readdirSync("/proc/self/task");
  } catch {
    return [];
  }
}
