/** A node that is a built daemon in a process of its own. */

import { type ChildProcess, spawn } from "node:child_process";
import { builtMain } from "../built/files.ts";
import { childFlags } from "../child-flags.ts";

export interface DaemonProcess {
  /** Its state directory. */
  readonly folder: string;
  process: ChildProcess | null;
}

const loggedUnitsMax = 20_000;

export const isRunning = ({ process: child }: DaemonProcess): boolean =>
  child !== null && child.exitCode === null && child.signalCode === null;

/** Starts it unless it runs; resolves when it takes messages. What it logs goes to the end of `world.logged`. */
export async function startProcess(node: DaemonProcess, world: { logged: string }): Promise<void> {
  if (isRunning(node)) return;
  const start = ["start", "--state-dir", node.folder, "--workers", "0"];
  const args = [...childFlags, builtMain, ...start];
  const child = spawn(process.execPath, [...args, "--log-format", "json"], {
    cwd: node.folder,
    env: { PATH: process.env.PATH, HOME: node.folder },
    stdio: ["ignore", "pipe", "pipe"],
  });
  node.process = child;
  child.stdout.resume();
  await new Promise<void>((ready, ended) => {
    child.once("exit", (code) => ended(new Error(`it ended (${code}): ${world.logged}`)));
    child.stderr.on("data", (text) => {
      world.logged = (world.logged + String(text)).slice(-loggedUnitsMax);
      if (String(text).includes("daemon.ready")) ready();
    });
  });
}
