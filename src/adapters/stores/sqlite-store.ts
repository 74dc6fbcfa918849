/**
 * The journal and everything committed with it. A commit is synchronous on the calling thread;
 * callers gather writes first, so one transaction serves many messages. There are two ways to open
 * it: in a file with a write-ahead log that is synced on another thread (wal-sync.ts), and as a
 * temporary database for simulations and tests, which ends when it is closed.
 *
 * Reads without an index (a whole conversation, a message id) scan the journal in slices and let
 * the event loop turn in between: they serve people, not the message path.
 */
import { chmodSync, closeSync, lstatSync, openSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { EarshotError } from "../../domain/errors.ts";
import type {
  AccessRow,
  ConversationRow,
  EventRow,
  KeptRow,
  KeptStore,
  Numbers,
  OutboxRow,
  OutboxState,
  RunRow,
  Store,
} from "../../domain/ports/index.ts";
import { createConversationCount } from "./conversation-count.ts";
import { fillRows, watchRows } from "./kept-rows.ts";
import { createRecent } from "./recent-events.ts";
import {
  checkedConversation,
  checkedEvent,
  checkedOutbox,
  damagedError,
  type Summed,
} from "./row-sum.ts";
import { type Database, fileOf, loadDriver, type Statement, storeError } from "./sqlite-driver.ts";
import { migrate } from "./sqlite-migrate.ts";
import { durablePragmas, sql, temporaryPragmas } from "./sqlite-schema.ts";
import { sessionReads } from "./sqlite-sessions.ts";
import { exactly } from "./sqlite-text.ts";
import { createWriter, type Transactions } from "./sqlite-writer.ts";
import { createTailScan, type UncoveredRows } from "./tail-scan.ts";
import { createTails } from "./unsnapshotted-events.ts";
import { createWalSync, type WalSync } from "./wal-sync.ts";

/** Journal rows read between two turns of the event loop. */
const sliceRows = 10_000;

/** What differs between a database in a file and a temporary one. */
export interface StoreKind extends Transactions {
  /** Events that are cached in memory. */
  readonly recentRows: number;
  readonly recentBytes: number;
  /** Long reads let others have a turn. A simulation takes work that waits for one for over. */
  readonly yields: boolean;
  /** Null: it ends with the process. */
  readonly wal: ((database: Database) => WalSync) | null;
}
export const durable: Omit<StoreKind, "wal"> = {
  begin: "BEGIN IMMEDIATE",
  commit: "COMMIT",
  rollback: "ROLLBACK",
  wrapsSingle: true,
  recentRows: 65_536,
  recentBytes: 33_554_432,
  yields: true,
};
/**
 * Never committed: each commit is a savepoint in one transaction, so no page is written before it
 * has to be. Rolled back at the end, because a connection of the packaged driver keeps its memory
 * and its file until its statements are collected.
 */
const temporary: StoreKind = {
  begin: "SAVEPOINT writes",
  commit: "RELEASE writes",
  rollback: "ROLLBACK TO writes; RELEASE writes",
  wrapsSingle: false,
  recentRows: 256,
  recentBytes: 65_536,
  yields: false,
  wal: null,
};

export interface SqliteOptions {
  /** The database file; created with mode 0600. */
  readonly path: string;
  /** Called at named points of a commit; tests end the process there. */
  readonly onPoint?: Transactions["onPoint"];
  /** Syncs an open file. @default fdatasync */
  readonly syncFile?: (file: number) => Promise<void>;
}

/**
 * Opens (and creates) the database.
 * @throws EarshotError EAR_STORE_VERSION when another version wrote it, EAR_STATE_UNSAFE when
 * another user owns it, EAR_STORE_DAMAGED, EAR_STORE_FAILED.
 */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const { DatabaseSync } = loadDriver();
  const { path, onPoint, syncFile } = options;
  try {
    checkFile(path);
    closeSync(openSync(path, "a", 0o600));
    chmodSync(path, 0o600);
    const database = new DatabaseSync(path);
    database.exec(durablePragmas);
    migrate(database, path);
    const wal = (opened: Database) => createWalSync(opened, path, syncFile);
    return createStore(database, { ...durable, onPoint, wal });
  } catch (error) {
    const failure = storeError(error, path);
    if (failure === error || failure.code !== "EAR_STORE_FAILED") throw failure;
    throw new EarshotError(failure.code, `${failure.message} (${path})`, { cause: error });
  }
}

/**
 * Opens an empty database that is gone when it is closed or when the process ends. SQLite keeps it
 * in memory up to the size of its cache and the rest in an unnamed file in the system's folder for
 * temporary files, so memory stays flat however long a simulation is.
 */
export function openTemporaryStore(): Store {
  const database = openTemporary();
  database.exec("BEGIN");
  return createStore(database, temporary);
}

/**
 * The same with rows that an engine keeps, and with what changes of them.
 * @param numbers greater than those of the rows. @default events are counted, from the last
 * @throws EarshotError EAR_RECORD_INVALID when a version with other tables has written them.
 */
