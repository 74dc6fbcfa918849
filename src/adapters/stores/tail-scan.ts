/**
 * The events without a record that were there before
 * ==================================================
 * What a store keeps in memory of its journal's end is read from the journal when somebody first asks
 * for it, in slices: a start has hosts to wait for first, and a hundred thousand rows are a tenth of a
 * second. What is committed meanwhile is kept beside it, and joined at the end.
 */
import { setImmediate } from "node:timers/promises";
import { EarshotError } from "../../domain/errors.ts";
import type { UnsnapshottedEvents } from "./unsnapshotted-events.ts";

/** Rows looked at between two turns of the event loop: about 4 ms. */
const sliceRows = 2_500;

const closedText = "Cannot read the journal: it is closed. Open it again.";

/** A slice's conversations and numbers, each joined by commas; null: nothing. */
export interface UncoveredRows {
  readonly convs: string | null;
  readonly seqs: string | null;
}

export interface TailScanPorts {
  readonly tails: UnsnapshottedEvents;
  /** Events of conversations with `from < seq <= to` that no record covers, in order. */
  readonly uncovered: (from: number, to: number) => UncoveredRows;
  /** The number before the first event after `seq`; infinite: there is none. */
  readonly next: (seq: number) => number;
  /** Up to here records cover everything. */
  readonly checked: () => number;
  /** The last event from before. */
  readonly last: number;
  /** Records that were written since. */
  readonly covered: ReadonlyMap<number, number>;
  readonly onEnd: () => void;
  readonly isClosed: () => boolean;
  readonly yields: boolean;
}

export interface TailScan {
  /** Resolves when everything is known; the first call begins the scan. Rejects as the reads do. */
  done(): Promise<void>;
  /** Resolves when a scan that has begun has ended, however. */
  ended(): Promise<void>;
}

export function createTailScan(ports: TailScanPorts): TailScan {
  const { tails, uncovered, next, checked, last, covered, onEnd, isClosed, yields } = ports;
  let scanning: Promise<void> | null = null;

  async function scan(): Promise<void> {
    for (let from = next(checked()); from < last; from = next(from + sliceRows)) {
      // Half of it must not be taken for all.
      if (isClosed()) throw new EarshotError("EAR_STORE_FAILED", closedText);
      const { convs, seqs } = uncovered(from, Math.min(from + sliceRows, last));
      const of = convs?.split(",") ?? [];
      for (const [index, seq] of (seqs?.split(",") ?? []).entries())
        tails.pushOlder(Number(of[index]), Number(seq));
      if (yields) await setImmediate();
    }
    tails.joinOlder();
    for (const [conv, recordSeq] of covered) tails.cover(conv, recordSeq);
    onEnd();
  }

  return {
    done() {
      scanning ??= scan();
      return scanning;
    },
    ended: async () => void (await scanning?.catch(() => undefined)),
  };
}
