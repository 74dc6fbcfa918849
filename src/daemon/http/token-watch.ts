/**
 * Changes of the token
 * ====================
 * A request carries its token; a socket or stream showed it only when it was opened. While any is
 * open, the token file is read twice a second, and what was opened with another token than the
 * current one is closed. With nothing open, nothing is read.
 */
import type { Clock, TimerHandle } from "../../domain/ports/index.ts";
import type { TokenReader } from "../state/token.ts";

const lookEveryMs = 500;

interface Watch {
  readonly leave: Set<() => void>;
  /** Came since the last look: the token may have changed between their proof and that look. */
  readonly fresh: Set<() => void>;
  timer: TimerHandle | null;
}

/** One watch for each reader of a token: all rooms of a daemon share one. */
const watches = new WeakMap<TokenReader, Watch>();

/**
 * Calls `changed` within a second after the token that `read` gives becomes another one, or none
 * that may be used; perhaps more than once. Whoever is called looks at his own token again. Call
 * the answer to be told no more.
 */
export function onTokenChange(read: TokenReader, clock: Clock, changed: () => void): () => void {
  const watch = watches.get(read) ?? { leave: new Set(), fresh: new Set(), timer: null };
  watches.set(read, watch);
  // A function of its own each time: two may bring the same.
  const notify = () => changed();
  watch.leave.add(notify);
  watch.fresh.add(notify);
  if (watch.timer === null) look(read, clock, watch);
  return () => {
    watch.leave.delete(notify);
    watch.fresh.delete(notify);
    if (watch.leave.size > 0 || watch.timer === null) return;
    clock.clearTimer(watch.timer);
    watch.timer = null;
  };
}

function look(read: TokenReader, clock: Clock, watch: Watch): void {
  const current = () => read().catch(() => null);
  let known = current();
  const again = () => {
    const before = known;
    const newcomers = [...watch.fresh];
    watch.fresh.clear();
    known = current();
    void Promise.all([before, known]).then(([was, is]) => {
      for (const notify of was === is ? newcomers : [...watch.leave]) notify();
    });
    watch.timer = clock.setTimer(clock.now() + lookEveryMs, again);
  };
  watch.timer = clock.setTimer(clock.now() + lookEveryMs, again);
}
