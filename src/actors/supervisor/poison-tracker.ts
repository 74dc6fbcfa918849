/**
 * Which event killed a host, and how often. An event that did so `poisonDeathsMax` times is
 * quarantined: every later batch and tail omits it, the rest of its conversation continues, and the
 * operator is notified. The heartbeat of the dead host names the event. An event that was in
 * quarantine before gets a single chance, because each death affects other conversations.
 */
import { LRUCache } from "lru-cache";
import { limits } from "../../domain/limits.ts";
import type { Activation, HostEntry } from "../protocol/host-protocol.ts";

/** Suspected or quarantined events in memory; the journal has the rest. */
const rememberedMax = 10_000;
/**
 * With `max` a cache would allocate all entries in advance, and nearly every process needs none.
 */
const remembered = { maxSize: rememberedMax, sizeCalculation: () => 1 };

export class PoisonTracker {
  readonly #counts = new LRUCache<number, number>(remembered);
  readonly #quarantined = new LRUCache<number, true>(remembered);

  /** Counts a death on an event. True: it is quarantined now. */
  recordDeath(seq: number): boolean {
    const count = (this.#counts.get(seq) ?? 0) + 1;
    this.#counts.set(seq, count);
    if (count < limits.poisonDeathsMax) return false;
    this.quarantine(seq);
    return true;
  }

  /** One more death on this event quarantines it. */
  allowOneDeath(seq: number): void {
    this.#counts.set(seq, limits.poisonDeathsMax - 1);
  }

  quarantine(seq: number): void {
    this.#counts.delete(seq);
    this.#quarantined.set(seq, true);
  }

  isQuarantined(seq: number): boolean {
    return this.#quarantined.has(seq);
  }

  /** The entries that may still be sent. */
  allowed(entries: readonly HostEntry[]): readonly HostEntry[] {
    if (this.#quarantined.size === 0) return entries;
    return entries.filter(({ seq }) => !this.#quarantined.has(seq));
  }

  withoutQuarantined(activation: Activation): Activation {
    if (this.#quarantined.size === 0) return activation;
    const tail = activation.tail.filter(({ seq }) => !this.#quarantined.has(seq));
    return { ...activation, tail };
  }
}
