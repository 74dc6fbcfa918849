/**
 * Runs the next work without the event loop, which costs system calls, and knows when nothing is
 * left to do: only then does a simulation let time pass. No work may happen on other threads or in
 * files; work that waits for a timer does not count.
 */
import type { Scheduler } from "../../domain/ports/index.ts";

/** Ticks until signals, pipes and other users of the event loop get a turn. */
const ticksInARow = 64;
const now = Promise.resolve();

/** A scheduler for simulations: everything runs on this thread, in the order of the requests. */
export class SimulatedScheduler implements Scheduler {
  #waiting: (() => void)[] = [];
  #idle: (() => void)[] = [];
  #isAsked = false;
  #ticks = 0;

  soon(work: () => void): void {
    this.#waiting.push(work);
    this.#ask();
  }

  /** Resolves when nothing is left that can run before a timer fires. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#idle.push(resolve);
      this.#ask();
    });
  }

  #ask(): void {
    if (this.#isAsked) return;
    this.#isAsked = true;
    this.#ticks += 1;
    if (this.#ticks % ticksInARow === 0) setImmediate(this.#next);
    // From a promise: a tick requested by another tick would run before the promises that the other
    // one resolved.
    else void now.then(() => process.nextTick(this.#next));
  }

  readonly #next = (): void => {
    this.#isAsked = false;
    const work = this.#waiting.length > 0 ? this.#waiting : this.#idle;
    if (work === this.#waiting) this.#waiting = [];
    else this.#idle = [];
    for (const run of work) run();
    if (this.#waiting.length + this.#idle.length > 0) this.#ask();
  };
}
