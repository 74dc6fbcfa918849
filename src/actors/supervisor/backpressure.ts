/**
 * Bounds the durable events that wait for their hosts. Storing is faster than stepping, so an
 * unbounded intake would fill the memory and delay every decision: while too many events wait,
 * callers that bring more wait too.
 */
import { limits } from "../../domain/limits.ts";

export class Backpressure {
  readonly #size: () => number;
  readonly #change: () => Promise<void>;
  #capacity: Promise<void> | null = null;

  /** `size`: events that wait; `change`: resolves after the number may have become smaller. */
  constructor(size: () => number, change: () => Promise<void>) {
    this.#size = size;
    this.#change = change;
  }

  /** Null: below the limit. Otherwise resolves when half of the backlog is gone. */
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
