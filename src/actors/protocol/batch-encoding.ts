/**
 * Batches and turns on the wire
 * =============================
 * A batch as it crosses to a worker. Its events cross as one text, joined from the journal rows
 * that were just written: copying one string instead of some fifteen objects per event saves the
 * main thread a tenth of its time. Nothing is serialised again, and a host parses exactly what a
 * recovery would parse. The transcript of a turn crosses as text, too, and is parsed when its agent
 * reads it: many never do.
 */
import type { TranscriptEntry } from "../../domain/ports/index.ts";
import type { TurnJob } from "./host-link.ts";
import type { HostBatch, HostEntry, TurnRequest } from "./host-protocol.ts";

/**
 * A batch with its entries as a text of rows, and its loaded conversations by the index of their
 * entry.
 */
export interface WireBatch extends Omit<HostBatch, "entries"> {
  readonly rows: string;
  readonly activations: readonly (readonly [number, NonNullable<HostEntry["activation"]>])[];
}

type Row = [conv: number, seq: number, cfg: number, key: string, event: HostEntry["event"]];

/** Packs a batch for another thread. */
export function packBatch({ entries, ...rest }: HostBatch): WireBatch {
  const activations: [number, NonNullable<HostEntry["activation"]>][] = [];
  let rows = "";
  for (const [index, { conv, seq, cfg, key, event, body, activation }] of entries.entries()) {
    if (activation !== undefined) activations.push([index, activation]);
    const text = body ?? JSON.stringify(event);
    rows += `${index === 0 ? "" : ","}[${conv},${seq},${cfg},${JSON.stringify(key)},${text}]`;
  }
  return { ...rest, rows: `[${rows}]`, activations };
}

/** Restores the batch, its events numbered. */
export function unpackBatch({ rows, activations, ...rest }: WireBatch): HostBatch {
  const brought = new Map(activations);
  const entries = (JSON.parse(rows) as Row[]).map(([conv, seq, cfg, key, event], index) => {
    const activation = brought.get(index);
    const numbered = "seq" in event ? Object.assign(event, { seq }) : event;
    const entry: HostEntry = { conv, key, seq, cfg, event: numbered };
    return activation === undefined ? entry : { ...entry, activation };
  });
  return { ...rest, entries };
}

/** A turn with its transcript as text. */
export interface WireJob extends Omit<TurnJob, "order"> {
  readonly order: Omit<TurnRequest, "transcript">;
  readonly transcript: string;
}

/** Texts of entries, without brackets, for the first so many of them. */
const texts = new WeakMap<readonly TranscriptEntry[], readonly [count: number, text: string]>();

/** Notes the text of the first `count` entries, which need not be serialised then. */
export function noteText(entries: readonly TranscriptEntry[], count: number, text: string): void {
  texts.set(entries, [count, text]);
}

/** Packs a turn for another thread. */
export function packJob({ order: { transcript, ...order }, ...rest }: TurnJob): WireJob {
  const [count, text] = texts.get(transcript) ?? [0, ""];
  const further = JSON.stringify(transcript.slice(count)).slice(1);
  const comma = count > 0 && count < transcript.length ? "," : "";
  return { ...rest, order, transcript: `[${text}${comma}${further}` };
}

/** Restores the turn. */
export function unpackJob({ order, transcript: text, ...rest }: WireJob): TurnJob {
  let parsed: readonly TranscriptEntry[] | null = null;
  return {
    ...rest,
    order: {
      ...order,
      get transcript() {
        parsed ??= JSON.parse(text) as TranscriptEntry[];
        return parsed;
      },
    },
  };
}
