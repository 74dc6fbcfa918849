/**
 * Limits on the silence of others. A time in which the whole process stood still (SIGSTOP, a
 * sleeping machine) is nobody's silence: it does not count, and what arrived meanwhile is read
 * before the limit ends.
 */

/** The longest time between two looks, ms. */
const sliceMsMax = 1_000;
/** A look that comes later than this may have found the process standing still, ms. */
const lateMsMin = 500;
/** Counts for a late look at least, so that every limit ends, ms. */
const cpuMsMin = 1;

/** The clocks and the timer that a limit is made of; tests replace them. */
export interface LimitTimers {
  monotonic(): number;
  /** Processor time that the process has used, ms. */
  cpu(): number;
  /** Arms the one timer. */
  arm(ms: number, fire: () => void): void;
}

/**
 * Calls `fire` once, after `ms` that the process had. The time is counted in slices. Of one that
 * ends late only the processor time counts, so a limit ends also on a machine that is always late.
 */
export function runTimeLimit(timers: LimitTimers, ms: number, fire: () => void): void {
  let left = ms;
  const next = () => {
    const slice = Math.min(left, sliceMsMax);
    const since = timers.monotonic();
    const cpu = timers.cpu();
    timers.arm(slice, () => {
      const late = timers.monotonic() - since > slice + lateMsMin;
      left -= late ? Math.min(slice, Math.max(cpuMsMin, timers.cpu() - cpu)) : slice;
      if (left > 0) next();
      else fire();
    });
  };
  next();
}
