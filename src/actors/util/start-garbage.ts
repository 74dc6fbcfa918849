/**
 * What a start leaves behind in a thread: sources that were read, modules that were compiled, and the room
 * that young objects got while all of it lived. A thread that then has nothing to do would keep it,
 * because V8 collects garbage only when something asks for memory. What lived between is spread over many
 * pages afterwards, so it is moved together, too: only empty pages are given back.
 */
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** A thread with more in use has work, and its own collections; one of this takes 20 ms. */
const usedBytesMax = 33_554_432;

type Collect = (() => void) | undefined;

/** Collects the garbage of this thread, if there is little in use. */
export function collectStartGarbage(): void {
  if (getHeapStatistics().used_heap_size > usedBytesMax) return;
  let collect: Collect = globalThis.gc;
  if (collect === undefined) {
    setFlagsFromString("--expose-gc");
    collect = runInNewContext("globalThis.gc") as Collect;
    setFlagsFromString("--no-expose-gc");
  }
  // Undefined if another thread has taken the flag back meanwhile: the garbage stays.
  if (collect === undefined) return;
  setFlagsFromString("--compact-on-every-full-gc");
  collect();
  setFlagsFromString("--no-compact-on-every-full-gc");
}
