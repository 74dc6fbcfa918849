/**
 * Activities
 * ==========
 * What a simulation does, one thing after the other: a line of the scenario or a timer that fires,
 * each with all that follows from it until everything is quiet again. Rooms have nothing to do with
 * each other, so a scenario may be run in strands, each with rooms of its own; and because each
 * activity says when it was and what set it off, the strands can be laid together again in the one
 * order that a single run has (simulation.braid.ts).
 *
 * What rooms do have in common is written down as well: turns that run at the same time, and
 * whatever else an activity touches beyond its rooms.
 */
import type { Millis } from "../../domain/message.ts";
import type { Clock, TimerHandle } from "../../domain/ports/index.ts";
import type { Contacts } from "../protocol/runtime.ts";

/** At one moment: what was due by then, the lines of the scenario, and what those made due. */
export type Phase = 0 | 1 | 2;

/** A slot that was taken under these bounds, or given back. */
export type SlotChange =
  | { readonly agentId: string; readonly slots: number; readonly agentSlots: number }
  | { readonly agentId: string; readonly slots: null };

export interface Activity {
  readonly at: Millis;
  readonly phase: Phase;
  /** Of a line: its number in the scenario. Of a timer: when it was due. */
  readonly rank: number;
  /** Of a timer: the activity that set it, and its place among all timers of the strand. */
  readonly by: number;
  readonly order: number;
  /** Counts the activities of a strand; 0 is its start. */
  readonly number: number;
  /** Timers that it set wait for their time. */
  readonly leaves: boolean;
  readonly output: readonly string[];
  readonly slots: readonly SlotChange[];
  /** What it touched beyond its own rooms; null: nothing. */
  readonly touched: string | null;
}

/** A few activities on their way, and those of earlier ones whose timers have all gone. */
export interface Batch {
  readonly activities: readonly Activity[];
  readonly over: readonly number[];
  /** Lines of the scenario done so far. */
  readonly done: number;
}

/** Activities in a batch. */
const batchCount = 256;

type Cause = Pick<Activity, "at" | "phase" | "rank" | "by" | "order"> & {
  /** A line for all rooms: what it leads to cannot be laid together. */
  readonly isForAll: boolean;
};

/** Writes down the activities of a strand. */
export class Recorder implements Contacts {
  readonly #send: (batch: Batch) => void | Promise<void>;
  /** What set a timer, and its place among all. */
  readonly #timers = new Map<TimerHandle, { readonly by: number; readonly order: number }>();
  /** Timers that wait, by the activity that set them. */
  readonly #waiting = new Map<number, number>();
  #number = 0;
  #set = 0;
  #done = 0;
  #cause: Cause | null = null;
  #output: string[] = [];
  #slots: SlotChange[] = [];
  #touched: string | null = null;
  #ended: Activity[] = [];
  #over: number[] = [];

  /** `send` is given each batch; where it gives a promise, the strand waits for that. */
  constructor(send: (batch: Batch) => void | Promise<void>) {
    this.#send = send;
  }

  /** The clock for whoever sets timers. */
  over(clock: Clock): Clock {
    return {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      setTimer: (at, fire) => {
        const by = this.#number;
        if (this.#cause === null) this.touched("a timer that no activity set");
        const timer = clock.setTimer(at, () => {
          this.#gone(timer);
          fire();
        });
        this.#timers.set(timer, { by, order: this.#set });
        this.#set += 1;
        this.#waiting.set(by, (this.#waiting.get(by) ?? 0) + 1);
        return timer;
      },
      clearTimer: (timer) => {
        this.#gone(timer);
        clock.clearTimer(timer);
      },
    };
  }

  /** A line begins. */
  line(at: Millis, rank: number, isForAll: boolean): void {
    this.#begin({ at, phase: 1, rank, by: 0, order: 0, isForAll });
  }

  /** A timer is about to fire. */
  timer(at: Millis, phase: 0 | 2, timer: TimerHandle): void {
    const { by, order } = this.#timers.get(timer) ?? { by: 0, order: 0 };
    this.#begin({ at, phase, rank: timer.at, by, order, isForAll: false });
  }

  told(text: string): void {
    if (this.#cause === null) this.touched("something said between two activities");
    this.#output.push(text);
  }

  taken(agentId: string, slots: number, agentSlots: number): void {
    this.#slots.push({ agentId, slots, agentSlots });
  }

  freed(agentId: string): void {
    this.#slots.push({ agentId, slots: null });
  }

  waits(): void {
    this.touched("turns that wait for others");
  }

  touched(what: string): void {
    this.#touched ??= what;
  }

  /** All that followed has come to rest. */
  end(): void | Promise<void> {
    const number = this.#number;
    const cause = this.#cause as Cause;
    const leaves = this.#waiting.has(number);
    if (cause.phase === 1) this.#done += 1;
    this.#cause = null;
    const isSilent = this.#output.length + this.#slots.length === 0 && !leaves;
    if (cause.isForAll && !isSilent) this.touched("a line that is for all rooms");
    if (isSilent && this.#touched === null) return;
    const { at, phase, rank, by, order } = cause;
    const [output, slots, touched] = [this.#output, this.#slots, this.#touched];
    this.#ended.push({ at, phase, rank, by, order, number, leaves, output, slots, touched });
    this.#output = [];
    this.#slots = [];
    this.#touched = null;
    if (this.#ended.length >= batchCount || touched !== null) return this.flush();
  }

  /** Sends what has not been sent. */
  flush(): void | Promise<void> {
    const batch = { activities: this.#ended, over: this.#over, done: this.#done };
    this.#ended = [];
    this.#over = [];
    return this.#send(batch);
  }

  #begin(cause: Cause): void {
    this.#number += 1;
    this.#cause = cause;
  }

  #gone(timer: TimerHandle): void {
    const by = this.#timers.get(timer)?.by;
    if (by === undefined) return;
    this.#timers.delete(timer);
    const left = (this.#waiting.get(by) ?? 1) - 1;
    if (left > 0) this.#waiting.set(by, left);
    else {
      this.#waiting.delete(by);
      // While it goes on it may set others.
      if (by !== this.#number) this.#over.push(by);
    }
  }
}
