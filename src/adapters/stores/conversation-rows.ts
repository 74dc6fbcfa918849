/**
 * The rows of a journal, conversation by conversation
 * ===================================================
 * Reads what belongs to one conversation out of the database of a daemon that does not run, in the form in which
 * an engine keeps it (kept-rows.ts). The journal has no index by conversation, because its rows are inserted
 * more often than a conversation is read as a whole: an index is made for this read in a file of the system's folder
 * for temporary files. Nothing is written to the database, and one conversation is in memory at a time.
 */
import { EarshotError } from "../../domain/errors.ts";
import type { Millis } from "../../domain/message.ts";
import type { KeptRow } from "../../domain/ports/index.ts";
import { type SharedSource, sharedIn } from "./shared-rows-source.ts";
import { type Database, loadDriver, storeError, type Value } from "./sqlite-driver.ts";
import { schemaVersion } from "./sqlite-schema.ts";
import { exactly } from "./sqlite-text.ts";

type Row = NonNullable<KeptRow["row"]>;

export interface WholeConversation {
  readonly conv: number;
  readonly key: string;
  readonly rows: readonly KeptRow[];
  /** When it must be stepped again: 0: now, as something is under way; null: when somebody speaks. */
  readonly dueAt: Millis | null;
}

export interface ConversationSource {
  readonly count: number;
  /** Each conversation, in the order of their numbers. */
  conversations(): Iterable<WholeConversation>;
  /** What belongs to no conversation, and nodes share. */
  shared(): SharedSource;
  close(): void;
}

const indexes = `
PRAGMA temp_store = FILE;
CREATE TEMP TABLE of_journal(conv INTEGER, seq INTEGER, PRIMARY KEY(conv, seq)) WITHOUT ROWID;
INSERT INTO of_journal SELECT conv, seq FROM main.journal WHERE conv <> 0 ORDER BY conv, seq;
CREATE TEMP TABLE of_transcript(conv INTEGER, id INTEGER, PRIMARY KEY(conv, id)) WITHOUT ROWID;
INSERT INTO of_transcript SELECT conv, id FROM main.transcript ORDER BY conv, id;
CREATE TEMP TABLE of_outbox(conv INTEGER, place INTEGER, PRIMARY KEY(conv, place)) WITHOUT ROWID;
INSERT INTO of_outbox SELECT conv, rowid FROM main.outbox ORDER BY conv, rowid;
`;

/** Each table: the columns that name a row, and which rows are those of conversation `?`, in order. */
const parts: readonly (readonly [table: string, key: string, from: string])[] = [
  ["conversation", "conv", "conversation t WHERE t.conv = ?"],
  [
    "journal",
    "seq",
    "of_journal o JOIN journal t ON t.seq = o.seq WHERE o.conv = ? ORDER BY o.seq",
  ],
  [
    "applied",
    "seq",
    "of_journal o JOIN applied t ON t.seq = o.seq WHERE o.conv = ? ORDER BY o.seq",
  ],
  [
    "outbox",
    "id",
    "of_outbox o JOIN outbox t ON t.rowid = o.place WHERE o.conv = ? ORDER BY o.place",
  ],
  ["deadline", "conv, t.id", "deadline t WHERE t.conv = ? ORDER BY t.id"],
  ["run", "conv", "run t WHERE t.conv = ?"],
  ["session", "id", "session t WHERE t.conv = ? ORDER BY t.from_seq, t.id"],
  [
    "transcript",
    "id",
    "of_transcript o JOIN transcript t ON t.id = o.id WHERE o.conv = ? ORDER BY o.id",
  ],
  [
    "config",
    "version",
    "config t WHERE t.version IN (SELECT j.cfg FROM of_journal o JOIN journal j ON j.seq = o.seq " +
      "WHERE o.conv = ?) ORDER BY t.version",
  ],
];
const underWay: ReadonlySet<unknown> = new Set(["pending", "sending", "waiting"]);

/**
 * Opens the database for reading.
 * @throws EarshotError EAR_STORE_VERSION when another version has written it; EAR_STORE_FAILED, EAR_STORE_DAMAGED.
 */
export function openConversationSource(path: string): ConversationSource {
  const { DatabaseSync } = loadDriver();
  let database: Database | null = null;
  try {
    database = new DatabaseSync(path, { readOnly: true });
    const found = database.prepare("PRAGMA user_version").get() as { user_version: number };
    if (found.user_version !== schemaVersion)
      throw new EarshotError(
        "EAR_STORE_VERSION",
        `Cannot read ${path}: expected schema version ${schemaVersion} (found version ` +
          `${found.user_version}). Start this earshot on it once, which changes it, and stop it again.`,
      );
    database.exec(indexes);
    return sourceOf(database);
  } catch (error) {
    database?.close();
    throw storeError(error, path);
  }
}

