/**
 * The number of conversations
 * ===========================
 * Counting a table means reading it, so it is done once, in slices, on the first request; after
 * that each commit reports the conversations that it created, and none is ever removed.
 */
import { setImmediate } from "node:timers/promises";

const sliceRows = 10_000;

export interface ConversationCount {
  /** A commit created this conversation. */
  created(conv: number): void;
  read(): Promise<number>;
}

/**
 * `slice`: the number of the next `limit` conversations after a number, and the last of them.
 * Synchronous, so no commit comes between a read and its count.
 */
export function createConversationCount(
  slice: (after: number, limit: number) => { readonly n: number; readonly last: number | null },
): ConversationCount {
  let counted = 0;
  /** Everything up to here is counted; null: counting has not begun. */
  let reached: number | null = null;
  let counting: Promise<void> | null = null;

  async function count(): Promise<void> {
    reached = Number.NEGATIVE_INFINITY;
    for (;;) {
      const { n, last } = slice(reached, sliceRows);
      counted += n;
      reached = n < sliceRows || last === null ? Number.POSITIVE_INFINITY : last;
      if (reached === Number.POSITIVE_INFINITY) return;
      await setImmediate();
    }
  }

  return {
    created(conv) {
      if (reached !== null && conv <= reached) counted += 1;
    },
    async read() {
      counting ??= count().catch((error: unknown) => {
        counting = null;
        counted = 0;
        reached = null;
        throw error;
      });
      await counting;
      return counted;
    },
  };
}
