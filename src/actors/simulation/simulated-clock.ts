/**
 * Time that moves only on request, so a day of a room replays in milliseconds and always in the
 * same way. Timers due at the same moment fire in the order in which they were set. Time never goes
 * back.
 */
import { EarshotError } from "../../domain/errors.ts";
import type { Millis } from "../../domain/message.ts";
import type { Clock, TimerHandle } from "../../domain/ports/index.ts";

interface PendingTimer extends TimerHandle {
  /** Order of setting, which breaks ties. */
  readonly order: number;
  readonly fire: () => void;
  /** Place in the heap; -1 once fired or cleared. */
  place: number;
}

const before = (a: PendingTimer, b: PendingTimer) =>
  a.at < b.at || (a.at === b.at && a.order < b.order);

/** A clock for simulations and tests. `start` is its first moment in ms since the epoch. */
export class SimulatedClock implements Clock {
  readonly #start: Millis;
  #now: Millis;
  #set = 0;
  /** Binary heap, the next timer on top. */
  readonly #heap: PendingTimer[] = [];

  constructor(start: Millis = 0) {
    this.#start = start;
    this.#now = start;
  }

  now(): Millis {
    return this.#now;
  }

  monotonic(): Millis {
    return this.#now - this.#start;
  }

  setTimer(at: Millis, fire: () => void): TimerHandle {
    const timer: PendingTimer = { at, order: this.#set, fire, place: this.#heap.length };
    this.#set += 1;
    this.#heap.push(timer);
    this.#rise(timer);
    return timer;
  }

  setLimit(ms: Millis, fire: () => void): TimerHandle {
    return this.setTimer(this.#now + ms, fire);
  }

  clearTimer(timer: TimerHandle): void {
    const { place } = timer as PendingTimer;
    if (place >= 0 && this.#heap[place] === timer) this.#remove(place);
  }

  /** When the next timer is due, or null if none is set. A timer set for the past is due now. */
  nextDue(): Millis | null {
    const next = this.#heap[0];
    return next === undefined ? null : Math.max(next.at, this.#now);
  }

  /**
   * Moves time to `at` and fires what becomes due on the way, each timer at its own moment. Timers
   * set meanwhile fire too, if they are due by `at`.
   * @throws EarshotError EAR_ASSERT when `at` is in the past.
   */
  advanceTo(at: Millis): void {
    if (at < this.#now) throw backwards(at, this.#now);
    while (this.fireNext(at));
    this.#now = at;
  }

  /**
   * Moves time to `at` and fires nothing: what is due by then fires next, late.
   * @throws EarshotError EAR_ASSERT when `at` is in the past.
   */
  moveTo(at: Millis): void {
    if (at < this.#now) throw backwards(at, this.#now);
    this.#now = at;
  }

  /**
   * Fires the one timer that is due first, at its moment, if that is not later than `until`. A
   * caller can let everything settle between two timers.
   */
  fireNext(until: Millis): boolean {
    const next = this.#heap[0];
    if (next === undefined || next.at > until) return false;
    this.#now = Math.max(this.#now, next.at);
    this.#remove(0);
    next.fire();
    return true;
  }

  #remove(place: number): void {
    const gone = this.#heap[place];
    const last = this.#heap.pop();
    if (gone === undefined || last === undefined) return;
    gone.place = -1;
    if (gone === last) return;
    last.place = place;
    this.#heap[place] = last;
    this.#rise(last);
    this.#sink(last);
  }

  #rise(timer: PendingTimer): void {
    while (timer.place > 0) {
      const parent = this.#heap[(timer.place - 1) >> 1];
      if (parent === undefined || !before(timer, parent)) return;
      this.#swap(timer, parent);
    }
  }

  #sink(timer: PendingTimer): void {
    for (;;) {
      const left = this.#heap[timer.place * 2 + 1];
      const right = this.#heap[timer.place * 2 + 2];
      const least = right !== undefined && left !== undefined && before(right, left) ? right : left;
      if (least === undefined || !before(least, timer)) return;
      this.#swap(timer, least);
    }
  }

  #swap(a: PendingTimer, b: PendingTimer): void {
    const place = a.place;
    a.place = b.place;
    b.place = place;
    this.#heap[a.place] = a;
    this.#heap[b.place] = b;
  }
}

const backwards = (at: Millis, now: Millis) =>
  new EarshotError(
    "EAR_ASSERT",
    `Cannot set the clock to ${at}: time does not go back (it is ${now}).`,
  );
