/**
 * The backlog
 * ===========
 * Events that are durable and wait for their hosts. Storing is faster than stepping, so without a
 * bound an intake that is always open would fill the memory and make every decision late: while
 * too many wait, whoever brings more waits too.
 */
import { limits } from "../../domain/limits.ts";

export class Backpressure {
  readonly #size: () => number;
  readonly #change: () => Promise<void>;
  #capacity: Promise<void> | null = null;

  /** `size`: events that wait; `change`: resolves after it may have become smaller. */
  constructor(size: () => number, change: () => Promise<void>) {
    this.#size = size;
    this.#change = change;
  }

  /** Null: there is room. Otherwise resolves when half of the backlog is gone. */
  capacity(): Promise<void> | null {
    if (this.#capacity === null && this.#size() > limits.backlogEventsMax)
      this.#capacity = this.#drained();
    return this.#capacity;
  }

  async #drained(): Promise<void> {
    while (this.#size() > limits.backlogEventsMax / 2) await this.#change();
    this.#capacity = null;
  }
}
