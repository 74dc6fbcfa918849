/**
 * Reads the journal back as a scenario: what came in, when, what the agents did and the outcome of
 * their sends, so that a replay reproduces the history and another config can be tried on it
 * (docs/guide/scenarios.md). It only reads, in slices, beside a running daemon or without one.
 *
 * Nothing is invented: conversations of a recording begin empty, and recognised duplicates are left
 * out.
 */
import type { Millis } from "../../domain/message.ts";
import { decodeEvent, eventsIn } from "../protocol/event-codec.ts";
import { quarantinedCode } from "../protocol/host-protocol.ts";
import { Recorder } from "./scenario-lines.ts";
import type {
  LabelRow,
  RecordedRow,
  RecordingLine,
  RecordingRange,
  RecordingStore,
} from "./types.ts";

type Row = RecordedRow | LabelRow;
const isLabel = (row: Row): row is LabelRow => row.event.type === "message.labelled";

/** Journal rows read at a time. */
const sliceRows = 512;

/**
 * The lines of the recording, in order. Rows journalled meanwhile are not included.
 * @throws EarshotError EAR_STORE_FAILED; EAR_RECORD_INVALID for a row that is not an event.
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
      // Quarantined events reached no conversation.
      if (row.code === quarantinedCode) continue;
      if (row.event.at < query.since) continue;
      if (isLabel(row)) await recorder.label(row);
      else yield* recorder.add(row);
    }
    after = rows.at(-1)?.seq ?? last;
    rows = await slice(store, after, last);
  }
  yield* recorder.finish();
}

async function slice(store: RecordingStore, after: number, last: number): Promise<Row[]> {
  if (after >= last) return [];
  const rows = await store.scan(after, sliceRows);
  return rows
    .filter(({ seq }) => seq <= last)
    .flatMap((row): Row[] => {
      const event = decodeEvent(row);
      if (event.type === "message.labelled") return [{ ...row, event }];
      return eventsIn(event).map((one) => ({ ...row, event: one }));
    });
}

/** The number before the first row admitted at `since` or later. */
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
