/** A clock that can be cut off: timers that were set on it never fire after that. */
import type { Clock, TimerHandle } from "../../domain/ports/index.ts";

export interface EndingClock extends Clock {
  end(): void;
}

export function createEndingClock(clock: Clock): EndingClock {
  let isOver = false;
  const timers = new Set<TimerHandle>();
  function until(set: (fire: () => void) => TimerHandle, fire: () => void): TimerHandle {
    const timer = set(() => {
      timers.delete(timer);
      fire();
    });
    timers.add(timer);
    return timer;
  }
  const own: EndingClock = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    setTimer: (at, fire) => (isOver ? { at } : until((done) => clock.setTimer(at, done), fire)),
    setLimit: (ms, fire) =>
      isOver ? { at: clock.now() + ms } : until((done) => clock.setLimit(ms, done), fire),
    clearTimer(timer) {
      timers.delete(timer);
      clock.clearTimer(timer);
    },
    end() {
      isOver = true;
      for (const timer of timers) clock.clearTimer(timer);
      timers.clear();
    },
  };
  return own;
}
