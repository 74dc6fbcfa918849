/**
 * The copy of conversations in the file of a node, row by row, beside what Restate has. Rows that belong to no
 * conversation are not compared: counts of starts, and configs but for those that are missing.
 */
import { type Database, loadDriver } from "../../../src/adapters/stores/sqlite-driver.ts";
import { exactly } from "../../../src/adapters/stores/sqlite-text.ts";
import { hash52 } from "../../../src/domain/key.ts";
import type { KeptRow } from "../../../src/domain/ports/index.ts";

const tables = ["conversation", "journal", "outbox", "deadline", "run", "session", "transcript"];

const written = (table: string, row: object): string => {
  const fields = Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1));
  return `${table} ${JSON.stringify(fields)}`;
};

/** Reads a file beside its node, which may be about to recover what one that was killed has left: that locks it. */
function reader(path: string): Database {
  const { DatabaseSync } = loadDriver();
  const database = new DatabaseSync(path, { readOnly: true });
  database.exec("PRAGMA busy_timeout = 10000");
  return database;
}

/** The lists of quarantined events in a file. */
export function quarantinedIn(path: string): readonly string[] {
  const database = reader(path);
  try {
    const rows = database.prepare("SELECT list FROM quarantined").all() as { list: string }[];
    return rows.map(({ list }) => list);
  } finally {
    database.close();
  }
}

/** What a file has of a conversation, and what it should have, both in one order. */
export function compared(
  path: string,
  key: string,
  stored: readonly KeptRow[],
): { readonly has: readonly string[]; readonly should: readonly string[] } {
  const database = reader(path);
  try {
    const conv = hash52(key);
    const all = (text: string, ...values: number[]) =>
      exactly(database.prepare(text)).all(...values) as object[];
    const has = tables.flatMap((table) =>
      all(`SELECT * FROM ${table} WHERE conv = ?`, conv).map((row) => written(table, row)),
    );
    const applied = "SELECT a.* FROM applied a JOIN journal j ON j.seq = a.seq WHERE j.conv = ?";
    has.push(...all(applied, conv).map((row) => written("applied", row)));
    const configs = new Set(all("SELECT * FROM config").map((row) => written("config", row)));
    const should = stored.flatMap(({ table, row }) => {
      if (row === null || table === "meta" || (table === "journal" && row.conv === 0)) return [];
      const text = written(table, row);
      return table === "config" && configs.has(text) ? [] : [text];
    });
    return { has: has.sort(), should: should.sort() };
  } finally {
    database.close();
  }
}
