/**
 * The writing half of the SQLite store
 * ====================================
 * Commits all writes of a call in one transaction, or none. The copies in memory change only after
 * the commit, so they never contain an event that the disk does not have.
 */
import { assert, EarshotError } from "../../domain/errors.ts";
import {
  type AppliedWrite,
  type EventWrite,
  type Numbers,
  noConversation,
  type OutboxRow,
  type StoreWrite,
} from "../../domain/ports/index.ts";
import type { Recent } from "./recent-events.ts";
import { sumOfEvent, sumOfOutbox, sumOfRecord } from "./row-sum.ts";
import { type Database, fileOf, isKnownKey, type Statement, storeError } from "./sqlite-driver.ts";
import { marksAtOnce, sql } from "./sqlite-schema.ts";
import { putSession } from "./sqlite-sessions.ts";
import type { UnsnapshottedEvents } from "./unsnapshotted-events.ts";

/** Event ids are 52 bits wide, so that they are exact in a double. */
const eidSpace = 2 ** 52;
const eidProbesMax = 64;
const unrecordedMax = 100_000;

type Use = (text: string) => Statement;

/** How a commit becomes all or nothing. */
export interface Transactions {
  readonly begin: string;
  readonly commit: string;
  readonly rollback: string;
  /** Whether a commit of a single write is put in a transaction, too. */
  readonly wrapsSingle: boolean;
  /** Gives events their numbers. @default one more than the last */
  readonly numbers?: Numbers | undefined;
  readonly onPoint?:
    | ((point: "after-insert" | "before-commit" | "after-commit") => void)
    | undefined;
}
/** What the store has in memory of what is on disk; updated after each commit. */
export interface Memory {
  readonly tails: UnsnapshottedEvents;
  /** Conversations without a record, with their session keys; not all of them. */
  readonly unrecorded: Map<number, string>;
  readonly recent: Recent;
  /** A commit created this conversation. */
  readonly onCreated: (conv: number) => void;
}

export interface Writer {
  commit(writes: readonly StoreWrite[]): number[];
  /** See `Store.answersTo`. */
  answersTo(writes: readonly StoreWrite[]): readonly number[] | null;
  /** See `Store.checkOwner`. */
  checkOwner(): void;
  prune(before: number, limit: number, lowWater: number): number;
  /** Records written while the scan at start still runs. */
  readonly covered: ReadonlyMap<number, number>;
  /** The scan has ended: `covered` is not needed any more. */
  scanned(): void;
}

