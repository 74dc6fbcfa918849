/**
 * The index of messages in SQLite
 * ===============================
 * A database of its own beside the journal: it can be deleted, it is not synced, and no commit of the
 * journal waits for it. A search reads it in slices and lets the event loop turn in between. Without
 * FTS5 the newest messages are compared one by one.
 */
import { chmodSync, closeSync, lstatSync, openSync, rmSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { fold } from "../../domain/fold-text.ts";
import type {
  FoundMessage,
  FoundPage,
  IndexChange,
  IndexedMessage,
  IndexPosition,
  MessageQuery,
  SearchIndex,
} from "../../domain/ports/index.ts";
import { matchText } from "../../domain/search/query.ts";
import { wordsOf } from "../../domain/search/words.ts";
import {
  type Database,
  loadDriver,
  type Statement,
  storeError,
  type Value,
} from "../stores/sqlite-driver.ts";
import { exactly } from "../stores/sqlite-text.ts";
import {
  dropTables,
  dropWordsTable,
  indexPragmas,
  indexVersion,
  markVersion,
  searchSql,
  sql,
  tables,
  wordsTable,
} from "./search-sql.ts";

/**
 * Changes of one commit. A commit sorts its words into the full-text index, which costs as much for a
 * few as for many.
 */
const commitChanges = 512;
const roomsKnownMax = 10_000;
/** Messages looked through between two turns of the event loop. */
const sliceEntries = 20_000;
/** Without FTS5 a search compares at most so many messages, the newest. */
export const comparedMax = 20_000;

export interface SearchIndexOptions {
  /** The file; null: in memory. */
  readonly path: string | null;
  /** False: as if this SQLite had no FTS5. @default true */
  readonly fullText?: boolean;
}

/**
 * Opens the index, and makes a new one where there is none that can be used.
 * @throws EarshotError EAR_STORE_FAILED | EAR_STORE_FULL.
 */
export function openSearchIndex({ path, fullText = true }: SearchIndexOptions): SearchIndex {
  try {
    return createIndex(openDatabase(path, fullText));
  } catch (error) {
    if (path === null) throw storeError(error);
    // It is derived: one that is damaged, or of another version, is made again.
    deleteSearchIndex(path);
    try {
      return createIndex(openDatabase(path, fullText));
    } catch (again) {
      throw storeError(again);
    }
  }
}

/** Deletes the file of an index, if there is one. */
export function deleteSearchIndex(path: string): void {
  for (const end of ["", "-wal", "-shm"]) rmSync(path + end, { force: true });
}

interface Opened {
  readonly path: string | null;
  readonly database: Database;
  readonly fullText: boolean;
}

function openDatabase(path: string | null, wanted: boolean): Opened {
  const { DatabaseSync } = loadDriver();
  if (path !== null) {
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    if (isLink) throw new Error(`${path} is a symbolic link`);
    closeSync(openSync(path, "a", 0o600));
    chmodSync(path, 0o600);
  }
  const database = new DatabaseSync(path ?? "");
  try {
    database.exec(indexPragmas);
    const { user_version: version } = database.prepare("PRAGMA user_version").get() as {
      user_version: number;
    };
    if (version === 0) makeTables(database, wanted);
    else if (version !== indexVersion) throw new Error(`version ${version} of the index`);
    const hasWords =
      database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'words'").get() !== undefined;
    if (hasWords !== (wanted && hasFts5(database))) throw new Error("another kind of index");
    return { path, database, fullText: hasWords };
  } catch (error) {
    database.close();
    throw error;
  }
}

function makeTables(database: Database, wanted: boolean): void {
  database.exec("BEGIN");
  database.exec(tables);
  if (wanted && hasFts5(database)) database.exec(wordsTable);
  database.exec(markVersion);
  database.exec("COMMIT");
}

/** Not every build of SQLite has it. */
const hasFts5 = (database: Database): boolean =>
  database.prepare("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'").get() !== undefined;

interface StoredMessage extends Omit<FoundMessage, "author" | "turnId"> {
  readonly author: string;
  readonly name: string;
  readonly bot: number;
  readonly turn: string | null;
}

function createIndex({ path, database, fullText }: Opened): SearchIndex {
  const prepared = new Map<string, Statement>();
  const use = (text: string): Statement => {
    let statement = prepared.get(text);
    if (statement === undefined) {
      statement = exactly(database.prepare(text));
      prepared.set(text, statement);
    }
    return statement;
  };
  const guarded = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw storeError(error);
    }
  };
  const number = (text: string) => (use(text).get() as { entry: number }).entry;
  const put = createWrites(use, fullText);
  /** Changes since the last commit. All reads here see them. */
  let open = 0;
  const commit = () => {
    if (database.isTransaction) database.exec("COMMIT");
    open = 0;
  };
  /** Adds `count` changes to the open commit. If one fails, all of it is undone, position included. */
  const change = (count: number, work: () => void) =>
    guarded(() => {
      try {
        if (!database.isTransaction) database.exec("BEGIN");
        work();
        open += count;
        if (open >= commitChanges) commit();
      } catch (error) {
        if (database.isTransaction) database.exec("ROLLBACK");
        put.forget();
        open = 0;
        throw error;
      }
    });
  const reader = { use, fullText, isOpen: () => database.isOpen, number };
  let hasErased = false;
  return {
    fullText,
    position: () => guarded(() => ({ ...(use(sql.position).get() as IndexPosition) })),
    size: () => guarded(() => (use(sql.size).get() as { n: number }).n),
    waiting: (after, limit) =>
      guarded(() =>
        (use(sql.waiting).all(after, limit) as { seq: number }[]).map(({ seq }) => seq),
      ),
    write(changes, { seq, conv }) {
      change(changes.length, () => {
        for (const one of changes) put.change(one);
        use(sql.move).run(seq, conv);
      });
      hasErased ||= changes.some((one) => one.op === "text" && one.grows !== true);
    },
    prune(seq, limit) {
      const old = guarded(() => use(sql.old).all(seq, limit) as TextOf[]);
      if (old.length > 0)
        change(old.length, () => {
          for (const one of old) put.drop(one);
          use(sql.waitedLong).run(seq);
        });
      hasErased ||= old.length > 0;
      return old.length;
    },
    flush() {
      guarded(commit);
      if (hasErased && path !== null)
        guarded(() => database.exec("PRAGMA wal_checkpoint(TRUNCATE)"));
      hasErased = false;
    },
    clear() {
      // What is prepared for a table that goes would keep it.
      guarded(commit);
      change(commitChanges, () => {
        if (fullText) database.exec(dropWordsTable);
        database.exec(dropTables);
        database.exec(tables);
        if (fullText) database.exec(wordsTable);
      });
      prepared.clear();
      put.forget();
    },
    find: (query) => find(reader, query),
    close() {
      if (!database.isOpen) return;
      try {
        guarded(commit);
      } finally {
        database.close();
      }
    },
  };
}

