/**
 * Dedupe in memory
 * ================
 * A cheap front for the journal's unique index: most redeliveries come soon after the first delivery.
 * A claim says "being stored": a copy that arrives meanwhile waits for its end, because a platform must
 * not be told of a message that is not durable yet. A claim that failed is released and may be tried again.
 * A copy does not make the entry younger.
 */
import { LRUCache } from "lru-cache";
import type { Clock } from "../domain/ports.ts";

/** The right to store a message, and the duty to say how that ended. */
export interface Claim {
  commit(): void;
  release(): void;
}

export interface Dedupe {
  /**
   * A claim: ours to store. A promise: someone is at it or has done it; it resolves to whether the
   * message is stored.
   */
  claim(id: string): Claim | Promise<boolean>;
}

export function createDedupe(clock: Clock, entries: number, ttlMs: number): Dedupe {
  const cache = new LRUCache<string, Promise<boolean>>({
    max: entries,
    ttl: ttlMs,
    // The library takes a start of 0 for "never ends".
    perf: { now: () => clock.monotonic() + 1 },
    ttlResolution: 0,
  });
  return {
    claim(id) {
      const known = cache.get(id);
      if (known !== undefined) return known;
      let settle: (stored: boolean) => void = () => undefined;
      const stored = new Promise<boolean>((resolve) => {
        settle = resolve;
      });
      cache.set(id, stored);
      return {
        commit: () => settle(true),
        release() {
          if (cache.peek(id) === stored) cache.delete(id);
          settle(false);
        },
      };
    },
  };
}
