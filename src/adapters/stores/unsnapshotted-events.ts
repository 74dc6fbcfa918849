/**
 * The events that their conversation's record does not cover yet. An index by conversation on disk
 * would halve the insert rate (its keys are hashes), so these few numbers are in memory: a
 * conversation with a complete record costs nothing. Rebuilt at start from the low-water mark on.
 */

/** Journal numbers by conversation, each list ascending. */
export interface UnsnapshottedEvents {
  /** A new event of the conversation; numbers must grow. */
  push(conv: number, seq: number): void;
  /** Events found by the scan at start: older than all others. */
  pushOlder(conv: number, seqs: readonly number[]): void;
  /** The record now covers everything up to `recordSeq`. */
  cover(conv: number, recordSeq: number): void;
  has(conv: number): boolean;
  /** Conversations with uncovered events. */
  readonly size: number;
  after(conv: number, seq: number): readonly number[];
  /** Events of other conversations between the two numbers. */
  between(conv: number, after: number, before: number): readonly number[];
  /** The conversations that have waited longest for a record, in the order of their first event. */
  dirty(limit: number): { conv: number; first: number; last: number }[];
  /** The number before the first uncovered event, or `lastSeq` when there is none. */
  lowWater(lastSeq: number): number;
}

export function createTails(): UnsnapshottedEvents {
  const lists = new Map<number, number[]>();

  const first = () => {
    let least = Number.POSITIVE_INFINITY;
    for (const list of lists.values()) if ((list[0] as number) < least) least = list[0] as number;
    return least;
  };

  return {
    push(conv, seq) {
      const list = lists.get(conv);
      if (list === undefined) lists.set(conv, [seq]);
      else list.push(seq);
    },
    pushOlder(conv, seqs) {
      if (seqs.length > 0) lists.set(conv, [...seqs, ...(lists.get(conv) ?? [])]);
    },
    cover(conv, recordSeq) {
      const list = lists.get(conv);
      if (list === undefined) return;
      let covered = 0;
      while (covered < list.length && (list[covered] as number) <= recordSeq) covered += 1;
      if (covered === 0) return;
      // A conversation that is still busy goes to the back: others have waited longer.
      lists.delete(conv);
      if (covered < list.length) lists.set(conv, list.slice(covered));
    },
    has: (conv) => lists.has(conv),
    get size() {
      return lists.size;
    },
    between(conv, after, before) {
      const list = lists.get(conv);
      return list === undefined ? [] : list.filter((seq) => seq > after && seq < before);
    },
    after: (conv, seq) => (lists.get(conv) ?? []).filter((number) => number > seq),
    dirty(limit) {
      const found: ReturnType<UnsnapshottedEvents["dirty"]> = [];
      for (const [conv, list] of lists) {
        if (found.length === limit) break;
        found.push({ conv, first: list[0] as number, last: list[list.length - 1] as number });
      }
      return found.sort((a, b) => a.first - b.first);
    },
    lowWater(lastSeq) {
      const least = first();
      return least === Number.POSITIVE_INFINITY ? lastSeq : least - 1;
    },
  };
}
