/**
 * The copy of all conversations, as a store to read
 * =================================================
 * What its own node changes is noted and written before the next read, or with the next news of other nodes: a
 * transaction for each change would cost more than the change. A loss of power may take the newest changes with
 * it, together with their revisions, so that they are fetched again; a file that is damaged is begun again.
 */
import { chmodSync, closeSync, openSync, rmSync } from "node:fs";
import { EarshotError } from "../../domain/errors.ts";
import type {
  ConversationRow,
  DeliveryChange,
  EventRow,
  MirrorChange,
  MirrorStore,
  Numbers,
  OutboxState,
  RunRow,
  Store,
} from "../../domain/ports/index.ts";
import { createMirrorWriter, mirrorSchema, preparing } from "./mirror-rows.ts";
import { checkedConversation, checkedEvent, damagedError, type Summed } from "./row-sum.ts";
import { type Database, fileOf, loadDriver, storeError } from "./sqlite-driver.ts";
import { migrate } from "./sqlite-migrate.ts";
import { durablePragmas, schemaVersion, temporaryPragmas } from "./sqlite-schema.ts";
import { checkFile, createStore, durable } from "./sqlite-store.ts";

const event =
  "SELECT j.seq AS seq, j.at AS at, j.conv AS conv, j.cfg AS cfg, j.body AS body, j.sum AS sum, a.code AS code";
const fromJournal = "FROM journal j LEFT JOIN applied a ON a.seq = j.seq";
const sql = {
  conversations:
    "SELECT conv, key, record_seq AS recordSeq, epoch, record, sum, max(record_seq, coalesce(" +
    "(SELECT max(seq) FROM journal j WHERE j.conv = c.conv), 0)) AS lastSeq " +
    "FROM conversation c WHERE conv > ? ORDER BY conv LIMIT ?",
  conversation:
    "SELECT conv, key, record_seq AS recordSeq, epoch, record, sum FROM conversation WHERE conv = ?",
  count: "SELECT count(*) AS n FROM kept",
  tail: `${event} ${fromJournal} WHERE j.conv = ? AND j.seq > ? AND j.seq < ? ORDER BY j.seq`,
  ofMessage: `${event} ${fromJournal} WHERE j.mid = ? AND j.seq > ? ORDER BY j.seq`,
  lastOf: "SELECT max(seq) AS seq FROM journal WHERE conv = ?",
  recordOf: "SELECT record_seq AS seq FROM conversation WHERE conv = ?",
  arrivals:
    `${event}, r.place AS place FROM arrival r JOIN journal j ON j.seq = r.seq ` +
    "LEFT JOIN applied a ON a.seq = j.seq WHERE r.place > ? ORDER BY r.place LIMIT ?",
  lastPlace: "SELECT coalesce(max(place), 0) AS place FROM arrival",
  revision: "SELECT revision FROM kept WHERE key = ?",
  revisions: "SELECT key, revision FROM kept WHERE key > ?1 AND (?2 IS NULL OR key <= ?2)",
  underWay:
    "SELECT state, count(*) AS count FROM outbox " +
    "WHERE state IN ('pending', 'sending', 'waiting', 'in-doubt', 'dead') GROUP BY state",
  over: "SELECT state, count(*) AS count FROM outbox WHERE state IN ('sent', 'expired') GROUP BY state",
  runs: "SELECT conv, key, agent AS agentId, turn AS turnId, state, since FROM run ORDER BY since",
  quarantined: "SELECT list FROM quarantined ORDER BY conv",
  open: "SELECT conv FROM kept WHERE open = 1 LIMIT ?",
  // All names that begin with "heartbeat|".
  beats: "SELECT name, value FROM meta WHERE name >= 'heartbeat|' AND name < 'heartbeat}'",
} as const;

/** Its numbers are far apart; nothing is numbered here. */
const noNumbers: Numbers = {
  next() {
    throw new EarshotError("EAR_ASSERT", "Cannot number a row of a copy.");
  },
};

/** Rows of the outbox that are over are many: they are counted this often, ms. */
const overMs = 10_000;
/** Active conversations that a status counts. */
const openMax = 10_000;

/**
 * Opens the copy in a file, or a temporary one.
 * @param path null: it ends with the process
 * @throws EarshotError EAR_STATE_UNSAFE, EAR_STORE_FAILED
 */
export function openMirrorStore(path: string | null): MirrorStore {
  try {
    return storeOf(open(path));
  } catch (error) {
    const failure = storeError(error, path ?? "the copy of conversations");
    const isUseless = failure.code === "EAR_STORE_DAMAGED" || failure.code === "EAR_STORE_VERSION";
    if (path === null || !isUseless) throw failure;
    for (const end of ["", "-wal", "-shm"]) rmSync(path + end, { force: true });
    return storeOf(open(path));
  }
}

function open(path: string | null): Database {
  const { DatabaseSync } = loadDriver();
  if (path !== null) {
    checkFile(path);
    closeSync(openSync(path, "a", 0o600));
    chmodSync(path, 0o600);
  }
  const database = new DatabaseSync(path ?? "");
  try {
    database.exec(path === null ? temporaryPragmas : durablePragmas);
    database.exec("PRAGMA synchronous = NORMAL");
    const { user_version: found } = database.prepare("PRAGMA user_version").get() as {
      user_version: number;
    };
    if (found === schemaVersion) return database;
    if (found !== 0)
      throw new EarshotError("EAR_STORE_VERSION", "the copy is of another version of earshot");
    migrate(database, path ?? "a temporary database");
    database.exec(mirrorSchema);
    return database;
  } catch (error) {
    if (database.isOpen) database.close();
    throw error;
  }
}