/** @throws EarshotError EAR_STORE_FAILED | EAR_STORE_FULL | EAR_STATE_LOCKED from its methods: nothing was written. */
export function createWriter(
  database: Database,
  use: Use,
  { tails, unrecorded, recent, onCreated }: Memory,
  { begin, commit: end, rollback, wrapsSingle, numbers, onPoint = () => undefined }: Transactions,
): Writer {
  const covered = new Map<number, number>();
  /** Conversations that the current transaction creates. */
  const created = new Map<number, string>();
  const context: Putting = { use, tails, created, numbers };
  /** The answers to commits whose writes somebody still has. */
  const answered = new WeakMap<readonly StoreWrite[], readonly number[]>();
  let scanning = true;
  /** The start of the runtime that writes here; null: none has yet. */
  let boot: number | null = null;

  /** A temporary database has no second process. */
  function check(): void {
    if (boot !== null && wrapsSingle) checkOwner(use, boot);
  }

  function transaction<T>(body: () => T): T {
    try {
      database.exec(begin);
      // Only inside the transaction is it certain that nobody else starts meanwhile.
      check();
      const answer = body();
      onPoint("before-commit");
      // When it throws, SQLite has rolled back or the transaction is still open: nothing was written.
      database.exec(end);
      return answer;
    } catch (error) {
      if (database.isOpen && database.isTransaction) database.exec(rollback);
      throw storeError(error, fileOf(database));
    }
  }

  function commit(writes: readonly StoreWrite[]): number[] {
    assert(writes.length > 0, "Cannot commit: there is nothing to write (0 writes).");
    const answers =
      writes.length > 1 || wrapsSingle ? transaction(() => putAll(writes)) : putSingle(writes);
    for (const [conv, key] of created) {
      unrecorded.set(conv, key);
      onCreated(conv);
    }
    for (let index = 0; index < writes.length; index += 1) {
      const answer = answers[index] as number;
      if (answer > 0) remember(writes[index] as StoreWrite, answer);
    }
    forgetOldest();
    answered.set(writes, answers);
    onPoint("after-commit");
    return answers;
  }

  function putAll(writes: readonly StoreWrite[]): number[] {
    if (created.size > 0) created.clear();
    const answers: number[] = [];
    for (let at = 0; at < writes.length; at = answers.length) {
      const marks = marksAt(writes, at);
      if (marks === null) answers.push(put(context, writes[at] as StoreWrite));
      else answers.push(...putMarks(context, marks));
    }
    onPoint("after-insert");
    return answers;
  }

  function putSingle(writes: readonly StoreWrite[]): number[] {
    try {
      return putAll(writes);
    } catch (error) {
      throw storeError(error, fileOf(database));
    }
  }

  function remember(write: StoreWrite, answer: number): void {
    if (write.kind === "event") {
      if (write.conv === noConversation) return;
      tails.push(write.conv, answer);
      recent.put(answer, write);
    } else if (write.kind === "start") {
      boot = write.boot;
    } else if (write.kind === "applied") {
      recent.mark(write.seq, write.code);
    } else if (write.kind === "checkpoint") {
      tails.cover(write.conv, write.recordSeq);
      unrecorded.delete(write.conv);
      if (scanning) covered.set(write.conv, write.recordSeq);
    }
  }

  function forgetOldest(): void {
    for (const conv of unrecorded.keys()) {
      if (unrecorded.size <= unrecordedMax) return;
      unrecorded.delete(conv);
    }
  }

  function prune(before: number, limit: number, lowWater: number): number {
    return transaction(() => {
      const rows = use(sql.oldest).all(lowWater, limit) as { seq: number; at: number }[];
      // The order of receipt is the order of numbers, so the first young row ends the slice.
      const young = rows.findIndex((row) => row.at >= before);
      const old = young === -1 ? rows : rows.slice(0, young);
      use(sql.pruneOutbox).run(before, limit);
      const last = old[old.length - 1];
      if (last === undefined) return 0;
      use(sql.pruneApplied).run(last.seq);
      use(sql.pruneJournal).run(last.seq);
      return old.length;
    });
  }

  return {
    commit,
    answersTo: (writes) => answered.get(writes) ?? null,
    checkOwner() {
      try {
        check();
      } catch (error) {
        throw storeError(error, fileOf(database));
      }
    },
    prune,
    covered,
    scanned() {
      scanning = false;
      covered.clear();
    },
  };
}

interface Putting extends Pick<Memory, "tails">, Pick<Transactions, "numbers"> {
  readonly use: Use;
  /** Conversations that the current transaction creates. */
  readonly created: Map<number, string>;
}

/** So many marks as one statement takes, if they are next; null: something else is. */
function marksAt(writes: readonly StoreWrite[], from: number): readonly AppliedWrite[] | null {
  const to = from + marksAtOnce;
  // Marks come in runs: where the last is one, mostly all are.
  if (writes[to - 1]?.kind !== "applied") return null;
  const next = writes.slice(from, to);
  return next.every((write): write is AppliedWrite => write.kind === "applied") ? next : null;
}

/**
 * Stores several marks at once, for two fifths of what they cost one by one. Where one of them is there
 * already, which only a repetition after a crash does, none is stored by that statement.
 */
function putMarks(context: Putting, marks: readonly AppliedWrite[]): number[] {
  const values: number[] = [];
  for (const { seq, code } of marks) values.push(seq, code);
  try {
    context.use(sql.insertMarks).run(...values);
    return marks.map(() => 1);
  } catch (error) {
    if (!isKnownKey(error)) throw error;
    return marks.map((mark) => put(context, mark));
  }
}

