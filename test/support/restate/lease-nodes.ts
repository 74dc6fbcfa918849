/** Nodes that want one lease, in processes that can be killed and stopped, and what each has printed. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { LeaseTimes } from "../../../src/engines/restate/leases/connection-leases.ts";

export interface LeaseLine {
  /** ms of a clock that all processes share. */
  readonly at: number;
  readonly what:
    | "listening"
    | "held"
    | "lost"
    | "holder"
    | "sent"
    | "gives back"
    | "closed"
    | "log";
  readonly epoch?: number;
  readonly holder?: string | null;
}

export interface LeaseNode {
  readonly name: string;
  /** What it has printed, oldest first. */
  readonly lines: readonly LeaseLine[];
  /** Resolves to the first line after the first `from` for which this holds. */
  line(isMeant: (line: LeaseLine) => boolean, from?: number): Promise<LeaseLine>;
  signal(name: NodeJS.Signals): void;
  /** Resolves when the process is gone. */
  readonly ended: Promise<unknown>;
}

/**
 * Resolves when it listens. The program is given, as a bench has no bundled one: its arguments for Node, before its own.
 */
export async function startLeaseNode(
  program: readonly string[],
  port: number,
  ingress: string,
  name: string,
  times: LeaseTimes,
): Promise<LeaseNode> {
  const args = [...program, String(port), ingress, name, JSON.stringify(times)];
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: LeaseLine[] = [];
  let waiting: (() => void)[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => {
    lines.push(JSON.parse(line) as LeaseLine);
    const looking = waiting;
    waiting = [];
    for (const look of looking) look();
  });
  const node: LeaseNode = {
    name,
    lines,
    async line(isMeant, from = 0) {
      for (;;) {
        const found = lines.slice(from).find(isMeant);
        if (found !== undefined) return found;
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
    signal: (signal) => void child.kill(signal),
    ended: once(child, "close"),
  };
  await Promise.race([
    node.line(({ what }) => what === "listening"),
    node.ended.then(() => Promise.reject(new Error(`${name} has ended before it listened`))),
  ]);
  return node;
}

/** The sends of all nodes in the order of their time. */
export const sendsOf = (nodes: readonly LeaseNode[]) =>
  nodes
    .flatMap(({ name, lines }) =>
      lines.flatMap(({ what, at, epoch = 0 }) => (what === "sent" ? [{ at, epoch, name }] : [])),
    )
    .sort((a, b) => a.at - b.at);
