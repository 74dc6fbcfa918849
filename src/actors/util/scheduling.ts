/**
 * Runs work after everything that can run now has run: Node's event loop has then served sockets
 * and files.
 */
import type { Scheduler } from "../../domain/ports/index.ts";

export const eventLoop: Scheduler = { soon: (work) => void setImmediate(work) };

/** Resolves when everything that can run now has run. */
export const nextTurn = (scheduler: Scheduler): Promise<void> =>
  new Promise((resolve) => scheduler.soon(resolve));
