/**
 * Strikes
 * =======
 * Whose event killed a host, and how often. An event that did it `poisonStrikesMax` times is
 * quarantined: it is left out of every batch and tail from then on, the rest of its conversation
 * goes on, and the operator is told. Which event it was is read from the pulse of the dead host. One
 * that has been in quarantine before gets a single chance, as its neighbours pay for each.
 */
import { LRUCache } from "lru-cache";
import { limits } from "../../domain/limits.ts";
import type { Activation, HostEntry } from "../protocol/host-protocol.ts";

/** Events under suspicion or set aside that are remembered; the journal remembers the rest. */
const rememberedMax = 10_000;
/** A cache told its `max` makes room for all of it at once, and nearly every process needs none. */
const remembered = { maxSize: rememberedMax, sizeCalculation: () => 1 };

export class PoisonTracker {
  readonly #counts = new LRUCache<number, number>(remembered);
  readonly #quarantined = new LRUCache<number, true>(remembered);

  /** Counts a death on an event. True: that was one too many, the event is quarantined now. */
  recordDeath(seq: number): boolean {
    const count = (this.#counts.get(seq) ?? 0) + 1;
    this.#counts.set(seq, count);
    if (count < limits.poisonStrikesMax) return false;
    this.quarantine(seq);
    return true;
  }

  /** One more death on this event is one too many. */
  suspect(seq: number): void {
    this.#counts.set(seq, limits.poisonStrikesMax - 1);
  }

  quarantine(seq: number): void {
    this.#counts.delete(seq);
    this.#quarantined.set(seq, true);
  }

  isQuarantined(seq: number): boolean {
    return this.#quarantined.has(seq);
  }

  /** The entries that may still be sent. */
  clean(entries: readonly HostEntry[]): readonly HostEntry[] {
    if (this.#quarantined.size === 0) return entries;
    return entries.filter(({ seq }) => !this.#quarantined.has(seq));
  }

  withoutQuarantined(activation: Activation): Activation {
    if (this.#quarantined.size === 0) return activation;
    const tail = activation.tail.filter(({ seq }) => !this.#quarantined.has(seq));
    return { ...activation, tail };
  }
}
