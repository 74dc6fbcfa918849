/**
 * Checksums of rows
 * =================
 * A disk may give back other bytes than were written. SQLite notices what breaks its own structure, but
 * not a changed letter in a text. What is acted on after a restart, the events of the journal and the
 * rows of the outbox, has a CRC-32 that is checked whenever it is read from the disk: another text is
 * never decided on, and never sent. A row of an earlier version has none and is read as it is. It costs
 * 0.3 µs for an event and 0.7 µs for a row of the outbox (344 bytes of text, Node 20).
 */
import { crc32 } from "node:zlib";
import { EarshotError } from "../../domain/errors.ts";
import type { EventRow, EventWrite, OutboxRow } from "../../domain/ports/index.ts";

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
  if (sum !== null && sum !== expected) throw damaged(`${what} is not as it was written`);
  return row as Row;
}

type Damaged = (what: string) => EarshotError;

export const checkedEvent = (row: Summed<EventRow>, damaged: Damaged): EventRow =>
  checked<EventRow>(row, sumOfEvent(row), damaged, `journal row ${row.seq}`);

export const checkedOutbox = (row: Summed<OutboxRow>, damaged: Damaged): OutboxRow =>
  checked<OutboxRow>(row, sumOfOutbox(row), damaged, `an outbox row of turn ${row.turnId}`);

/** What a damaged database means, and what helps. */
export function damagedError(path: string, why: string, cause?: unknown): EarshotError {
  return new EarshotError(
    "EAR_STORE_DAMAGED",
    `Cannot use the database ${path}: it is damaged (${why}). Stop earshot and check the disk; then ` +
      "put back a copy of the database, or move it with its -wal and -shm away to begin with an empty one.",
    { cause },
  );
}
