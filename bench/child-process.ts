/** What benches ask of a process of their own. Linux only: processor time is read from /proc. */
import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";

/** Resolves when the daemon at a port is ready. @throws when it ends first. */
export async function untilReady(child: ChildProcess, port: number): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`the daemon ended with ${child.exitCode}`);
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (ready) return;
    await new Promise((next) => setTimeout(next, 5));
  }
}

/** Processor time of a process so far, in ms. */
export function busyMs(pid: number): number {
  const [, rest = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
  const [user, system] = rest.split(" ").slice(11, 13);
  // In ticks of 10 ms on every Linux that Node runs on.
  return (Number(user) + Number(system)) * 10;
}