function sourceOf(database: Database): ConversationSource {
  // Texts are fixed: they are those of `parts`.
  const readers = parts.map(([table, key, from]) => {
    // As a trigger of the engine's database names a row: exactly as it is stored.
    const names = `SELECT json_array(t.${key}) AS id FROM ${from}`;
    const rows = `SELECT t.* FROM ${from}`;
    return { table, ids: database.prepare(names), rows: exactly(database.prepare(rows)) };
  });
  const metaOf = exactly(database.prepare("SELECT value FROM meta WHERE name = ?"));
  const next = exactly(
    database.prepare("SELECT conv, key FROM conversation WHERE conv > ? ORDER BY conv LIMIT 1"),
  );
  const { n: count } = database.prepare("SELECT count(*) AS n FROM conversation").get() as {
    n: number;
  };

  const meta = (name: string) => (metaOf.get(name) as { value: string } | undefined)?.value ?? null;

  function whole(conv: number, key: string): WholeConversation {
    const read = readers.flatMap(({ table, ids, rows }) => {
      const names = ids.all(conv) as { id: string }[];
      return (rows.all(conv) as Row[]).map((row, place) => {
        const { id } = names[place] as { id: string };
        return { table, id, row: { ...row } };
      });
    });
    const rowsOf = (table: string) =>
      read.filter((one) => one.table === table).map(({ row }) => row);
    const covered = Number(rowsOf("conversation")[0]?.record_seq ?? 0);
    const events = rowsOf("journal").map(({ seq }) => Number(seq));
    const applied = new Set(rowsOf("applied").map(({ seq }) => Number(seq)));
    const last = events.at(-1) ?? 0;
    const open = events.find((seq) => seq > covered);
    const isUnderWay =
      rowsOf("run").length > 0 ||
      rowsOf("outbox").some(({ state }) => underWay.has(state)) ||
      events.some((seq) => seq > covered && !applied.has(seq));
    const due = rowsOf("deadline").map(({ at }) => Number(at));
    const added = [
      ...(last < covered ? [lastEvent(covered)] : []),
      ...startsOf(conv, key, open === undefined ? Math.max(last, covered) : open - 1),
    ];
    const soonest = due.length === 0 ? null : Math.max(0, Math.min(...due));
    return { conv, key, rows: [...read, ...added], dueAt: isUnderWay ? 0 : soonest };
  }

  /**
   * What a runtime reads first: which start this is, from where it looks for open events, what is quarantined, when
   * its agent was woken last.
   */
  function startsOf(conv: number, key: string, checked: number): readonly KeptRow[] {
    const listed = JSON.parse(meta("quarantine") ?? "[]") as { readonly conv: number }[];
    const own = listed.filter((entry) => entry.conv === conv);
    const values: readonly (readonly [name: string, value: string | null])[] = [
      ["boot", meta("boot")],
      ["sweptSeq", String(checked)],
      ["quarantine", own.length === 0 ? null : JSON.stringify(own)],
      [`heartbeat|${key}`, meta(`heartbeat|${key}`)],
    ];
    return values.flatMap(([name, value]) =>
      value === null ? [] : [{ table: "meta", id: JSON.stringify([name]), row: { name, value } }],
    );
  }

  function* conversations(): Generator<WholeConversation> {
    for (let after = Number.MIN_SAFE_INTEGER; ; ) {
      const found = next.get(after as Value) as { conv: number; key: string } | undefined;
      if (found === undefined) return;
      yield whole(found.conv, found.key);
      after = found.conv;
    }
  }

  return {
    count,
    conversations,
    shared: () => sharedIn(database),
    close: () => database.close(),
  };
}

/**
 * Its events were deleted for their age. The next one would get the number 1, which its record covers, so
 * something that no conversation hears has the number of the last.
 */
function lastEvent(seq: number): KeptRow {
  const body = JSON.stringify({ type: "host.recovered", at: 0, restarted: true });
  const identity = `moved|${seq}`;
  const row = { seq, eid: 0, conv: 0, at: 0, cfg: 0, identity, mid: null, body, sum: null };
  return { table: "journal", id: JSON.stringify([seq]), row };
}
