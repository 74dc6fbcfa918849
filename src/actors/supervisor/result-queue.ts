/**
 * Results of a host wait here to be made durable, one commit at a time; those that arrive meanwhile
 * are merged into the next. Recovery depends on the strict order: a record never becomes durable
 * before the effects of every event that it covers. A failed commit is tried again, and the queue
 * waits until then.
 */
import type { Clock, Log } from "../../domain/ports/index.ts";
import { reasonOf } from "../host/conversation-host.ts";
import type { HostEntry, HostResult } from "../protocol/host-protocol.ts";
import type { Effects } from "../protocol/supervisor.ts";

/** A result and the events it answers, `entries[i]` with `result.codes[i]`. */
export interface Answer {
  readonly host: number;
  readonly result: HostResult;
  readonly entries: readonly HostEntry[];
}

export interface ResultQueueOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly effects: () => Effects;
  /** An answer waits for its next attempt. */
  readonly onStalled: () => void;
  /** These answers are durable. */
  readonly onDurable: (answers: readonly Answer[]) => void;
}

/** Pause before a failed commit is tried again, ms. */
const retryMs = 250;

export class ResultQueue {
  readonly #options: ResultQueueOptions;
  #waiting: Answer[] = [];
  #busy = false;
  #stalled: string | null = null;

  constructor(options: ResultQueueOptions) {
    this.#options = options;
  }

  /** Answers that are not durable yet. */
  get empty(): boolean {
    return this.#waiting.length === 0 && !this.#busy;
  }

  get length(): number {
    return this.#waiting.length;
  }

  /** Why the last commit failed, while it waits for its next attempt. */
  get stalled(): string | null {
    return this.#stalled;
  }

  push(...answers: readonly Answer[]): void {
    for (const answer of answers) this.#waiting.push(answer);
    if (this.#busy) return;
    this.#busy = true;
    void this.#work();
  }

  async #work(): Promise<void> {
    while (this.#waiting.length > 0) {
      const answers = this.#waiting;
      this.#waiting = [];
      const { result, entries } = merge(answers);
      while (!(await this.#commit(result, entries))) await this.#pause();
      if (this.#waiting.length === 0) this.#busy = false;
      this.#options.onDurable(answers);
    }
  }

  async #commit(result: HostResult, entries: readonly HostEntry[]): Promise<boolean> {
    try {
      await this.#options.effects().handle(result, entries);
      this.#stalled = null;
      return true;
    } catch (error) {
      this.#stalled = reasonOf(error);
      this.#options.log("error", "host.result-not-durable", { error: this.#stalled });
      this.#options.onStalled();
      return false;
    }
  }

  #pause(): Promise<void> {
    const { clock } = this.#options;
    return new Promise((resolve) => {
      clock.setTimer(clock.now() + retryMs, resolve);
    });
  }
}

/** `flatMap` takes a hundred times as long. */
const joined = <Item>(lists: readonly (readonly Item[])[]): Item[] =>
  ([] as Item[]).concat(...lists);

/** Merges several results into one, in their order. */
export function merge(answers: readonly Answer[]): Omit<Answer, "host"> {
  const first = answers[0] as Answer;
  if (answers.length === 1) return first;
  const results = answers.map(({ result }) => result);
  const last = results.at(-1) as HostResult;
  return {
    entries: joined(answers.map(({ entries }) => entries)),
    result: {
      id: last.id,
      epoch: Math.max(...results.map(({ epoch }) => epoch)),
      codes: joined(results.map(({ codes }) => codes)),
      steps: joined(results.map(({ steps }) => steps)),
      forgotten: joined(results.map(({ forgotten }) => forgotten)),
      checkpoints: joined(results.map(({ checkpoints }) => checkpoints)),
      passivated: joined(results.map(({ passivated }) => passivated)),
      rejected: joined(results.map(({ rejected }) => rejected)),
      unreadable: joined(results.map(({ unreadable }) => unreadable)),
      live: last.live,
    },
  };
}
