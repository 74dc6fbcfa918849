/**
 * Dedupe in memory
 * ================
 * A cheap check in front of the journal's unique index: most redeliveries come within seconds. A
 * claim says "being stored": a copy that arrives meanwhile waits for the result, because a platform
 * must not be acknowledged before the message is durable. A failed claim is released and the
 * message may be tried again. A copy does not extend the entry's lifetime.
 */
import { LRUCache } from "lru-cache";
import { atMost } from "../../domain/limits.ts";
import type { Clock } from "../../domain/ports/index.ts";

/** The right to store a message, and the duty to report the result. */
export interface Claim {
  commit(): void;
  release(): void;
}

export interface Dedupe {
  /**
   * A claim: the caller stores the message. A promise: another call stores it or has stored it; it
   * resolves to whether the message is stored.
   */
  claim(id: string): Claim | Promise<boolean>;
}

/** One message. A promise is created only when a copy arrives while the first is being stored. */
class Entry implements Claim {
  readonly #cache: LRUCache<string, Entry>;
  readonly #id: string;
  #stored: boolean | null = null;
  #settle: ((stored: boolean) => void) | null = null;
  #promise: Promise<boolean> | null = null;

  constructor(cache: LRUCache<string, Entry>, id: string) {
    this.#cache = cache;
    this.#id = id;
  }

  get stored(): Promise<boolean> {
    if (this.#stored !== null) return Promise.resolve(this.#stored);
    this.#promise ??= new Promise((resolve) => {
      this.#settle = resolve;
    });
    return this.#promise;
  }

  commit(): void {
    this.#end(true);
  }

  release(): void {
    if (this.#cache.peek(this.#id) === this) this.#cache.delete(this.#id);
    this.#end(false);
  }

  #end(stored: boolean): void {
    this.#stored = stored;
    this.#settle?.(stored);
  }
}

export function createDedupe(clock: Clock, entries: number, ttlMs: number): Dedupe {
  const cache = new LRUCache<string, Entry>({
    ...atMost(entries),
    ttl: ttlMs,
    // The library treats a start of 0 as "never expires".
    perf: { now: () => clock.monotonic() + 1 },
    ttlResolution: 0,
  });
  return {
    claim(id) {
      const known = cache.get(id);
      if (known !== undefined) return known.stored;
      const entry = new Entry(cache, id);
      cache.set(id, entry);
      return entry;
    },
  };
}
