/**
 * Reads a whole database and says what is damaged in it. Changes nothing; a daemon may be using it
 * meanwhile.
 */
import { existsSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { EarshotError } from "../../domain/errors.ts";
import type { ConversationRow, EventRow, OutboxRow } from "../../domain/ports/index.ts";
import {
  checkedConversation,
  checkedEvent,
  checkedLine,
  checkedOutbox,
  damagedError,
  type StoredLine,
  type Summed,
} from "./row-sum.ts";
import { type Database, loadDriver, type Statement, storeError } from "./sqlite-driver.ts";
import { schemaVersion, sql } from "./sqlite-schema.ts";
import { sessionSql } from "./sqlite-sessions.ts";
import { exactly } from "./sqlite-text.ts";

const sliceRows = 10_000;

/**
 * How many rows of the journal were read; null: there is no database yet, or it is of an earlier
 * version, which has no checksums and is changed by the next start.
 * @throws EarshotError EAR_STORE_DAMAGED | EAR_STORE_FAILED
 */
export async function checkDatabase(path: string): Promise<number | null> {
  if (!existsSync(path)) return null;
  let database: Database | null = null;
  try {
    const { DatabaseSync } = loadDriver();
    database = new DatabaseSync(path, { readOnly: true });
    const [first] = database.prepare("PRAGMA integrity_check(1)").all() as [
      { integrity_check: string },
    ];
    if (first.integrity_check !== "ok") throw damagedError(path, first.integrity_check);
    const version = database.prepare("PRAGMA user_version").get() as { user_version: number };
    return version.user_version === schemaVersion ? await checkRows(database, path) : null;
  } catch (error) {
    throw error instanceof EarshotError ? error : storeError(error, path);
  } finally {
    database?.close();
  }
}

async function checkRows(database: Database, path: string): Promise<number> {
  const damaged = (what: string) => damagedError(path, what);
  for (const row of exactly(database.prepare(sql.outboxOpen)).all() as Summed<OutboxRow>[])
    checkedOutbox(row, damaged);
  await readSlices<Summed<ConversationRow>>(
    exactly(database.prepare(sql.conversations)),
    ({ conv }) => conv,
    (row) => checkedConversation(row, damaged),
  );
  await readSlices<Summed<StoredLine>>(
    exactly(database.prepare(sessionSql.scanLines)),
    ({ id }) => id,
    (row) => checkedLine(row, damaged),
  );
  return readSlices<Summed<EventRow>>(
    exactly(database.prepare(sql.scan)),
    ({ seq }) => seq,
    (row) => checkedEvent(row, damaged),
  );
}

/** Reads all rows of a statement that gives so many after a number. How many they were. */
async function readSlices<Row>(
  scan: Statement,
  numberOf: (row: Row) => number,
  check: (row: Row) => void,
): Promise<number> {
  let read = 0;
  for (let after = Number.MIN_SAFE_INTEGER; ; ) {
    const rows = scan.all(after, sliceRows) as Row[];
    for (const row of rows) check(row);
    read += rows.length;
    const last = rows.at(-1);
    if (last === undefined || rows.length < sliceRows) return read;
    after = numberOf(last);
    await setImmediate();
  }
}
