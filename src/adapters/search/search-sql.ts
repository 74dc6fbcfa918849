/**
 * Tables and statements of the index of messages
 * ==============================================
 * `message` has the text and its facts, `words` only which words a message has: FTS5 without a copy
 * of the text. What is given to it are words that are already cut and folded
 * (domain/search/words.ts), so its own rules for words never matter.
 */
import type { MessageQuery } from "../../domain/ports/index.ts";
import type { SearchTerm } from "../../domain/search/query.ts";
import type { Value } from "../stores/sqlite-driver.ts";

/** Stored in `user_version`; an index of another version is built again. */
export const indexVersion = 2;
export const markVersion = "PRAGMA user_version = 2";

/** Derived data: a power failure may take the last changes, and they are read again. */
export const indexPragmas = `
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA secure_delete = ON;
PRAGMA cache_size = -8192;
PRAGMA wal_autocheckpoint = 1000;
PRAGMA journal_size_limit = 4194304;
`;

export const dropWordsTable = "DROP TABLE words";
export const dropTables =
  "DROP TABLE message; DROP TABLE room; DROP TABLE waiting; DROP TABLE position";
export const tables = `
CREATE TABLE message(
  entry INTEGER PRIMARY KEY AUTOINCREMENT, seq INTEGER NOT NULL, conv INTEGER NOT NULL,
  at INTEGER NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL, chat TEXT, author TEXT NOT NULL,
  name TEXT NOT NULL, folded TEXT NOT NULL, bot INTEGER NOT NULL, decision TEXT, rule TEXT,
  outcome TEXT, turn TEXT, place TEXT NOT NULL, text TEXT NOT NULL);
CREATE INDEX message_id ON message(conv, id);
CREATE INDEX message_seq ON message(seq);
CREATE INDEX message_turn ON message(turn) WHERE turn IS NOT NULL;
CREATE TABLE room(conv INTEGER PRIMARY KEY, key TEXT NOT NULL);
CREATE TABLE waiting(seq INTEGER PRIMARY KEY);
CREATE TABLE position(one INTEGER PRIMARY KEY CHECK(one = 1), seq INTEGER NOT NULL, conv INTEGER);
INSERT INTO position VALUES(1, 0, NULL);
`;
/** Secure delete: a deleted message leaves no word in the index. It has to be given its words. */
export const wordsTable = `
CREATE VIRTUAL TABLE words USING fts5(
  text, content='', columnsize=0,
  tokenize="unicode61 remove_diacritics 0 categories 'L* N* Co M*' tokenchars _");
INSERT INTO words(words, rank) VALUES('secure-delete', 1);
`;

export const sql = {
  position: "SELECT seq, conv FROM position",
  move: "UPDATE position SET seq = ?, conv = ?",
  size: "SELECT count(*) AS n FROM message",
  addRoom: "INSERT INTO room(conv, key) VALUES(?, ?) ON CONFLICT DO NOTHING",
  add:
    "INSERT INTO message(seq, conv, at, kind, id, chat, author, name, folded, bot, decision, " +
    "rule, outcome, turn, place, text) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  addWords: "INSERT INTO words(rowid, text) VALUES(?, ?)",
  dropWords: "INSERT INTO words(words, rowid, text) VALUES('delete', ?, ?)",
  ofId: "SELECT entry, text FROM message WHERE conv = ? AND id = ? AND chat IS ?",
  changeText: "UPDATE message SET text = ? WHERE entry = ?",
  drop: "DELETE FROM message WHERE entry = ?",
  decided:
    "UPDATE message SET decision = ?, rule = ? WHERE conv = ? AND id = ? AND chat IS ? " +
    "AND kind = 'heard'",
  ended: "UPDATE message SET turn = ?, outcome = ? WHERE conv = ? AND id = ? AND kind = 'heard'",
  delivered:
    "UPDATE message SET outcome = ? WHERE turn = ? AND kind = 'heard' " +
    "AND outcome IN ('replied', 'partly', 'undelivered', 'in-doubt')",
  command:
    "UPDATE message SET conv = ?, seq = ? WHERE entry = (SELECT max(entry) FROM message " +
    "WHERE conv = 0 AND id = ? AND decision = 'command')",
  wait: "INSERT INTO waiting(seq) VALUES(?) ON CONFLICT DO NOTHING",
  waited: "DELETE FROM waiting WHERE seq = ?",
  waiting: "SELECT seq FROM waiting WHERE seq > ? ORDER BY seq LIMIT ?",
  old: "SELECT entry, text FROM message WHERE seq < ? ORDER BY seq LIMIT ?",
  waitedLong: "DELETE FROM waiting WHERE seq < ?",
  last: "SELECT coalesce(max(entry), 0) AS entry FROM message",
  first: "SELECT coalesce(min(entry), 0) AS entry FROM message",
} as const;

