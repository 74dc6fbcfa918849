/**
 * Checksums of rows
 * =================
 * A disk may give back other bytes than were written. SQLite notices what breaks its own structure, but
 * not a changed letter in a text. What is acted on after a restart, the events of the journal, the rows
 * of the outbox, the records of conversations and the lines of transcripts, has a CRC-32 that is checked
 * whenever it is read from the disk: another text is never decided on, never sent and never put into a
 * prompt. A row of an earlier version has none and is read as it is. It costs 0.3 µs for an event,
 * 0.7 µs for a row of the outbox, 0.8 µs for a line (344 bytes of text each) and 0.9 µs for a record of 2 kB
 * (Node 20).
 */
import { crc32 } from "node:zlib";
import { EarshotError } from "../../domain/errors.ts";
import type {
  CheckpointWrite,
  ConversationRow,
  EventRow,
  EventWrite,
  OutboxRow,
} from "../../domain/ports/index.ts";
import type { TranscriptLine } from "../../domain/session.ts";

/** A row as it is read, with its checksum; null: it was written without one. */
export type Summed<Row> = Row & { readonly sum: number | null };

type EventPart = Pick<EventWrite, "at" | "conv" | "cfg" | "body">;

export const sumOfEvent = ({ at, conv, cfg, body }: EventPart): number =>
  crc32(body, (at ^ conv ^ cfg) >>> 0);

export function sumOfOutbox(row: OutboxRow): number {
  const { id, conv, key, turnId, index, kind, state, createdAt, dueAt, attempts, doubts } = row;
  const { body, messageIds, error } = row;
  const numbers = `${conv} ${index} ${createdAt} ${dueAt} ${attempts} ${doubts}`;
  const texts = `${id}\n${key}\n${turnId}\n${kind}\n${state}\n${messageIds}\n${error}\n${numbers}\n`;
  return crc32(body, crc32(texts));
}

/** No CRC-32 is negative. */
const noSum = -1;

type RecordPart = Pick<CheckpointWrite, "conv" | "recordSeq" | "epoch" | "record">;

export const sumOfRecord = ({ conv, recordSeq, epoch, record }: RecordPart): number =>
  crc32(record, crc32(`${conv} ${recordSeq} ${epoch}`));

/** A line of a transcript as it is stored. */
export interface StoredLine extends Pick<TranscriptLine, "id" | "role" | "at" | "text"> {
  readonly session: string;
  readonly turn: string;
  readonly covers: number | null;
  /** JSON of the rest. */
  readonly more: string | null;
}

export function sumOfLine(line: StoredLine): number {
  const { id, session, turn, role, at, text, covers, more } = line;
  return crc32(text, crc32(`${id} ${at} ${covers} ${role}\n${session}\n${turn}\n${more}`));
}

/**
 * The row without its checksum.
 * @throws EarshotError EAR_STORE_DAMAGED when it is not the row that was written.
 */
function checked<Row>(
  { sum, ...row }: Summed<Row>,
  expected: number,
  damaged: (what: string) => EarshotError,
  what: string,
): Row {
  if (sum !== null && sum !== expected) throw changed(damaged, what);
  return row as Row;
}

export type Damaged = (what: string) => EarshotError;

const changed = (damaged: Damaged, what: string) => damaged(`${what} is not as it was written`);

/** Field by field, because rows of conversations that are loaded again are read for most lines of many rooms. */
export function checkedEvent(row: Summed<EventRow>, damaged: Damaged): EventRow {
  const { seq, at, conv, cfg, body, code, sum } = row;
  if (sum !== null && sum !== sumOfEvent(row)) throw changed(damaged, `journal row ${seq}`);
  return { seq, at, conv, cfg, body, code };
}

export const checkedOutbox = (row: Summed<OutboxRow>, damaged: Damaged): OutboxRow =>
  checked<OutboxRow>(row, sumOfOutbox(row), damaged, `an outbox row of turn ${row.turnId}`);

/** A conversation without a record has no checksum either: it is built from the journal. */
export function checkedConversation(
  row: Summed<ConversationRow>,
  damaged: Damaged,
): ConversationRow {
  const { record } = row;
  const expected = record === null ? noSum : sumOfRecord({ ...row, record });
  return checked<ConversationRow>(row, expected, damaged, `the record of ${row.key}`);
}

export const checkedLine = (row: Summed<StoredLine>, damaged: Damaged): StoredLine =>
  checked<StoredLine>(row, sumOfLine(row), damaged, `line ${row.id} of a transcript`);

/** What a damaged database means, and what helps. */
export function damagedError(path: string, why: string, cause?: unknown): EarshotError {
  return new EarshotError(
    "EAR_STORE_DAMAGED",
    `Cannot use the database ${path}: it is damaged (${why}). Stop earshot and check the disk; then ` +
      "put back a copy of the database, or move it with its -wal and -shm away to begin with an empty one.",
    { cause },
  );
}
