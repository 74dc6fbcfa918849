/**
 * How many conversations there are
 * ================================
 * Counting a table means reading it, so it is done once, in slices, when somebody first asks; from
 * then on it is known, as each commit tells which conversations it made and none is ever removed.
 */
import { setImmediate } from "node:timers/promises";

const sliceRows = 10_000;

export interface ConversationCount {
  /** A commit made this conversation. */
  created(conv: number): void;
  read(): Promise<number>;
}

/**
 * `slice`: how many of the next `limit` conversations after a number there are, and the last. At
 * once, so that no commit comes between what it reads and what is noted of it.
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
