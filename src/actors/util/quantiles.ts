/**
 * Times
 * =====
 * The newest times of one kind in a fixed ring, for the quantiles that people look at. To note one
 * is one store into an array; sorting waits until somebody asks.
 */
import type { Millis } from "../../domain/message.ts";

const kept = 512;

export class Times {
  readonly #ring = new Float64Array(kept);
  #count = 0;

  add(ms: Millis): void {
    this.#ring[this.#count % kept] = ms;
    this.#count += 1;
  }

  /** The time that this share (0 to 1) is below, ms; null: there is none yet. */
  quantile(share: number): Millis | null {
    const filled = Math.min(this.#count, kept);
    if (filled === 0) return null;
    const sorted = this.#ring.slice(0, filled).sort();
    return sorted[Math.min(filled - 1, Math.floor(filled * share))] as number;
  }
}