/** A condition with its values. */
interface Condition {
  readonly text: string;
  readonly values: readonly Value[];
}

/** The words of a term as FTS5 reads them. Always in quotes, so nothing in it is an operator. */
const phrase = ({ words, prefix }: SearchTerm): string =>
  `"${words.join(" ").replaceAll('"', '""')}"${prefix ? "*" : ""}`;

function termConditions(terms: readonly SearchTerm[]): Condition[] {
  const conditions: Condition[] = [];
  const worded = terms.filter(({ words }) => words.length > 0);
  const wanted = worded.filter(({ not }) => !not).map(phrase);
  const unwanted = worded.filter(({ not }) => not).map(phrase);
  if (wanted.length > 0)
    conditions.push({
      text: "m.entry IN (SELECT rowid FROM words WHERE words MATCH ? AND rowid > ?1 AND rowid <= ?2)",
      values: [wanted.join(" ")],
    });
  if (unwanted.length > 0)
    conditions.push({
      text: "m.entry NOT IN (SELECT rowid FROM words WHERE words MATCH ? AND rowid > ?1 AND rowid <= ?2)",
      values: [unwanted.join(" OR ")],
    });
  for (const { words, sign, not } of terms)
    if (words.length === 0)
      conditions.push({ text: `instr(m.text, ?) ${not ? "= 0" : "> 0"}`, values: [sign] });
  return conditions;
}

function oneOf(column: string, names: readonly string[] | undefined): Condition[] {
  if (names === undefined || names.length === 0) return [];
  return [{ text: `m.${column} IN (${names.map(() => "?").join(", ")})`, values: names }];
}

/** Reads messages of a slice of the index. Its first values: the bounds, and how many at most. */
export function searchSql(query: MessageQuery, fullText: boolean): Condition {
  const { terms, conv, author, decisions, rules, outcomes, since, until } = query;
  const conditions: Condition[] = [
    { text: "m.entry > ?1 AND m.entry <= ?2 AND ?3 > 0", values: [] },
    ...(fullText ? termConditions(terms) : []),
    ...(conv === undefined ? [] : [{ text: "m.conv = ?", values: [conv] }]),
    ...(author === undefined || author === ""
      ? []
      : [{ text: "(instr(m.folded, ?) > 0 OR m.author = ?)", values: [author, author] }]),
    ...oneOf("decision", decisions),
    ...oneOf("rule", rules),
    ...oneOf("outcome", outcomes),
    ...(since === undefined ? [] : [{ text: "m.at >= ?", values: [since] }]),
    ...(until === undefined ? [] : [{ text: "m.at < ?", values: [until] }]),
  ];
  const text =
    "SELECT m.entry, m.seq, m.conv, coalesce(r.key, '') AS key, m.at, m.kind, m.id, m.author, " +
    "m.name, m.bot, m.decision, m.rule, m.outcome, m.turn, m.place, m.text FROM message m " +
    `LEFT JOIN room r ON r.conv = m.conv WHERE ${conditions.map((one) => one.text).join(" AND ")} ` +
    "ORDER BY m.entry DESC LIMIT ?3";
  return { text, values: conditions.flatMap(({ values }) => values) };
}
