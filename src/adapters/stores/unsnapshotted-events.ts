/**
 * The events that their conversation's record does not cover yet. An index by conversation on disk
 * would halve the insert rate (its keys are hashes), so these few numbers are in memory: a
 * conversation with a complete record costs nothing. Rebuilt at start from the low-water mark on.
 *
 * Most conversations here have one or two events, and there may be a hundred thousand. So an event is
 * not an element of a list of its conversation but 12 bytes in two typed arrays, with the place of the
 * one before it: nothing for the garbage collector to follow.
 */

/** Journal numbers by conversation, each list ascending. */
export interface UnsnapshottedEvents {
  /** A new event of the conversation; numbers must grow. */
  push(conv: number, seq: number): void;
  /** An event found by the scan of older ones; its numbers grow, too. Not seen before `joinOlder`. */
  pushOlder(conv: number, seq: number): void;
  /** The scan has ended: what it found comes before all others. */
  joinOlder(): void;
  /** The record now covers everything up to `recordSeq`. */
  cover(conv: number, recordSeq: number): void;
  has(conv: number): boolean;
  /** Conversations with uncovered events. */
  readonly size: number;
  after(conv: number, seq: number): readonly number[];
  /** Events of the conversation between the two numbers, without them. */
  between(conv: number, after: number, before: number): readonly number[];
  /** The conversations that have waited longest for a record, in the order of their first event. */
  dirty(limit: number): { conv: number; first: number; last: number }[];
  /** The number before the first uncovered event, or `lastSeq` when there is none. */
  lowWater(lastSeq: number): number;
}

/** No place: before the first event of a conversation. */
const none = 0;
const placesAtFirst = 1_024;

/** Events in chains, each from the newest to the oldest of one conversation. */
class Chains {
  #seqs = new Float64Array(placesAtFirst);
  #before = new Uint32Array(placesAtFirst);
  #used = 1;
  /** The chain of free places. */
  #free = none;

  /** The place of an event whose predecessor is at `before`. */
  add(seq: number, before: number): number {
    const place = this.#free === none ? this.#next() : this.#free;
    if (place === this.#free) this.#free = this.before(place);
    this.#seqs[place] = seq;
    this.#before[place] = before;
    return place;
  }

  seq(place: number): number {
    return this.#seqs[place] as number;
  }

  before(place: number): number {
    return this.#before[place] as number;
  }

  /** Ends a chain at `place`: what is before it is free. */
  cut(place: number): void {
    this.free(this.before(place));
    this.#before[place] = none;
  }

  /** The whole chain is free. */
  free(newest: number): void {
    for (let place = newest; place !== none; ) {
      const before = this.before(place);
      this.#before[place] = this.#free;
      this.#free = place;
      place = before;
    }
  }

  /** Places `chain` before the first event of another. */
  prepend(chain: number, newest: number): void {
    let oldest = newest;
    while (this.before(oldest) !== none) oldest = this.before(oldest);
    this.#before[oldest] = chain;
  }

  #next(): number {
    const place = this.#used;
    this.#used += 1;
    if (place < this.#seqs.length) return place;
    const [seqs, before] = [this.#seqs, this.#before];
    this.#seqs = new Float64Array(place * 2);
    this.#before = new Uint32Array(place * 2);
    this.#seqs.set(seqs);
    this.#before.set(before);
    return place;
  }
}

export function createTails(): UnsnapshottedEvents {
  /** Conversations, to the place of their newest event. */
  let newest = new Map<number, number>();
  /** The same of what the scan has found so far. */
  let older = new Map<number, number>();
  let chains = new Chains();

  const first = (place: number): number => {
    let oldest = place;
    while (chains.before(oldest) !== none) oldest = chains.before(oldest);
    return chains.seq(oldest);
  };

  const between = (conv: number, after: number, before: number): number[] => {
    const found: number[] = [];
    for (let at = newest.get(conv) ?? none; at !== none; at = chains.before(at)) {
      const seq = chains.seq(at);
      if (seq <= after) break;
      if (seq < before) found.push(seq);
    }
    return found.reverse();
  };

  return {
    push(conv, seq) {
      newest.set(conv, chains.add(seq, newest.get(conv) ?? none));
    },
    pushOlder(conv, seq) {
      older.set(conv, chains.add(seq, older.get(conv) ?? none));
    },
    joinOlder() {
      for (const [conv, place] of newest) {
        const before = older.get(conv);
        if (before !== undefined) chains.prepend(before, place);
        older.set(conv, place);
      }
      [newest, older] = [older, new Map()];
    },
    cover(conv, recordSeq) {
      const last = newest.get(conv);
      if (last === undefined) return;
      let kept = none;
      let place = last;
      while (place !== none && chains.seq(place) > recordSeq) {
        kept = place;
        place = chains.before(place);
      }
      if (place === none) return;
      // A conversation that is still busy goes to the back: others have waited longer.
      newest.delete(conv);
      if (kept === none) {
        chains.free(last);
        // What a rush needed is given back when it is over.
        if (newest.size + older.size === 0) chains = new Chains();
        return;
      }
      chains.cut(kept);
      newest.set(conv, last);
    },
    has: (conv) => newest.has(conv),
    get size() {
      return newest.size;
    },
    between,
    after: (conv, seq) => between(conv, seq, Number.POSITIVE_INFINITY),
    dirty(limit) {
      const found: ReturnType<UnsnapshottedEvents["dirty"]> = [];
      for (const [conv, place] of newest) {
        if (found.length === limit) break;
        found.push({ conv, first: first(place), last: chains.seq(place) });
      }
      return found.sort((a, b) => a.first - b.first);
    },
    lowWater(lastSeq) {
      let least = Number.POSITIVE_INFINITY;
      for (const place of newest.values()) least = Math.min(least, first(place));
      return least === Number.POSITIVE_INFINITY ? lastSeq : least - 1;
    },
  };
}
