/**
 * Work with a time limit
 * ======================
 * Waiting for others (a platform, a plugin, a program, a host) has an end.
 * Time is that of the clock that is given, so a simulation's limits are kept in its own time. A
 * time in which this process stood still does not count.
 */
import type { Clock } from "./system.ts";

/** What comes of work that is not done in time. */
export const late: unique symbol = Symbol("late");

/**
 * The result of the work, or `late` once `ms` have passed. Work that is given as a function gets a
 * signal, which is aborted at that moment. What late work says afterwards, also that it failed, is
 * ignored.
 */
export function within<Result>(
  clock: Clock,
  ms: number,
  work: Promise<Result> | ((signal: AbortSignal) => Promise<Result>),
  reason: () => Error = () => new Error("took too long"),
): Promise<Result | typeof late> {
  const stop = typeof work === "function" ? new AbortController() : null;
  return new Promise((resolve, reject) => {
    const timer = clock.setLimit(ms, () => {
      stop?.abort(reason());
      resolve(late);
    });
    const settle = (act: () => void) => {
      clock.clearTimer(timer);
      act();
    };
    const begun = stop !== null && typeof work === "function" ? work(stop.signal) : work;
    (begun as Promise<Result>).then(
      (result) => settle(() => resolve(result)),
      (error: unknown) => settle(() => reject(error)),
    );
  });
}
