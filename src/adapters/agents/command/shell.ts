/**
 * A command line of an owner, for `/bash`: a shell in a process group of its own, with no secret in
 * its environment. Standard error is part of the output, in order.
 */
import { stripVTControlCharacters } from "node:util";
import type { ShellEnd, ShellOrder } from "../../../domain/ports/index.ts";
import { startChild } from "./child.ts";

/** Runs a command line to its end, to the limit of time, or until the signal aborts. Never rejects. */
export async function runShell(order: ShellOrder): Promise<ShellEnd> {
  const { command, cwd, msMax, bytesMax, signal } = order;
  // A line of its own: a comment at its end must not swallow anything.
  const script = `exec 2>&1\n${command}\n`;
  const child = startChild({ command: "/bin/sh", args: ["-c", script], cwd, env: [] });
  child.closeInput();
  let why: ShellEnd["why"] = "ended";
  const stop = (reason: ShellEnd["why"]) => {
    if (why !== "ended") return;
    why = reason;
    void child.stop();
  };
  const onAbort = () => stop("stopped");
  signal.addEventListener("abort", onAbort);
  if (signal.aborted) onAbort();
  const timer = setTimeout(() => stop("time"), msMax);
  const { output, isCut } = await tailOf(child.output, bytesMax);
  const { code, problem } = await child.ended;
  clearTimeout(timer);
  signal.removeEventListener("abort", onAbort);
  return { why, code, problem, output: stripVTControlCharacters(output), isCut };
}

/** The end of what a program prints; nothing more of it is kept in memory. */
async function tailOf(output: AsyncIterable<Uint8Array>, bytesMax: number) {
  let tail = Buffer.alloc(0);
  let isCut = false;
  for await (const part of output) {
    const whole = Buffer.concat([tail, part]);
    isCut ||= whole.length > bytesMax;
    tail = Buffer.from(whole.subarray(-bytesMax));
  }
  // A cut may have split the first character.
  const text = tail.toString("utf8");
  return { output: isCut ? text.replace(/^\uFFFD+/u, "") : text, isCut };
}
