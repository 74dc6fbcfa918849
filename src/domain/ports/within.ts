/**
 * Work with an end
 * ================
 * Waiting for others (a platform, a plugin, a program, a host) has an end: a time, or a signal.
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

/**
 * The result of the work, or the signal's reason as an error if that comes first. What the work says
 * afterwards is ignored. Signals may outlive all work: nothing stays on this one.
 */
export function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const give = () => reject(signal.reason);
    signal.addEventListener("abort", give, { once: true });
    if (signal.aborted) give();
    void work.then(resolve, reject).finally(() => signal.removeEventListener("abort", give));
  });
}

/** Work with a signal that aborts with either of two, on which nothing stays. */
export async function withEither<Result>(
  signals: readonly [AbortSignal, AbortSignal],
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const either = new AbortController();
  const abort = () => either.abort(signals.find(({ aborted }) => aborted)?.reason);
  for (const signal of signals) signal.addEventListener("abort", abort);
  if (signals.some(({ aborted }) => aborted)) abort();
  try {
    return await work(either.signal);
  } finally {
    for (const signal of signals) signal.removeEventListener("abort", abort);
  }
}
