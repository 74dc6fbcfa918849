/**
 * The line of results
 * ===================
 * Results of a host wait here to be made durable, one commit at a time; those that arrive meanwhile
 * are merged into the next. Strict order is what makes recovery safe: a record never becomes
 * durable before the effects of every event it covers. A commit that fails is tried again, the line
 * stands until then.
 */
import type { Clock, Log } from "../../domain/ports/index.ts";
import { reasonOf } from "../host/conversation-host.ts";
import type { HostEntry, HostResult } from "../protocol/host-protocol.ts";

/** A result and the events it answers, `entries[i]` with `result.codes[i]`. */
export interface Answer {
  readonly host: number;
  readonly result: HostResult;
  readonly entries: readonly HostEntry[];
}

export interface ResultQueueOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly commit: (result: HostResult, entries: readonly HostEntry[]) => Promise<void>;
  /** These answers are durable. */
  readonly onDurable: (answers: readonly Answer[]) => void;
  /** Merged answers in journal order, so that they do not depend on the number of hosts. */
  readonly bySeq: boolean;
}

/** Pause before a failed commit is tried again, ms. */
const retryMs = 250;

export class ResultQueue {
  readonly #options: ResultQueueOptions;
  #waiting: Answer[] = [];
  #busy = false;
  #stalled = false;

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

  /** A commit failed and waits for its next try. */
  get stalled(): boolean {
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
      const { result, entries } = merge(answers, this.#options.bySeq);
      while (!(await this.#commit(result, entries))) await this.#pause();
      if (this.#waiting.length === 0) this.#busy = false;
      this.#options.onDurable(answers);
    }
  }

  async #commit(result: HostResult, entries: readonly HostEntry[]): Promise<boolean> {
    try {
      await this.#options.commit(result, entries);
      this.#stalled = false;
      return true;
    } catch (error) {
      this.#stalled = true;
      this.#options.log("error", "host.result-not-durable", { error: reasonOf(error) });
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

/** One result out of several, in their order or in the journal's. */
export function merge(
  answers: readonly Answer[],
  bySeq: boolean,
): { readonly result: HostResult; readonly entries: readonly HostEntry[] } {
  const first = answers[0] as Answer;
  if (answers.length === 1 && (!bySeq || isSorted(first))) return first;
  const results = answers.map(({ result }) => result);
  const { entries, codes } = bySeq ? bySequence(answers) : inTurn(answers);
  const steps = results.flatMap((result) => result.steps);
  const checkpoints = results.flatMap((result) => result.checkpoints);
  const rejected = results.flatMap((result) => result.rejected);
  if (bySeq) {
    steps.sort((a, b) => a.seq - b.seq);
    rejected.sort((a, b) => a.seq - b.seq);
    // Stable: several checkpoints of one conversation stay in the order they were made.
    checkpoints.sort((a, b) => a.conv - b.conv);
  }
  const last = results.at(-1) as HostResult;
  return {
    entries,
    result: {
      id: last.id,
      epoch: Math.max(...results.map(({ epoch }) => epoch)),
      codes,
      steps,
      checkpoints,
      passivated: results.flatMap((result) => result.passivated),
      rejected,
      unreadable: results.flatMap((result) => result.unreadable),
      live: last.live,
    },
  };
}

const rises = (these: readonly { readonly seq: number }[]) =>
  these.every(({ seq }, index) => index === 0 || (these[index - 1]?.seq ?? 0) <= seq);

/** One answer in journal order already, which is how nearly all of them come. */
const isSorted = ({ entries, result: { steps, checkpoints, rejected } }: Answer) =>
  checkpoints.length < 2 && rises(entries) && rises(steps) && rises(rejected);

interface Coded {
  readonly entries: readonly HostEntry[];
  readonly codes: readonly number[];
}

function inTurn(answers: readonly Answer[]): Coded {
  return {
    entries: answers.flatMap(({ entries }) => entries),
    codes: answers.flatMap(({ result }) => result.codes),
  };
}

function bySequence(answers: readonly Answer[]): Coded {
  const { entries, codes } = inTurn(answers);
  const coded = entries.map((entry, index) => ({ entry, code: codes[index] ?? 0 }));
  coded.sort((a, b) => a.entry.seq - b.entry.seq);
  return { entries: coded.map(({ entry }) => entry), codes: coded.map(({ code }) => code) };
}
