/**
 * A host's mailbox
 * ================
 * Events that wait for their host, one short queue per conversation. A batch takes a few events of
 * each conversation in turn, so a busy one cannot starve its neighbours; inside a conversation the
 * order is always the journal's. What was in flight on a lost host goes back to the front.
 *
 * V8 gives a map another table when entries come and go, and its old table refers to the new one. Where a table has
 * grown old, all that follow it, with what was in them, last until the next full collection: of each line some
 * 2 kB were moved twice and lasted for seconds. So a map is replaced before that.
 */
import type { HostEntry } from "../protocol/host-protocol.ts";

/** Events that one conversation may put into a batch before the others have had their turn. */
const shareMax = 8;

/** So many events are taken for one that is copied when the maps are replaced. */
const replacedAfter = 4;

export class Mailbox {
  /** Returned events first, then new ones; a conversation is in one of the two. */
  #front = new Map<number, HostEntry[]>();
  #back = new Map<number, HostEntry[]>();
  /** Conversations that must be loaded again before they get events. */
  readonly #held = new Map<number, HostEntry[]>();
  #size = 0;
  /** Events that were taken since the maps are new. */
  #taken = 0;

  /** Events that wait, held ones included. */
  get size(): number {
    return this.#size;
  }

  /** Whether `take` would return an event. */
  get ready(): boolean {
    return this.#front.size > 0 || this.#back.size > 0;
  }

  push(entry: HostEntry): void {
    this.#size += 1;
    const queue =
      this.#held.get(entry.conv) ?? this.#front.get(entry.conv) ?? this.#back.get(entry.conv);
    if (queue === undefined) this.#back.set(entry.conv, [entry]);
    else queue.push(entry);
  }

  /** Puts events back before everything that waits, in the order of the argument. */
  putBack(entries: readonly HostEntry[]): void {
    this.#size += entries.length;
    const returned = new Map<number, HostEntry[]>();
    for (const entry of entries) {
      const queue = returned.get(entry.conv);
      if (queue === undefined) returned.set(entry.conv, [entry]);
      else queue.push(entry);
    }
    for (const [conv, queue] of returned) {
      const held = this.#held.get(conv);
      const waiting = held ?? this.#front.get(conv) ?? this.#back.get(conv) ?? [];
      const merged = [...queue, ...waiting].sort((a, b) => a.seq - b.seq);
      this.#back.delete(conv);
      (held === undefined ? this.#front : this.#held).set(conv, merged);
    }
  }

  /** Holds a conversation's events back until `release`. */
  hold(conv: number): void {
    if (this.#held.has(conv)) return;
    this.#held.set(conv, this.#front.get(conv) ?? this.#back.get(conv) ?? []);
    this.#front.delete(conv);
    this.#back.delete(conv);
  }

  release(conv: number): void {
    const queue = this.#held.get(conv);
    this.#held.delete(conv);
    if (queue !== undefined && queue.length > 0) this.#front.set(conv, queue);
  }

  releaseAll(): void {
    for (const conv of [...this.#held.keys()]) this.release(conv);
  }

  /** At most `max` events, fair by conversation. */
  take(max: number): HostEntry[] {
    const taken: HostEntry[] = [];
    while (taken.length < max && this.ready)
      this.#round(this.#front.size > 0 ? this.#front : this.#back, max, taken);
    this.#size -= taken.length;
    this.#taken += taken.length;
    if (this.#taken > replacedAfter * this.#size) this.#replace();
    return taken;
  }

  /** Everything, for another host. */
  drain(): HostEntry[] {
    this.releaseAll();
    return this.take(Number.POSITIVE_INFINITY).sort((a, b) => a.seq - b.seq);
  }

  #replace(): void {
    this.#front = new Map(this.#front);
    this.#back = new Map(this.#back);
    this.#taken = 0;
  }

  /** Round robin: a conversation with remaining events is appended again and visited again. */
  #round(queues: Map<number, HostEntry[]>, max: number, taken: HostEntry[]): void {
    for (const [conv, queue] of queues) {
      const room = Math.min(shareMax, max - taken.length);
      if (room === 0) return;
      queues.delete(conv);
      if (queue.length <= room) {
        for (const entry of queue) taken.push(entry);
      } else {
        for (const entry of queue.splice(0, room)) taken.push(entry);
        queues.set(conv, queue);
      }
    }
  }
}
