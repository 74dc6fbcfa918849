/**
 * Tables of the SQLite store
 * ==========================
 * Locality decides the insert rate: the journal's unique index starts with the platform's time, so
 * new rows are close together. The mark of an applied event is in a table of its own that grows at
 * its end (`applied`), because an update would rewrite the large row. A database of another version
 * is refused.
 */
import { sessionSchema, transcriptIndexes, transcriptSchema } from "./sqlite-sessions.ts";

/** Stored in `user_version`; a change of the tables raises it. */
export const schemaVersion = 5;

/**
 * For a database in a file: committed data survives a power failure. A checkpoint is made and synced
 * on the main thread, and all messages that come meanwhile wait for it: at SQLite's default, 4 MB of log, it
 * takes a third of the time that it takes at 16 MB, and 2% (lines) to 8% (turns) more bytes are written.
 */
export const durablePragmas = `
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
PRAGMA temp_store = MEMORY;
PRAGMA cache_size = -32768;
PRAGMA mmap_size = 0;
PRAGMA journal_size_limit = 67108864;
`;

/** For a database that ends with its connection: nothing is synced. */
export const temporaryPragmas = `
PRAGMA journal_mode = MEMORY;
PRAGMA synchronous = OFF;
PRAGMA cache_size = -32768;
`;

/** Who may speak besides the people in the config. */
export const accessSchema = `
CREATE TABLE access(name TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID;
`;

export const schema = `${accessSchema}${sessionSchema}${transcriptSchema}${transcriptIndexes}
CREATE TABLE journal(
  seq INTEGER PRIMARY KEY, eid INTEGER NOT NULL, conv INTEGER NOT NULL, at INTEGER NOT NULL,
  cfg INTEGER NOT NULL, identity TEXT NOT NULL, mid TEXT, body TEXT NOT NULL, sum INTEGER);
CREATE UNIQUE INDEX journal_event ON journal(at, eid, conv);
CREATE TABLE applied(seq INTEGER PRIMARY KEY, code INTEGER NOT NULL);
CREATE TABLE conversation(
  conv INTEGER PRIMARY KEY, key TEXT NOT NULL, record_seq INTEGER NOT NULL DEFAULT 0,
  epoch INTEGER NOT NULL DEFAULT 0, record TEXT, sum INTEGER);
CREATE TABLE outbox(
  id TEXT NOT NULL UNIQUE, conv INTEGER NOT NULL, key TEXT NOT NULL, turn TEXT NOT NULL,
  idx INTEGER NOT NULL, kind TEXT NOT NULL, state TEXT NOT NULL, created INTEGER NOT NULL,
  due INTEGER NOT NULL, attempts INTEGER NOT NULL, doubts INTEGER NOT NULL, body TEXT NOT NULL,
  mids TEXT, error TEXT, sum INTEGER);
CREATE INDEX outbox_state ON outbox(state);
CREATE INDEX outbox_turn ON outbox(turn);
CREATE TABLE deadline(
  conv INTEGER NOT NULL, id TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY(conv, id)
) WITHOUT ROWID;
CREATE TABLE run(
  conv INTEGER PRIMARY KEY, key TEXT NOT NULL, agent TEXT NOT NULL, turn TEXT,
  state TEXT NOT NULL, since INTEGER NOT NULL);
CREATE TABLE cursor(
  channel TEXT NOT NULL, account TEXT NOT NULL, identity TEXT NOT NULL, value TEXT NOT NULL,
  PRIMARY KEY(channel, account, identity)
) WITHOUT ROWID;
CREATE TABLE config(version INTEGER PRIMARY KEY, json TEXT NOT NULL);
CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
`;

/** A journal row with its mark; without a mark the event is not applied. */
const event =
  "SELECT j.seq AS seq, j.at AS at, j.conv AS conv, j.cfg AS cfg, j.body AS body, j.sum AS sum, a.code AS code " +
  "FROM journal j LEFT JOIN applied a ON a.seq = j.seq ";
const row =
  "SELECT id, conv, key, turn AS turnId, idx AS 'index', kind, state, created AS createdAt, " +
  "due AS dueAt, attempts, doubts, body, mids AS messageIds, error, sum FROM outbox ";

/** Marks that one statement stores. */
export const marksAtOnce = 8;

