/**
 * Combines a caller's abort signal and a time limit into one signal, released when the call is
 * over. `AbortSignal.any` of Node 20 would keep an entry on the long-lived signal for every call
 * ever made.
 */
import { createSystemClock } from "../system/clock.ts";

export interface Deadline {
  readonly signal: AbortSignal;
  /** Releases the caller's signal and the timer. */
  done(): void;
}

/** A signal that aborts with `parent` or after `ms`, whichever is first. */
export function deadline(parent: AbortSignal, ms: number): Deadline {
  const stop = new AbortController();
  const abort = () => stop.abort(parent.reason);
  const clock = createSystemClock();
  const late = () => stop.abort(new DOMException("timed out", "TimeoutError"));
  const timer = clock.setLimit(ms, late);
  if (parent.aborted) abort();
  else parent.addEventListener("abort", abort, { once: true });
  return {
    signal: stop.signal,
    done() {
      clock.clearTimer(timer);
      parent.removeEventListener("abort", abort);
    },
  };
}
