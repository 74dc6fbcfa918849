/**
 * Starting programs from any thread
 * =================================
 * On the main thread they are started directly; in a worker host by the main thread, once the host
 * has a port to it (`child-proxy.ts` says why).
 */
import type { MessagePort } from "node:worker_threads";
import type { Child, ChildSpec } from "./child.ts";

let remote: Promise<(spec: ChildSpec) => Child> | null = null;

/** From now on this thread's programs are started on the other side of the port. */
export function attachChildren(port: MessagePort): void {
  remote = import("./child-proxy.ts").then(({ childrenBehind }) => childrenBehind(port));
}

/** Starts a program, here or through the main thread. */
export async function openChild(spec: ChildSpec): Promise<Child> {
  if (remote !== null) return (await remote)(spec);
  const { startChild } = await import("./child.ts");
  return startChild(spec);
}
