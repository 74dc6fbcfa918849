/**
 * The rows of a database, kept elsewhere
 * ======================================
 * A temporary database can be filled with rows that something else keeps, and says which of its rows have changed
 * since it was asked last. A row has the names of its columns, so one that an older version has written is
 * read by a newer one, where the new columns have defaults, and the other way round.
 */
import { EarshotError } from "../../domain/errors.ts";
import type { KeptRow } from "../../domain/ports/index.ts";
import type { Database, Value } from "./sqlite-driver.ts";
import { exactly } from "./sqlite-text.ts";

interface Table {
  readonly name: string;
  /** The columns that name a row. */
  readonly key: readonly string[];
  readonly columns: ReadonlySet<string>;
}

interface Column {
  readonly name: string;
  /** Its place in the primary key, from 1; 0: it is no part of it. */
  readonly pk: number;
}

function tablesOf(database: Database): readonly Table[] {
  const found = database
    .prepare("SELECT name FROM main.sqlite_schema WHERE type = 'table' ORDER BY name")
    .all() as { name: string }[];
  return found.map(({ name }) => {
    const columns = database
      .prepare("SELECT name, pk FROM pragma_table_info(?, 'main')")
      .all(name) as Column[];
    const key = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
    return {
      name,
      // The outbox has no primary key: its order of insertion counts, and its id is unique.
      key: key.length > 0 ? key.map((column) => column.name) : ["id"],
      columns: new Set(columns.map((column) => column.name)),
    };
  });
}

/**
 * Puts rows into a database that has none, in their order.
 * @throws EarshotError EAR_RECORD_INVALID when they are of a table that this version does not have.
 */
export function fillRows(database: Database, rows: readonly KeptRow[]): void {
  const tables = new Map(tablesOf(database).map((table) => [table.name, table]));
  for (const { table: name, row } of rows) {
    const table = tables.get(name);
    if (table === undefined)
      throw new EarshotError(
        "EAR_RECORD_INVALID",
        `Cannot read a row of ${JSON.stringify(name)}: this version has no such table.`,
      );
    if (row === null) continue;
    // What a newer version has added says nothing to this one.
    const fields = Object.entries(row).filter(([column]) => table.columns.has(column));
    const names = fields.map(([column]) => column).join(", ");
    const marks = fields.map(() => "?").join(", ");
    // Names of tables and columns are those of the schema.
    const text = `INSERT OR REPLACE INTO main.${name}(${names}) VALUES(${marks})`;
    exactly(database.prepare(text)).run(...fields.map(([, value]) => value as Value));
  }
}

/**
 * Watches the rows of a database. Returns a function that gives the rows which have changed since its last call,
 * each once, as they are now.
 */
export function watchRows(database: Database): () => readonly KeptRow[] {
  const tables = tablesOf(database);
  database.exec(
    "CREATE TEMP TABLE changed(name TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY(name, id))",
  );
  for (const { name, key } of tables)
    for (const event of ["INSERT", "UPDATE", "DELETE"]) {
      const source = event === "DELETE" ? "OLD" : "NEW";
      const id = `json_array(${key.map((column) => `${source}.${column}`).join(", ")})`;
      database.exec(
        `CREATE TEMP TRIGGER ${name}_${event} AFTER ${event} ON main.${name} BEGIN ` +
          // The conflict clause of the statement that fires it would replace one of its own.
          `INSERT INTO changed SELECT '${name}', ${id} WHERE NOT EXISTS ` +
          `(SELECT 1 FROM changed WHERE name = '${name}' AND id = ${id}); END`,
      );
    }
  const changed = database.prepare("SELECT name, id FROM temp.changed ORDER BY name, rowid");
  const forget = database.prepare("DELETE FROM temp.changed");
  const read = new Map(
    tables.map(({ name, key }) => {
      const where = key.map((column) => `${column} = ?`).join(" AND ");
      const text = `SELECT * FROM main.${name} WHERE ${where}`;
      return [name, exactly(database.prepare(text))] as const;
    }),
  );
  return () => {
    const names = changed.all() as { name: string; id: string }[];
    if (names.length > 0) forget.run();
    return names.map(({ name, id }) => {
      const found = read.get(name)?.get(...(JSON.parse(id) as Value[])) as KeptRow["row"];
      return { table: name, id, row: found === undefined ? null : { ...found } };
    });
  };
}
