/**
 * Recording
 * =========
 * The journal read back as a scenario: what came in, when, what the agents did and what became of
 * their answers, so that a replay tells the same history and another config can be asked about it
 * (docs/guide/scenarios.md). It only reads, a slice at a time, beside a running daemon or without
 * one.
 *
 * What the journal does not know is not made up: conversations of a recording begin with nothing
 * said, and copies of messages that were recognised are not in it.
 */
import type { Millis } from "../../domain/message.ts";
import { decodeEvent, eventsIn } from "../protocol/event-codec.ts";
import { quarantinedCode } from "../protocol/host-protocol.ts";
import { Recorder } from "./scenario-lines.ts";
import type { RecordedRow, RecordingLine, RecordingRange, RecordingStore } from "./types.ts";

/** Journal rows read at a time. */
const sliceRows = 512;

/**
 * The recording, line by line, in order. Rows that are journalled while it runs are not in it.
 * @throws EarshotError EAR_STORE_FAILED; EAR_RECORD_INVALID for a row that is no event.
 */
export async function* recordScenario(
  store: RecordingStore,
  query: RecordingRange,
): AsyncGenerator<RecordingLine> {
  const last = await store.lastSeq();
  const recorder = new Recorder(store, query);
  const { until = Number.POSITIVE_INFINITY } = query;
  let after = await seqBefore(store, query.since, last);
  for (let rows = await slice(store, after, last); rows.length > 0; ) {
    for (const row of rows) {
      if (row.event.at >= until) return yield* recorder.finish();
      // What is in quarantine was heard by nobody.
      if (row.code === quarantinedCode) continue;
      if (row.event.at >= query.since) yield* recorder.add(row);
    }
    after = rows.at(-1)?.seq ?? last;
    rows = await slice(store, after, last);
  }
  yield* recorder.finish();
}

async function slice(store: RecordingStore, after: number, last: number): Promise<RecordedRow[]> {
  if (after >= last) return [];
  const rows = await store.scan(after, sliceRows);
  return rows
    .filter(({ seq }) => seq <= last)
    .flatMap((row) => eventsIn(decodeEvent(row)).map((event) => ({ ...row, event })));
}

/** The number before the first row that was admitted at `since` or later: admission takes turns. */
async function seqBefore(store: RecordingStore, since: Millis, last: number): Promise<number> {
  let low = 0;
  let high = last;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [row] = await store.scan(middle, 1);
    if (row === undefined || decodeEvent(row).at >= since) high = middle;
    else low = row.seq;
  }
  return low;
}
