/**
 * At once, and soon
 * =================
 * At once: after whoever runs now, and before anything else. As `queueMicrotask`, but by way of a
 * promise, which costs a third of it in Node.
 *
 * Soon: when everything that can run has run. A turn of the event loop says so, and costs system
 * calls; where no other thread has a part in it, Node's queue of ticks says the same for nothing.
 */
import type { Pace } from "./runtime.types.ts";

const now = Promise.resolve();
/** Ticks until files, signals and whoever else waits for the event loop have their turn. */
const ticksInARow = 64;

/** Calls it as soon as the stack is empty. It must not throw. */
export function atOnce(work: () => void): void {
  void now.then(work);
}

/** Calls it when everything has run that can run now. It must not throw. */
export function soon(pace: Pace | undefined, work: () => void): void {
  if (pace === undefined) setImmediate(work);
  else if (pace.straight) atOnce(work);
  else pace.soon(work);
}

/** Resolves when everything has run that can run now. */
export function breath(pace?: Pace): Promise<void> {
  return new Promise((resolve) => {
    if (pace === undefined) setImmediate(resolve);
    else pace.soon(resolve);
  });
}

/** How a simulation whose hosts are on this thread waits for others. */
export function tickingSoon(): Pace["soon"] {
  let ticks = 0;
  return (work) => {
    ticks += 1;
    if (ticks % ticksInARow === 0) setImmediate(work);
    // From a promise: a tick asked for by another tick would come before what that one resolved.
    else void now.then(() => process.nextTick(work));
  };
}
