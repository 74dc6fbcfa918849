/**
 * What a start leaves behind in a thread: sources that were read, modules that were compiled, and the room
 * that young objects got while all of it lived. A thread that then has nothing to do would keep it,
 * because V8 collects garbage only when something asks for memory. What lived between is spread over many
 * pages afterwards, so it is moved together, too: only empty pages are given back.
 *
 * Half of what was compiled ran once. V8 lets go of such code after several collections, for which an idle thread
 * has no cause, so all is let go of at once: what is called again is compiled again, in a millisecond or two.
 */
import { performance } from "node:perf_hooks";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** A thread with more in use has work, and its own collections; one of this takes 20 ms. */
const usedBytesMax = 33_554_432;
/** A thread that worked for more than this share of the time is busy. */
const idleShareMax = 0.1;

/** Gives back what the start left in this thread. How busy the thread is, is counted from now on. */
export function afterStart(): () => void {
  const start = performance.eventLoopUtilization();
  return () => {
    const { utilization } = performance.eventLoopUtilization(start);
    collectStartGarbage(utilization <= idleShareMax);
  };
}

type Collect = (() => void) | undefined;

/**
 * Collects the garbage of this thread, if there is little in use.
 *
 * @param isIdle false keeps what was compiled: a busy thread would have to compile it again before it goes on.
 */
export function collectStartGarbage(isIdle: boolean): void {
  if (getHeapStatistics().used_heap_size > usedBytesMax) return;
  let collect: Collect = globalThis.gc;
  if (collect === undefined) {
    setFlagsFromString("--expose-gc");
    collect = runInNewContext("globalThis.gc") as Collect;
    setFlagsFromString("--no-expose-gc");
  }
  // Undefined if another thread has taken the flag back meanwhile: the garbage stays.
  if (collect === undefined) return;
  const how = ["compact-on-every-full-gc", ...(isIdle ? ["stress-flush-code"] : [])];
  for (const flag of how) setFlagsFromString(`--${flag}`);
  collect();
  for (const flag of how) setFlagsFromString(`--no-${flag}`);
}
