/**
 * Deadlines
 * =========
 * A caller's abort signal and a time limit as one signal, undone when the call is over. Written out
 * because `AbortSignal.any` on Node 20 keeps an entry on the long-lived signal for every call ever
 * made.
 */

export interface Deadline {
  readonly signal: AbortSignal;
  /** Lets go of the caller's signal and the timer. */
  done(): void;
}

/** A signal that aborts with `parent` or after `ms`, whichever is first. */
export function deadline(parent: AbortSignal, ms: number): Deadline {
  const stop = new AbortController();
  const give = () => stop.abort(parent.reason);
  const timer = setTimeout(() => stop.abort(new DOMException("timed out", "TimeoutError")), ms);
  if (parent.aborted) give();
  else parent.addEventListener("abort", give, { once: true });
  return {
    signal: stop.signal,
    done() {
      clearTimeout(timer);
      parent.removeEventListener("abort", give);
    },
  };
}