function put(context: Putting, write: StoreWrite): number {
  const { use } = context;
  switch (write.kind) {
    case "event":
      return putEvent(context, write);
    case "applied":
      return Number(use(sql.insertApplied).run(write.seq, write.code).changes);
    case "checkpoint":
      return Number(
        use(sql.checkpoint).run(
          ...[write.record, write.recordSeq, write.epoch, write.conv],
          sumOfRecord(write),
        ).changes,
      );
    case "outbox":
      return putOutbox(use, write.row);
    case "deadline":
      if (write.at === null && write.onlyAt !== undefined)
        use(sql.dropDeadlineAt).run(write.conv, write.id, write.onlyAt);
      else if (write.at === null) use(sql.dropDeadline).run(write.conv, write.id);
      else use(sql.putDeadline).run(write.conv, write.id, write.at);
      return 1;
    case "run": {
      const { row } = write;
      if (row === null) use(sql.dropRun).run(write.conv);
      else use(sql.putRun).run(row.conv, row.key, row.agentId, row.turnId, row.state, row.since);
      return 1;
    }
    case "transcript":
    case "session":
      return putSession(use, write);
    case "access":
      if (write.body === null) use(sql.dropAccess).run(write.name);
      else use(sql.putAccess).run(write.name, write.body);
      return 1;
    case "cursor":
      use(sql.putCursor).run(write.channel, write.account, write.identity, write.value);
      return 1;
    case "config":
      return Number(use(sql.putConfig).run(write.version, write.json).changes);
    case "start":
      checkOwner(use, write.boot - 1);
      use(sql.putMeta).run("boot", String(write.boot));
      return 1;
    case "meta":
      use(sql.putMeta).run(write.name, write.value);
      return 1;
  }
}

/** @throws EarshotError EAR_STATE_LOCKED when there was a start after number `boot`. */
function checkOwner(use: Use, boot: number): void {
  const row = use(sql.meta).get("boot") as { value: string } | undefined;
  const last = Number(row?.value ?? 0);
  if (last <= boot) return;
  throw new EarshotError(
    "EAR_STATE_LOCKED",
    `Cannot use the journal: another earshot has started on this database since (start ${last}, ` +
      `this is ${boot}). Nothing was stored and nothing is sent. Stop this one.`,
  );
}

function putEvent(context: Putting, write: EventWrite): number {
  const { use, tails, created, numbers } = context;
  const { at, conv, key, identity } = write;
  let eid = write.eid;
  for (let probe = 0; probe < eidProbesMax; probe += 1) {
    const sum = sumOfEvent(write);
    const row = [eid, conv, at, write.cfg, identity, write.messageId, write.body, sum] as const;
    const done =
      numbers === undefined
        ? use(sql.insertEvent).run(...row)
        : use(sql.insertNumbered).run(...row, numbers.next());
    if (done.changes !== 0) {
      const seq = Number(done.lastInsertRowid);
      if (conv !== noConversation && !tails.has(conv) && !created.has(conv)) {
        const { changes } = use(sql.insertConversation).run(conv, key);
        if (changes !== 0) created.set(conv, key);
      }
      if (write.code !== undefined) use(sql.insertApplied).run(seq, write.code);
      for (const one of write.also ?? []) put(context, one);
      return seq;
    }
    const stored = use(sql.identity).get(at, eid, conv) as { identity: string };
    if (stored.identity === identity) return 0;
    // Two identities with one hash: the later one moves to the next free number.
    eid = (eid + 1) % eidSpace;
  }
  throw new Error("no free event number beside a hash that collides");
}

function putOutbox(use: Use, row: OutboxRow): number {
  use(sql.putOutbox).run(
    row.id,
    row.conv,
    row.key,
    row.turnId,
    row.index,
    row.kind,
    row.state,
    row.createdAt,
    row.dueAt,
    row.attempts,
    row.doubts,
    row.body,
    row.messageIds,
    row.error,
    sumOfOutbox(row),
  );
  return 1;
}
