/**
 * Dedupe in memory
 * ================
 * A cheap front for the journal's unique index: most redeliveries come soon after the first
 * delivery. A claim says "being stored": a copy that arrives meanwhile waits for its end, because a
 * platform must not be told of a message that is not durable yet. A claim that failed is released
 * and may be tried again. A copy does not make the entry younger.
 */
import { LRUCache } from "lru-cache";
import type { Clock } from "../../domain/ports/index.ts";

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

/** One message: a promise is made only for a copy that comes while the first is being stored. */
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
    max: entries,
    ttl: ttlMs,
    // The library takes a start of 0 for "never ends".
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
