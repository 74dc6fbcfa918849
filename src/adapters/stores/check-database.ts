/**
 * Reads a whole database and says what is damaged in it. Changes nothing; a daemon may be using it
 * meanwhile.
 */
import { existsSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { EarshotError } from "../../domain/errors.ts";
import type { EventRow, OutboxRow } from "../../domain/ports/index.ts";
import { checkedEvent, checkedOutbox, damagedError, type Summed } from "./row-sum.ts";
import { type Database, loadDriver, storeError } from "./sqlite-driver.ts";
import { schemaVersion, sql } from "./sqlite-schema.ts";
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
  const scan = exactly(database.prepare(sql.scan));
  let read = 0;
  for (let after = 0; ; ) {
    const rows = scan.all(after, sliceRows) as Summed<EventRow>[];
    for (const row of rows) checkedEvent(row, damaged);
    read += rows.length;
    after = rows.at(-1)?.seq ?? after;
    if (rows.length < sliceRows) return read;
    await setImmediate();
  }
}
