/**
 * The rows of many conversations in one database
 * ==============================================
 * Puts the rows that an engine keeps of each conversation into the tables of a store, as they are: their numbers are
 * different in all of them. What belongs to no conversation stays away, such as the count of starts.
 */
import { hash52 } from "../../domain/key.ts";
import type {
  DeliveryChange,
  DeliveryRow,
  KeptRow,
  MirrorChange,
} from "../../domain/ports/index.ts";
import { noConversation } from "../../domain/ports/index.ts";
import type { Database, Statement, Value } from "./sqlite-driver.ts";
import { exactly } from "./sqlite-text.ts";

/**
 * Of the tables of a store: rows come in any order, and a conversation is read and replaced as a whole. `arrival` has
 * the order in which events came, as their numbers are those of all nodes.
 */
export const mirrorSchema = `
DROP INDEX journal_event;
DROP INDEX session_in_use;
CREATE INDEX session_in_use ON session(conv) WHERE archived IS NULL;
CREATE INDEX journal_conv ON journal(conv, seq);
CREATE INDEX journal_mid ON journal(mid, seq) WHERE mid IS NOT NULL;
CREATE INDEX outbox_conv ON outbox(conv);
CREATE INDEX transcript_conv ON transcript(conv);
CREATE TABLE kept(key TEXT PRIMARY KEY, conv INTEGER NOT NULL, revision INTEGER,
  open INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE INDEX kept_open ON kept(conv) WHERE open = 1;
CREATE TABLE quarantined(conv INTEGER PRIMARY KEY, list TEXT NOT NULL);
CREATE TABLE arrival(place INTEGER PRIMARY KEY AUTOINCREMENT, seq INTEGER NOT NULL UNIQUE);
INSERT INTO meta(name, value) VALUES('sweptSeq', '${Number.MAX_SAFE_INTEGER}');
`;

/** The columns that name a row of each table. */
const keys: Readonly<Record<string, readonly string[]>> = {
  conversation: ["conv"],
  journal: ["seq"],
  applied: ["seq"],
  outbox: ["id"],
  deadline: ["conv", "id"],
  run: ["conv"],
  session: ["id"],
  transcript: ["id"],
  config: ["version"],
};
const ofConversation = ["conversation", "outbox", "deadline", "run", "session", "transcript"];

export const mirrorSql = {
  delivery: "SELECT id, conv, state, attempts, doubts, error FROM outbox WHERE id = ?",
  isKnown: "SELECT 1 AS found FROM kept WHERE key = ?",
  isApplied: "SELECT 1 AS found FROM applied WHERE seq = ?",
  arrived: "INSERT INTO arrival(seq) VALUES(?) ON CONFLICT DO NOTHING",
  unsure: "UPDATE kept SET revision = NULL WHERE key = ? AND revision IS NOT NULL",
  know:
    "INSERT INTO kept(key, conv, revision) VALUES(?, ?, ?) " +
    "ON CONFLICT DO UPDATE SET revision = excluded.revision",
  known: "INSERT INTO kept(key, conv) VALUES(?, ?) ON CONFLICT DO NOTHING",
  unknown: "DELETE FROM kept WHERE key = ?",
  forgetArrivals: "DELETE FROM arrival WHERE seq IN (SELECT seq FROM journal WHERE conv = ?)",
  forgetApplied: "DELETE FROM applied WHERE seq IN (SELECT seq FROM journal WHERE conv = ?)",
  forgetEvents: "DELETE FROM journal WHERE conv = ?",
  quarantine:
    "INSERT INTO quarantined(conv, list) VALUES(?, ?) " +
    "ON CONFLICT DO UPDATE SET list = excluded.list",
  open:
    "UPDATE kept SET open = coalesce((SELECT max(seq) FROM journal WHERE conv = ?2), 0) > " +
    "coalesce((SELECT record_seq FROM conversation WHERE conv = ?2), 0) WHERE key = ?1",
  release: "DELETE FROM quarantined WHERE conv = ?",
  beat:
    "INSERT INTO meta(name, value) VALUES(?, ?) " +
    "ON CONFLICT DO UPDATE SET value = excluded.value",
  stopBeat: "DELETE FROM meta WHERE name = ?",
} as const;

/** Of the meta row with the state of a conversation's heartbeats. */
const beatOf = (key: string) => `heartbeat|${key}`;

export interface MirrorWriter {
  /**
   * Makes a change, in the transaction of its caller. Adds the numbers of newly applied events to `fresh`, and changes of
   * the outbox to `deliveries`, where they are asked for.
   */
  write(change: MirrorChange, fresh: number[], deliveries: DeliveryChange[] | null): void;
}