function storeOf(database: Database): MirrorStore {
  const use = preparing(database);
  const writer = createMirrorWriter(database, use);
  const damaged = (what: string) => damagedError(fileOf(database), what);
  const base = createStore(database, { ...durable, numbers: noNumbers, wal: null });
  let noted: MirrorChange[] = [];
  /** Conversations whose changes could not be written. */
  const lost = new Set<string>();

  function apply(
    changes: readonly MirrorChange[],
    deliveries: DeliveryChange[] | null = null,
  ): readonly number[] {
    const all = [...noted, ...changes];
    noted = [];
    if (all.length === 0) return [];
    const fresh: number[] = [];
    const changed: DeliveryChange[] | null = deliveries === null ? null : [];
    try {
      database.exec("BEGIN IMMEDIATE");
      for (const [place, change] of all.entries()) {
        const isNoted = place < all.length - changes.length;
        writer.write(change, isNoted ? [] : fresh, isNoted ? null : changed);
      }
      database.exec("COMMIT");
      deliveries?.push(...(changed ?? []));
    } catch (error) {
      if (database.isOpen && database.isTransaction) database.exec("ROLLBACK");
      // They are asked for again.
      for (const { key } of all) lost.add(key);
      throw storeError(error, fileOf(database));
    }
    for (const { key, isWhole } of changes) if (isWhole === true) lost.delete(key);
    return fresh;
  }
  const flush = () => void apply([]);

  const one = <Row>(text: string, ...values: (string | number | null)[]): Row | null => {
    flush();
    return (use(text).get(...values) as Row | undefined) ?? null;
  };
  const all = <Row>(text: string, ...values: (string | number | null)[]): Row[] => {
    flush();
    return use(text).all(...values) as Row[];
  };
  const events = (text: string, ...values: (string | number)[]) =>
    all<Summed<EventRow>>(text, ...values).map((row) => checkedEvent(row, damaged));

  const counts = (text: string): Partial<Record<OutboxState, number>> => {
    const rows = all<{ state: OutboxState; count: number }>(text);
    return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
  };
  let over: { at: number; counts: ReturnType<typeof counts> } = { at: -overMs, counts: {} };

  const refuse = async (): Promise<never> => {
    throw new EarshotError("EAR_ASSERT", "Cannot write into a copy of conversations.");
  };

  return {
    ...reading(base, flush),
    commit: refuse,
    prune: refuse,
    async conversation(conv) {
      const row = one<Summed<ConversationRow>>(sql.conversation, conv);
      return row === null ? null : checkedConversation(row, damaged);
    },
    async conversations({ after = -1, limit }) {
      const rows = all<Summed<ConversationRow> & { lastSeq: number }>(
        sql.conversations,
        after,
        limit,
      );
      return rows.map(({ lastSeq, ...row }) => ({ ...checkedConversation(row, damaged), lastSeq }));
    },
    conversationCount: async () => one<{ n: number }>(sql.count)?.n ?? 0,
    tail: async (conv, after, before = Number.MAX_SAFE_INTEGER) =>
      events(sql.tail, conv, after, Math.min(before, Number.MAX_SAFE_INTEGER)),
    eventsByMessage: async (messageId, after = 0) => events(sql.ofMessage, messageId, after),
    async lastSeqOf(conv) {
      const last = one<{ seq: number | null }>(sql.lastOf, conv)?.seq ?? 0;
      return Math.max(last, one<{ seq: number }>(sql.recordOf, conv)?.seq ?? 0);
    },
    async arrivals(after, limit) {
      const rows = all<Summed<EventRow> & { place: number }>(sql.arrivals, after, limit);
      return rows.map(({ place, ...row }) => ({ place, row: checkedEvent(row, damaged) }));
    },
    lastPlace: async () => one<{ place: number }>(sql.lastPlace)?.place ?? 0,
    revision(key) {
      const row = one<{ revision: number | null }>(sql.revision, key);
      return lost.has(key) ? null : row === null ? 0 : row.revision;
    },
    note: (change) => void noted.push(change),
    confirm(key, revision) {
      noted.push({ key, rows: [], revision });
    },
    apply,
    flush,
    revisions: (after, upTo) =>
      all<{ key: string; revision: number | null }>(sql.revisions, after, upTo).map(
        ({ key, revision }) => [key, lost.has(key) ? null : revision] as const,
      ),
    overview() {
      const now = performance.now();
      if (now - over.at > overMs) over = { at: now, counts: counts(sql.over) };
      return {
        outbox: { ...counts(sql.underWay), ...over.counts },
        runs: all<RunRow>(sql.runs),
        quarantined: all<{ list: string }>(sql.quarantined).map(({ list }) => list),
        open: all<{ conv: number }>(sql.open, openMax).map(({ conv }) => conv),
        beats: all<{ name: string; value: string }>(sql.beats),
      };
    },
    async close() {
      try {
        flush();
      } finally {
        await base.close();
      }
    },
  };
}

/** Each method, with what was noted written before it. */
function reading(base: Store, flush: () => void): Store {
  const methods = Object.entries(base).map(([name, method]) => [
    name,
    typeof method === "function"
      ? (...values: unknown[]) => {
          flush();
          return (method as (...values: unknown[]) => unknown)(...values);
        }
      : method,
  ]);
  return Object.fromEntries(methods) as Store;
}