export function openKeptStore(rows: readonly KeptRow[], numbers?: Numbers): KeptStore {
  const database = openTemporary();
  fillRows(database, rows);
  const changes = watchRows(database);
  database.exec("BEGIN");
  return { ...createStore(database, { ...temporary, numbers }), changes };
}

function openTemporary(): Database {
  const { DatabaseSync } = loadDriver();
  const database = new DatabaseSync("");
  database.exec(temporaryPragmas);
  migrate(database, "a temporary database");
  return database;
}

/** Refuses a link, or another user's file, at the journal's path. */
export function checkFile(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  const me = process.getuid?.() ?? found.uid;
  const isLink = found.isSymbolicLink();
  if (!isLink && found.uid === me) return;
  const why = isLink ? "it is a symbolic link" : `it belongs to user ${found.uid}`;
  throw new EarshotError(
    "EAR_STATE_UNSAFE",
    `Cannot keep the journal in ${path}: ${why}. Remove it, or set another store.path.`,
  );
}

export function createStore(database: Database, kind: StoreKind): Store {
  const prepared = new Map<string, Statement>();
  const use = (text: string): Statement => {
    let statement = prepared.get(text);
    if (statement === undefined) {
      statement = exactly(database.prepare(text));
      prepared.set(text, statement);
    }
    return statement;
  };
  /** Every read goes through here, so a failing disk always gives the same error. */
  const reading = <T>(read: () => T): T => {
    try {
      return read();
    } catch (error) {
      throw storeError(error, fileOf(database));
    }
  };
  const damaged = (what: string) => damagedError(fileOf(database), what);
  const eventAs = (row: Summed<EventRow>) => checkedEvent(row, damaged);
  const outboxAs = (row: Summed<OutboxRow>) => checkedOutbox(row, damaged);
  const one = async <T>(text: string, ...values: (string | number | null)[]): Promise<T | null> =>
    reading(() => (use(text).get(...values) as T | undefined) ?? null);
  const all = async <T>(text: string, ...values: (string | number | null)[]): Promise<T[]> =>
    reading(() => use(text).all(...values) as T[]);
  const events = async (text: string, ...values: (string | number)[]): Promise<EventRow[]> =>
    (await all<Summed<EventRow>>(text, ...values)).map(eventAs);
  const outbox = async (text: string, ...values: (string | number)[]): Promise<OutboxRow[]> =>
    (await all<Summed<OutboxRow>>(text, ...values)).map(outboxAs);
  const conversationRow = async (conv: number): Promise<ConversationRow | null> => {
    const row = await one<Summed<ConversationRow>>(sql.conversation, conv);
    return row === null ? null : checkedConversation(row, damaged);
  };
  const number = (text: string) => reading(() => (use(text).get() as { seq: number }).seq);
  /** The number before the first event after `seq`; infinite: there is none. */
  const next = (seq: number) =>
    reading(
      () =>
        ((use(sql.nextSeq).get(seq) as { seq: number | null }).seq ?? Number.POSITIVE_INFINITY) - 1,
    );

  const tails = createTails();
  const unrecorded = new Map<number, string>();
  const recent = createRecent(kind.recentRows, kind.recentBytes);
  /** How far the records reach that were read since the last commit: their tails are read next. */
  const reached = new Map<number, number>();
  const bootSeq = number(sql.lastSeq);
  let closed = false;
  const count = createConversationCount((after, rows) => {
    // SQLite has no infinities among its integers.
    const from = Math.max(after, Number.MIN_SAFE_INTEGER);
    return reading(() => use(sql.countSlice).get(from, rows) as { n: number; last: number | null });
  });
  const memory = { tails, unrecorded, recent, onCreated: count.created };
  const writer = createWriter(database, use, memory, kind);
  const scan = createTailScan({
    tails,
    uncovered: (from, to) => reading(() => use(sql.uncovered).get(from, to) as UncoveredRows),
    next,
    checked: () => {
      const row = reading(() => use(sql.meta).get("sweptSeq") as { value: string } | undefined);
      return Number(row?.value ?? 0);
    },
    last: bootSeq,
    covered: writer.covered,
    onEnd: writer.scanned,
    isClosed: () => closed,
    yields: kind.yields,
  });
  const wal = kind.wal?.(database) ?? null;
  const sync = async () => {
    try {
      await wal?.sync();
    } catch (error) {
      throw storeError(error);
    }
  };

  async function sliced(
    text: string,
    after: number,
    what: string | number,
    before = Number.POSITIVE_INFINITY,
  ): Promise<EventRow[]> {
    const rows: EventRow[] = [];
    const last = Math.min(number(sql.lastSeq), before - 1);
    const first = Math.max(after, number(sql.firstSeq) - 1);
    for (let from = next(first); from < last && !closed; from = next(from + sliceRows)) {
      rows.push(...(await events(text, from, Math.min(from + sliceRows, last), what)));
      if (kind.yields) await setImmediate();
    }
    return rows;
  }
  const storedEvent = (seq: number): EventRow | null => {
    const row = use(sql.event).get(seq) as Summed<EventRow> | undefined;
    return row === undefined ? null : eventAs(row);
  };
  const byNumber = (seqs: readonly number[]): EventRow[] =>
    reading(() => seqs.flatMap((seq) => recent.get(seq) ?? storedEvent(seq) ?? []));

  return {
    ...sessionReads({ one, all, damaged }),
    async commit(writes, until = "durable") {
      reached.clear();
      reading(() => wal?.repaired());
      const answers = writer.commit(writes);
      wal?.written();
      if (until === "durable") await sync();
      return answers;
    },
    answersTo: async (writes) => writer.answersTo(writes),
    sync,
    checkOwner: () => writer.checkOwner(),
    syncsItself: wal === null,
    async conversation(conv) {
      const key = unrecorded.get(conv);
      if (key !== undefined) return { conv, key, recordSeq: 0, epoch: 0, record: null };
      const row = await conversationRow(conv);
      if (reached.size < sliceRows) reached.set(conv, row?.recordSeq ?? 0);
      return row;
    },
    async conversations({ after = -1, limit }) {
      await scan.done();
      const rows = await all<Summed<ConversationRow>>(sql.conversations, after, limit);
      return rows.map((found) => {
        const row = checkedConversation(found, damaged);
        const lastSeq = tails.after(row.conv, row.recordSeq).at(-1) ?? row.recordSeq;
        return { ...row, lastSeq };
      });
    },
    conversationCount: count.read,
    async tail(conv, after, before = Number.POSITIVE_INFINITY) {
      if (unrecorded.has(conv)) return byNumber(tails.between(conv, after, before));
      await scan.done();
      const recordSeq = reached.get(conv) ?? (await conversationRow(conv))?.recordSeq ?? 0;
      if (after >= recordSeq) return byNumber(tails.between(conv, after, before));
      return sliced(sql.eventsOfSlice, after, conv, before);
    },
    async events(seqs) {
      return byNumber(seqs);
    },
    scan: (after, limit) => events(sql.scan, after, limit),
    async unapplied(after, upTo) {
      // Marks are small: where there are as many as numbers, no event is without one, and none is read.
      const { n } = reading(() => use(sql.marks).get(after, upTo) as { n: number });
      return n === upTo - after ? [] : events(sql.unapplied, after, upTo);
    },
    eventsByMessage: (messageId, after = 0) => sliced(sql.messagesOfSlice, after, messageId),
    dirtySize: () => tails.size,
    async dirty(limit) {
      await scan.done();
      return tails.dirty(limit);
    },
    async lowWater() {
      await scan.done();
      return tails.lowWater(number(sql.lastSeq));
    },
    async lastSeq() {
      return number(sql.lastSeq);
    },
    lastSeqOf: async () => number(sql.lastSeq),
    async numberBefore(seq, rows) {
      if (kind.numbers === undefined) return Math.max(0, seq - rows);
      return reading(
        () => (use(sql.rowsBefore).get(seq, rows) as { seq: number } | undefined)?.seq ?? 0,
      );
    },
    outboxOpen: () => outbox(sql.outboxOpen),
    async outboxCounts() {
      const rows = await all<{ state: OutboxState; count: number }>(sql.outboxCounts);
      return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
    },
    async outboxRow(id) {
      const row = await one<Summed<OutboxRow>>(sql.outboxRow, id);
      return row === null ? null : outboxAs(row);
    },
    async outboxByState(states, limit) {
      const rows = await Promise.all(states.map((state) => outbox(sql.outboxState, state, limit)));
      return rows
        .flat()
        .sort((a, b) => b.createdAt - a.createdAt)
        .slice(0, limit);
    },
    outboxByTurn: (turnId) => outbox(sql.outboxTurn, turnId),
    deadlines: () => all<{ conv: number; id: string; at: number }>(sql.deadlines),
    runs: () => all<RunRow>(sql.runs),
    access: () => all<AccessRow>(sql.access),
    async cursor(channel, account, identity) {
      const row = await one<{ value: string }>(sql.cursor, channel, account, identity);
      return row?.value ?? null;
    },
    async config(version) {
      return (await one<{ json: string }>(sql.config, version))?.json ?? null;
    },
    latestConfig: () => one<{ version: number; json: string }>(sql.latestConfig),
    async meta(name) {
      return (await one<{ value: string }>(sql.meta, name))?.value ?? null;
    },
    async prune(before, limit) {
      await scan.done();
      const lowWater = tails.lowWater(number(sql.lastSeq));
      return writer.prune(before, limit, lowWater);
    },
    async close() {
      if (closed) return;
      closed = true;
      await scan.ended();
      try {
        await wal?.close();
      } finally {
        if (database.isTransaction) database.exec("ROLLBACK; PRAGMA shrink_memory");
        database.close();
      }
    },
  };
}