/** @param use prepares a statement, once */
export function createMirrorWriter(
  database: Database,
  use: (text: string) => Statement,
): MirrorWriter {
  const columns = new Map(
    Object.keys(keys).map((table) => {
      const found = database.prepare("SELECT name FROM pragma_table_info(?)").all(table);
      return [table, new Set((found as { name: string }[]).map(({ name }) => name))] as const;
    }),
  );
  const texts = new Map<string, string>();

  /** Keeps its place in the table, which says when a row of the outbox came. */
  function putText(table: string, names: readonly string[]): string {
    const shape = `${table} ${names.join()}`;
    const known = texts.get(shape);
    if (known !== undefined) return known;
    const key = keys[table] ?? [];
    const others = names.filter((name) => !key.includes(name));
    const then =
      others.length === 0
        ? "NOTHING"
        : `UPDATE SET ${others.map((name) => `${name} = excluded.${name}`).join(", ")}`;
    // Names of tables and columns are those of the schema.
    const text =
      `INSERT INTO ${table}(${names.join(", ")}) VALUES(${names.map(() => "?").join(", ")}) ` +
      `ON CONFLICT(${key.join(", ")}) DO ${then}`;
    texts.set(shape, text);
    return text;
  }

  function put({ table, id, row }: KeptRow, key: string, fresh: number[]): void {
    if (table === "meta") {
      meta(id, row, key);
      return;
    }
    const has = columns.get(table);
    // A newer version may have other tables and columns, of which this one shows nothing.
    if (has === undefined) return;
    if (row === null) {
      if (table === "config") return;
      const where = (keys[table] ?? []).map((column) => `${column} = ?`).join(" AND ");
      use(`DELETE FROM ${table} WHERE ${where}`).run(...(JSON.parse(id) as Value[]));
      return;
    }
    if (table === "journal") {
      if (row.conv === noConversation) return;
      use(mirrorSql.arrived).run(row.seq ?? null);
    }
    if (table === "applied" && use(mirrorSql.isApplied).get(row.seq ?? null) === undefined)
      fresh.push(Number(row.seq));
    const names = Object.keys(row).filter((name) => has.has(name));
    use(putText(table, names)).run(...names.map((name) => row[name] ?? null));
  }

  function meta(id: string, row: KeptRow["row"], key: string): void {
    const name = (JSON.parse(id) as unknown[])[0];
    const conv = hash52(key);
    if (name === beatOf(key)) {
      if (row === null) use(mirrorSql.stopBeat).run(name);
      else use(mirrorSql.beat).run(name, row.value ?? null);
    }
    if (name !== "quarantine") return;
    const list = row?.value ?? "[]";
    if (list === "[]") use(mirrorSql.release).run(conv);
    else use(mirrorSql.quarantine).run(conv, list);
  }

  /** The deliveries of which there are rows, as they are stored now. */
  function deliveriesOf(rows: readonly KeptRow[]): ReadonlyMap<string, DeliveryRow> {
    const ids = rows.flatMap(({ table, id }) =>
      table === "outbox" ? (JSON.parse(id) as Value[]) : [],
    );
    const found = ids.map((id) => use(mirrorSql.delivery).get(id) as DeliveryRow | undefined);
    return new Map(found.flatMap((row) => (row === undefined ? [] : [[row.id, row]])));
  }

  function forget(key: string, conv: number): void {
    use(mirrorSql.stopBeat).run(beatOf(key));
    // Events stay in the order of their arrival where they come again, and are asked for by it.
    use(mirrorSql.forgetApplied).run(conv);
    use(mirrorSql.forgetEvents).run(conv);
    use(mirrorSql.release).run(conv);
    for (const table of ofConversation) use(`DELETE FROM ${table} WHERE conv = ?`).run(conv);
  }

  return {
    write({ key, rows, revision, isWhole = false }, fresh, deliveries) {
      const conv = hash52(key);
      const isFollowed = !isWhole || use(mirrorSql.isKnown).get(key) !== undefined;
      const followed = deliveries !== null && isFollowed ? rows : [];
      const earlier = deliveriesOf(followed);
      const before = new Set<number>();
      if (isWhole) {
        const applied =
          "SELECT a.seq AS seq FROM journal j JOIN applied a ON a.seq = j.seq WHERE j.conv = ?";
        for (const { seq } of use(applied).all(conv) as { seq: number }[]) before.add(seq);
        if (rows.length === 0) use(mirrorSql.forgetArrivals).run(conv);
        forget(key, conv);
      }
      const found: number[] = [];
      for (const row of rows) put(row, key, found);
      for (const seq of found) if (!before.has(seq)) fresh.push(seq);
      for (const [id, after] of deliveriesOf(followed))
        deliveries?.push({ before: earlier.get(id) ?? null, after });
      if (isWhole && rows.length === 0) use(mirrorSql.unknown).run(key);
      else if (revision !== null) use(mirrorSql.know).run(key, conv, revision);
      else {
        use(mirrorSql.known).run(key, conv);
        use(mirrorSql.unsure).run(key);
      }
      if (isWhole || rows.some(({ table }) => table === "journal" || table === "conversation"))
        use(mirrorSql.open).run(key, conv);
    },
  };
}

/** Statements that take and give any text. */
export function preparing(database: Database): (text: string) => Statement {
  const prepared = new Map<string, Statement>();
  return (text) => {
    const known = prepared.get(text);
    if (known !== undefined) return known;
    const statement = exactly(database.prepare(text));
    prepared.set(text, statement);
    return statement;
  };
}
