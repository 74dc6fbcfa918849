/**
 * A pause on the runtime's clock, for retries. It ends early, without an error, when the signal
 * aborts: the caller checks the signal before it continues.
 */
import type { Clock } from "./system.ts";

/** Resolves after `ms` on the given clock, or as soon as the signal aborts. Never rejects. */
export function pauseFor(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clock.clearTimer(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = clock.setTimer(clock.now() + ms, done);
    signal.addEventListener("abort", done);
    if (signal.aborted) done();
  });
}