interface TextOf {
  readonly entry: number;
  readonly text: string;
}

type Use = (text: string) => Statement;

function createWrites(use: Use, fullText: boolean) {
  /** Rooms that are known to be in their table; most messages are of a few. */
  const rooms = new Set<number>();
  const indexed = (text: string) =>
    wordsOf(text)
      .map(({ word }) => word)
      .join(" ");
  const addWords = (entry: number, text: string) => {
    if (fullText) use(sql.addWords).run(entry, indexed(text));
  };
  const dropWords = ({ entry, text }: TextOf) => {
    if (fullText) use(sql.dropWords).run(entry, indexed(text));
  };
  const drop = (one: TextOf) => {
    dropWords(one);
    use(sql.drop).run(one.entry);
  };

  function add({ author, turnId, ...message }: IndexedMessage): void {
    const { seq, conv, key, at, kind, id, chat = null } = message;
    const { decision, rule, outcome, place, text } = message;
    if (key !== "" && !rooms.has(conv)) {
      use(sql.addRoom).run(conv, key);
      if (rooms.size >= roomsKnownMax) rooms.clear();
      rooms.add(conv);
    }
    const { id: authorId, name, isBot } = author;
    const facts: Value[] = [decision, rule, outcome, turnId, place, text];
    const { lastInsertRowid } = use(sql.add).run(
      ...[seq, conv, at, kind, id, chat, authorId, name, fold(name), Number(isBot)],
      ...facts,
    );
    addWords(Number(lastInsertRowid), text);
  }

  function change(one: IndexChange): void {
    switch (one.op) {
      case "add":
        add(one.message);
        return;
      case "text":
        for (const before of use(sql.ofId).all(one.conv, one.id, one.chat ?? null) as TextOf[]) {
          if (one.text === null) {
            drop(before);
            continue;
          }
          dropWords(before);
          use(sql.changeText).run(one.text, before.entry);
          addWords(before.entry, one.text);
        }
        return;
      case "decided":
        use(sql.decided).run(one.decision, one.rule, one.conv, one.id, one.chat ?? null);
        return;
      case "ended":
        for (const id of one.messages) use(sql.ended).run(one.turnId, one.outcome, one.conv, id);
        return;
      case "delivered":
        use(sql.delivered).run(one.outcome, one.turnId);
        return;
      case "command":
        use(sql.addRoom).run(one.conv, one.key);
        use(sql.command).run(one.conv, one.seq, one.id);
        return;
      case "wait":
        use(sql.wait).run(one.seq);
        return;
      case "waited":
        use(sql.waited).run(one.seq);
    }
  }
  return {
    change,
    drop,
    /** What was written may be gone. */
    forget: () => rooms.clear(),
  };
}

interface Reader {
  readonly use: Use;
  readonly fullText: boolean;
  readonly isOpen: () => boolean;
  readonly number: (text: string) => number;
}

async function find(reader: Reader, query: MessageQuery): Promise<FoundPage> {
  const { use, fullText, isOpen, number } = reader;
  const found: FoundMessage[] = [];
  const { text, values } = searchSql(query, fullText);
  const newest = number(sql.last);
  const compares = !fullText && query.terms.length > 0;
  const first = Math.max(number(sql.first) - 1, compares ? newest - comparedMax : 0);
  let to = Math.min(newest, (query.before ?? newest + 1) - 1);
  while (to > first && found.length <= query.limit) {
    const from = Math.max(first, to - sliceEntries);
    const wanted = compares ? sliceEntries : query.limit + 1 - found.length;
    let rows: StoredMessage[];
    try {
      rows = use(text).all(from, to, wanted, ...values) as StoredMessage[];
    } catch (error) {
      throw storeError(error);
    }
    const fitting = compares
      ? rows.filter((row) => matchText(row.text, query.terms) !== null)
      : rows;
    found.push(...fitting.map(messageOf));
    to = from;
    if (to > first) await setImmediate();
    if (!isOpen()) break;
  }
  const page = found.slice(0, query.limit);
  const next = found.length > query.limit ? (page.at(-1)?.entry ?? null) : null;
  return {
    found: page,
    next,
    lookedAt: compares && first > number(sql.first) - 1 ? comparedMax : null,
  };
}

function messageOf({ author: id, name, bot, turn, ...rest }: StoredMessage): FoundMessage {
  return { ...rest, turnId: turn, author: { id, name, isBot: bot === 1 } };
}
