/**
 * What a worker thread gets from outside: agents and a clock, nothing else. Hosts import this
 * module by its URL on their first turn, so a thread that only decides never loads a driver.
 * `serve` is its counterpart on the main thread.
 */
import type { MessagePort } from "node:worker_threads";
import { serveChildren } from "./agents/command/child-proxy.ts";
import { attachChildren } from "./agents/command/children.ts";

export { drivers } from "./agents/index.ts";
export { createSystemClock } from "./system/clock.ts";

/** Connects this thread's drivers to the main thread. */
export const attach: (outside: MessagePort) => void = attachChildren;
export const serve: typeof serveChildren = serveChildren;
