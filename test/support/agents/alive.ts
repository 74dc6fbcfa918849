/** What has become of a process. */
import { readFileSync } from "node:fs";

/** Whether a process is there, be it as a zombie that its parent has not collected. */
export function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Whether it runs. Orphans are collected by the system's first process, in its own time. */
export function running(pid: number): boolean {
  if (!alive(pid)) return false;
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return alive(pid);
  }
}
