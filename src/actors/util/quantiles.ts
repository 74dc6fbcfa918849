/**
 * The newest durations of one kind in a fixed ring, for the quantiles that people read. Adding one
 * is one store into an array; they are sorted only on a read.
 */
import type { Millis } from "../../domain/message.ts";

const ringSize = 512;

export class Times {
  readonly #ring = new Float64Array(ringSize);
  #count = 0;

  add(ms: Millis): void {
    this.#ring[this.#count % ringSize] = ms;
    this.#count += 1;
  }

  /** The duration that this share (0 to 1) is below, ms; null: there is none yet. */
  quantile(share: number): Millis | null {
    const filled = Math.min(this.#count, ringSize);
    if (filled === 0) return null;
    const sorted = this.#ring.slice(0, filled).sort();
    return sorted[Math.min(filled - 1, Math.floor(filled * share))] as number;
  }
}
