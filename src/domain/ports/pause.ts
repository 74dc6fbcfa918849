/**
 * Pauses on the runtime's clock, for retries. They end early, without an error, when the signal
 * aborts: the caller checks the signal before it continues.
 */
import type { Clock, Random } from "./system.ts";

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

/** A pause after the first failure, and the longest one, in ms. */
export interface Backoff {
  readonly msMin: number;
  readonly msMax: number;
}

/**
 * The pause before the next try: twice as long after each failure, less up to half of it at random, so
 * that many who failed at once do not come back at once.
 * @param failures in a row, before the one that it is for
 * @param askedMs what the other side asked to wait at least
 */
export function backOff(
  { clock, random }: { readonly clock: Clock; readonly random: Random },
  { msMin, msMax }: Backoff,
  failures: number,
  signal: AbortSignal,
  askedMs = 0,
): Promise<void> {
  const whole = Math.min(msMax, msMin * 2 ** Math.min(failures, 10));
  const ms = Math.max(askedMs, whole * (0.5 + random.next() / 2));
  return pauseFor(clock, ms, signal);
}