/** Every statement of the store. Texts are fixed; values are always parameters. */
export const sql = {
  insertEvent:
    "INSERT INTO journal(eid, conv, at, cfg, identity, mid, body, sum) " +
    "VALUES(?, ?, ?, ?, ?, ?, ?, ?) " +
    "ON CONFLICT DO NOTHING",
  insertNumbered:
    "INSERT INTO journal(eid, conv, at, cfg, identity, mid, body, sum, seq) " +
    "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?) " +
    "ON CONFLICT DO NOTHING",
  identity: "SELECT identity FROM journal WHERE at = ? AND eid = ? AND conv = ?",
  insertConversation:
    "INSERT INTO conversation(conv, key) VALUES(?, ?) ON CONFLICT(conv) DO NOTHING",
  insertMarks: `INSERT INTO applied(seq, code) VALUES${Array(marksAtOnce).fill("(?, ?)").join(", ")}`,
  insertApplied: "INSERT INTO applied(seq, code) VALUES(?, ?) ON CONFLICT(seq) DO NOTHING",
  checkpoint:
    "UPDATE conversation SET record = ?1, record_seq = ?2, epoch = ?3, sum = ?5 " +
    "WHERE conv = ?4 AND epoch <= ?3 AND record_seq <= ?2",
  putOutbox:
    "INSERT INTO outbox(id, conv, key, turn, idx, kind, state, created, due, attempts, doubts, " +
    "body, mids, error, sum) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) " +
    "ON CONFLICT(id) DO UPDATE SET kind = excluded.kind, state = excluded.state, " +
    "created = excluded.created, due = excluded.due, attempts = excluded.attempts, " +
    "doubts = excluded.doubts, body = excluded.body, mids = excluded.mids, " +
    "error = excluded.error, sum = excluded.sum",
  putDeadline:
    "INSERT INTO deadline(conv, id, at) VALUES(?, ?, ?) ON CONFLICT DO UPDATE SET at = excluded.at",
  dropDeadline: "DELETE FROM deadline WHERE conv = ? AND id = ?",
  dropDeadlineAt: "DELETE FROM deadline WHERE conv = ? AND id = ? AND at = ?",
  putRun:
    "INSERT INTO run(conv, key, agent, turn, state, since) VALUES(?, ?, ?, ?, ?, ?) " +
    "ON CONFLICT DO UPDATE SET key = excluded.key, agent = excluded.agent, turn = excluded.turn, " +
    "state = excluded.state, since = excluded.since",
  dropRun: "DELETE FROM run WHERE conv = ?",
  putCursor:
    "INSERT INTO cursor(channel, account, identity, value) VALUES(?, ?, ?, ?) " +
    "ON CONFLICT DO UPDATE SET value = excluded.value",
  putConfig: "INSERT INTO config(version, json) VALUES(?, ?) ON CONFLICT DO NOTHING",
  putMeta:
    "INSERT INTO meta(name, value) VALUES(?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
  putAccess:
    "INSERT INTO access(name, body) VALUES(?, ?) ON CONFLICT DO UPDATE SET body = excluded.body",
  dropAccess: "DELETE FROM access WHERE name = ?",

  conversation:
    "SELECT conv, key, record_seq AS recordSeq, epoch, record, sum FROM conversation WHERE conv = ?",
  conversations:
    "SELECT conv, key, record_seq AS recordSeq, epoch, record, sum FROM conversation " +
    "WHERE conv > ? ORDER BY conv LIMIT ?",
  countSlice:
    "SELECT count(*) AS n, max(conv) AS last FROM " +
    "(SELECT conv FROM conversation WHERE conv > ? ORDER BY conv LIMIT ?)",
  event: `${event}WHERE j.seq = ?`,
  scan: `${event}WHERE j.seq > ? ORDER BY j.seq LIMIT ?`,
  unapplied: `${event}WHERE j.seq > ? AND j.seq <= ? AND a.seq IS NULL AND j.conv <> 0 ORDER BY j.seq`,
  marks: "SELECT count(*) AS n FROM applied WHERE seq > ? AND seq <= ?",
  eventsOfSlice: `${event}WHERE j.seq > ? AND j.seq <= ? AND j.conv = ? ORDER BY j.seq`,
  messagesOfSlice: `${event}WHERE j.seq > ? AND j.seq <= ? AND j.mid = ? ORDER BY j.seq`,
  // Two texts for a slice: an object for each row would cost more than to find it.
  uncovered:
    "SELECT group_concat(conv) AS convs, group_concat(seq) AS seqs FROM (" +
    "SELECT j.conv AS conv, j.seq AS seq FROM journal j " +
    "LEFT JOIN conversation c ON c.conv = j.conv WHERE j.seq > ? AND j.seq <= ? " +
    "AND j.conv <> 0 AND j.seq > coalesce(c.record_seq, 0) ORDER BY j.seq)",
  lastSeq: "SELECT coalesce(max(seq), 0) AS seq FROM journal",
  firstSeq: "SELECT coalesce(min(seq), 0) AS seq FROM journal",
  nextSeq: "SELECT min(seq) AS seq FROM journal WHERE seq > ?",
  rowsBefore: "SELECT seq FROM journal WHERE seq < ? ORDER BY seq DESC LIMIT 1 OFFSET ?",
  outboxOpen: `${row}WHERE state IN ('pending', 'sending', 'waiting', 'in-doubt') ORDER BY rowid`,
  outboxCounts: "SELECT state, count(*) AS count FROM outbox GROUP BY state",
  outboxRow: `${row}WHERE id = ?`,
  outboxState: `${row}WHERE state = ? ORDER BY rowid DESC LIMIT ?`,
  outboxTurn: `${row}WHERE turn = ? ORDER BY rowid`,
  deadlines: "SELECT conv, id, at FROM deadline ORDER BY at, conv, id",
  runs: "SELECT conv, key, agent AS agentId, turn AS turnId, state, since FROM run ORDER BY since",
  access: "SELECT name, body FROM access ORDER BY name",
  cursor: "SELECT value FROM cursor WHERE channel = ? AND account = ? AND identity = ?",
  config: "SELECT json FROM config WHERE version = ?",
  latestConfig: "SELECT version, json FROM config ORDER BY version DESC LIMIT 1",
  meta: "SELECT value FROM meta WHERE name = ?",
  oldest:
    "SELECT seq, coalesce(json_extract(body, '$.at'), 0) AS at FROM journal WHERE seq <= ? " +
    "ORDER BY seq LIMIT ?",
  pruneJournal: "DELETE FROM journal WHERE seq <= ?",
  pruneApplied: "DELETE FROM applied WHERE seq <= ?",
  pruneOutbox:
    "DELETE FROM outbox WHERE rowid IN (SELECT rowid FROM outbox " +
    "WHERE state IN ('sent', 'expired', 'dead') AND created < ? LIMIT ?)",
} as const;
