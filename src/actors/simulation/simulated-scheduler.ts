/**
 * Runs what comes next without the event loop, which costs system calls, and knows when nothing is
 * left to do: only then does a simulation let time pass. Nothing may happen on other threads or in
 * files meanwhile; what waits for a timer does not count.
 */
import type { Scheduler } from "../../domain/ports/index.ts";

/** Ticks until signals, pipes and whatever else waits for the event loop have their turn. */
const ticksInARow = 64;
const now = Promise.resolve();

/** A scheduler for simulations: everything runs on this thread, in the order it was asked for. */
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
    // From a promise: a tick asked for by another tick would come before what that one resolved.
    else void now.then(() => process.nextTick(this.#next));
  }

  readonly #next = (): void => {
    this.#isAsked = false;
    const work = this.#waiting.length > 0 ? this.#waiting : this.#idle;
    if (work === this.#waiting) this.#waiting = [];
    else this.#idle = [];
    for (const one of work) one();
    if (this.#waiting.length + this.#idle.length > 0) this.#ask();
  };
}
