/**
 * Changes of the token
 * ====================
 * A request carries its token; a socket or stream sent it only when it was opened. While any is open,
 * the token file is read twice a second, and connections opened with another token are closed. With
 * nothing open, nothing is read.
 */
import type { Clock, TimerHandle } from "../../domain/ports/index.ts";
import type { TokenReader } from "../state/token.ts";

const pollMs = 500;

interface Watch {
  readonly all: Set<() => void>;
  /** Added since the last read: the token may have changed between their check and that read. */
  readonly added: Set<() => void>;
  timer: TimerHandle | null;
}

/** One watch for each token reader: all connections of a daemon share it. */
const watches = new WeakMap<TokenReader, Watch>();

/**
 * Calls `changed` within a second after the token that `read` returns changed or became invalid,
 * perhaps more than once. The callback checks its own token again. The result ends the watch.
 */
export function onTokenChange(read: TokenReader, clock: Clock, changed: () => void): () => void {
  const watch = watches.get(read) ?? { all: new Set(), added: new Set(), timer: null };
  watches.set(read, watch);
  // A new function each time, because two callers may pass the same one.
  const notify = () => changed();
  watch.all.add(notify);
  watch.added.add(notify);
  if (watch.timer === null) startWatch(read, clock, watch);
  return () => {
    watch.all.delete(notify);
    watch.added.delete(notify);
    if (watch.all.size > 0 || watch.timer === null) return;
    clock.clearTimer(watch.timer);
    watch.timer = null;
  };
}

function startWatch(read: TokenReader, clock: Clock, watch: Watch): void {
  const current = () => read().catch(() => null);
  let known = current();
  const again = () => {
    const before = known;
    const newcomers = [...watch.added];
    watch.added.clear();
    known = current();
    void Promise.all([before, known]).then(([was, is]) => {
      for (const notify of was === is ? newcomers : [...watch.all]) notify();
    });
    watch.timer = clock.setTimer(clock.now() + pollMs, again);
  };
  watch.timer = clock.setTimer(clock.now() + pollMs, again);
}
