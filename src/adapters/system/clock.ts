/**
 * Wall time and timers of this machine. A timer is due by wall time, but Node's timers follow the
 * monotonic clock: a long wait is split into slices, so that a change of the wall clock is noticed
 * within a slice and a timer never fires early.
 */
import type { Clock, TimerHandle } from "../../domain/ports/index.ts";

/** The longest sleep before looking at the wall clock again, ms. */
const sliceMsMax = 30_000;

interface SystemTimer extends TimerHandle {
  timeout: NodeJS.Timeout | null;
}

/** The clock of a daemon. */
export function createSystemClock(): Clock {
  const arm = (timer: SystemTimer, fire: () => void): void => {
    const wait = Math.max(0, Math.min(timer.at - Date.now(), sliceMsMax));
    timer.timeout = setTimeout(() => {
      if (Date.now() < timer.at) return arm(timer, fire);
      timer.timeout = null;
      fire();
    }, wait);
  };
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    setTimer(at, fire) {
      const timer: SystemTimer = { at, timeout: null };
      arm(timer, fire);
      return timer;
    },
    clearTimer(timer) {
      const { timeout } = timer as SystemTimer;
      if (timeout !== null) clearTimeout(timeout);
      (timer as SystemTimer).timeout = null;
    },
  };
}
