/**
 * `node:sqlite` where the runtime has it (Node 22.13 and later), else `@photostructure/sqlite`,
 * which has the same interface and is prebuilt: installation compiles nothing. Only the main thread
 * may open a database: ending a worker inside the driver aborts the whole process.
 */
import { createRequire } from "node:module";
import { EarshotError } from "../../domain/errors.ts";
import { damagedError } from "./row-sum.ts";

/** One prepared statement. Numbers stay numbers: every stored number is a safe integer. */
export interface Statement {
  run(...values: Value[]): { readonly changes: number | bigint; lastInsertRowid: number | bigint };
  get(...values: Value[]): unknown;
  all(...values: Value[]): unknown[];
}
export type Value = string | number | null;
export interface Database {
  readonly isOpen: boolean;
  readonly isTransaction: boolean;
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}
type Driver = {
  readonly DatabaseSync: new (path: string, options?: { readonly readOnly?: boolean }) => Database;
};

const require = createRequire(import.meta.url);

/** The runtime's own driver, or the packaged one; loaded when the first database is opened. */
export function loadDriver(): Driver {
  const own = process.getBuiltinModule("node:sqlite") as unknown as Driver | undefined;
  if (own?.DatabaseSync !== undefined) return own;
  return require("@photostructure/sqlite") as Driver;
}

/** The file of a database, for messages; it is asked without being read. */
export function fileOf(database: Database): string {
  if (!database.isOpen) return "of the journal";
  const [main] = database.prepare("PRAGMA database_list").all() as { file: string | null }[];
  return main?.file || "in memory";
}

const sqliteFull = 13;
/** SQLITE_CORRUPT and SQLITE_NOTADB; the extended codes have more above the lowest byte. */
const damage: ReadonlySet<number> = new Set([11, 26]);
const damageText = /malformed|is not a database|database corruption/;

/** SQLITE_CONSTRAINT_PRIMARYKEY. */
const keyTaken = 1555;

/** Whether a statement stored nothing because a row with that primary key is there. */
export const isKnownKey = (error: unknown): boolean =>
  (error as { errcode?: number }).errcode === keyTaken;

/**
 * Converts any error of the driver. EAR_STORE_FULL when the disk is full, else EAR_STORE_FAILED: both
 * are worth another attempt. EAR_STORE_DAMAGED is not: the file holds what SQLite cannot have written.
 * @param path the database's file in that message
 */
export function storeError(error: unknown, path = "of the journal"): EarshotError {
  if (error instanceof EarshotError) return error;
  const { errcode, code, message } = error as { errcode?: number; code?: string; message?: string };
  const reason = message ?? String(error);
  if (errcode === sqliteFull || code === "ENOSPC" || /disk is full|ENOSPC/.test(reason)) {
    return new EarshotError(
      "EAR_STORE_FULL",
      "Cannot write the journal: the disk is full. Free some space; earshot continues automatically.",
      { cause: error },
    );
  }
  if (damage.has((errcode ?? 0) & 0xff) || damageText.test(reason))
    return damagedError(path, reason, error);
  return new EarshotError(
    "EAR_STORE_FAILED",
    `Cannot use the journal: the store reports an error (${reason}).`,
    {
      cause: error,
    },
  );
}
