/**
 * Batches and turns on the wire
 * =============================
 * A batch as it crosses to a worker. Its events cross as one text, joined from the journal rows
 * that were just written: copying one string instead of some fifteen objects per event saves the
 * main thread a tenth of its time. Nothing is serialised again, and a host parses exactly what a
 * recovery would parse. The transcript of a turn is a text, too: what it has in common with the turn
 * before lies in shared memory, the rest crosses, and both are parsed when its agent reads them: many
 * never do.
 */
import type { Millis } from "../../domain/message.ts";
import type { TranscriptEntry } from "../../domain/ports/index.ts";
import { type SharedPart, textOf } from "../util/shared-text.ts";
import type { TurnJob } from "./host-link.ts";
import type { HostBatch, HostEntry, TurnReport, TurnRequest } from "./host-protocol.ts";

/**
 * A batch with its entries as a text of rows, and its loaded conversations by the index of their
 * entry.
 */
export interface WireBatch extends Omit<HostBatch, "entries"> {
  readonly rows: string;
  readonly activations: readonly (readonly [number, NonNullable<HostEntry["activation"]>])[];
}

/** What belongs to an event beside its row, one after the other. */
type Heads = (number | string)[];
const headLength = 4;

/** Packs a batch for another thread. */
export function packBatch({ entries, ...rest }: HostBatch): WireBatch {
  const activations: [number, NonNullable<HostEntry["activation"]>][] = [];
  const heads: Heads = [];
  const events: string[] = [];
  entries.forEach(({ conv, seq, cfg, key, event, body, activation }, index) => {
    if (activation !== undefined) activations.push([index, activation]);
    heads.push(conv, seq, cfg, key);
    events.push(body ?? JSON.stringify(event));
  });
  return { ...rest, rows: `[${JSON.stringify(heads)},[${events.join(",")}]]`, activations };
}

/** Restores the batch, its events numbered. */
export function unpackBatch({ rows, activations, ...rest }: WireBatch): HostBatch {
  const brought = new Map(activations);
  const [heads, events] = JSON.parse(rows) as [Heads, HostEntry["event"][]];
  const entries = events.map((event, index) => {
    const at = index * headLength;
    const seq = heads[at + 1] as number;
    if ("seq" in event) (event as { seq: number }).seq = seq;
    const entry: HostEntry = {
      conv: heads[at] as number,
      key: heads[at + 3] as string,
      seq,
      cfg: heads[at + 2] as number,
      event,
    };
    const activation = brought.get(index);
    return activation === undefined ? entry : { ...entry, activation };
  });
  return { ...rest, entries };
}

/** A turn with its transcript as text. */
export interface WireJob extends Omit<TurnJob, "order"> {
  /** When it was handed over. */
  readonly at: Millis;
  readonly order: Omit<TurnRequest, "transcript">;
  /** Entries without brackets; null: none. */
  readonly settled: SharedPart | null;
  /** The entries after those, as JSON. */
  readonly further: string;
}

/** The texts of the first entries, without brackets. */
interface Settled extends SharedPart {
  readonly count: number;
}

const settled = new WeakMap<readonly TranscriptEntry[], Settled>();

/** Notes the text of the first `count` entries, which need not be serialised then. */
export function noteText(
  entries: readonly TranscriptEntry[],
  count: number,
  { memory, bytes }: SharedPart,
): void {
  if (count > 0) settled.set(entries, { count, memory, bytes });
}

/** The size of a transcript, at least that of its texts: bytes where they are noted, else UTF-16 units. */
export function sizeOfTexts(entries: readonly TranscriptEntry[]): number {
  const { count, bytes } = settled.get(entries) ?? { count: 0, bytes: 0 };
  let size = bytes;
  for (let index = count; index < entries.length; index += 1)
    size += (entries[index] as TranscriptEntry).text.length;
  return size;
}

/** Packs a turn for another thread. */
export function packJob(
  { order: { transcript, ...order }, ...rest }: TurnJob,
  at: Millis,
): WireJob {
  const noted = settled.get(transcript);
  const further = JSON.stringify(noted === undefined ? transcript : transcript.slice(noted.count));
  const first = noted === undefined ? null : { memory: noted.memory, bytes: noted.bytes };
  return { ...rest, order, at, settled: first, further };
}

/** Restores the turn. */
export function unpackJob({ order, at: _, settled: first, further, ...rest }: WireJob): TurnJob {
  let parsed: readonly TranscriptEntry[] | null = null;
  return {
    ...rest,
    order: {
      ...order,
      get transcript() {
        parsed ??= [
          ...(first === null ? [] : (JSON.parse(`[${textOf(first)}]`) as TranscriptEntry[])),
          ...(JSON.parse(further) as TranscriptEntry[]),
        ];
        return parsed;
      },
    },
  };
}

/** The one report of a turn that its host could not start. */
export function unstarted(
  { conv, key, turnId, attempt }: WireJob["order"],
  at: Millis,
  message: string,
): TurnReport {
  const event = { type: "agent.failed", at, turnId, code: "error", message } as const;
  return { conv, key, turnId, attempt, n: 0, event };
}
