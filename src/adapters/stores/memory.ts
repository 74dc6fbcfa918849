/**
 * The memory store
 * ================
 * The same contract as the SQLite store, in plain maps: for simulations, replays and tests. A
 * simulated process crash keeps the store and drops everything else, so it is what "disk" means
 * there. Faults can be ordered: the n-th commit fails, once or from then on.
 */
import { assert, EarshotError } from "../../domain/errors.ts";
import {
  type ConversationRow,
  type EventRow,
  type EventWrite,
  noConversation,
  type OutboxRow,
  type OutboxState,
  type RunRow,
  type Store,
  type StoreWrite,
} from "../../domain/ports/index.ts";
import { createLines, type Lines } from "./memory.lines.ts";
import { createRows, type Rows } from "./memory.rows.ts";
import { createMemorySessions } from "./memory.sessions.ts";
import { createTails } from "./unsnapshotted-events.ts";

/** What a test may order a commit to do. Counts from the next commit on, starting with 1. */
export interface CommitFault {
  readonly at: number;
  readonly forever?: boolean;
  readonly code?: "EAR_STORE_FAILED" | "EAR_STORE_FULL";
}

export interface MemoryStore extends Store {
  failCommit(fault: CommitFault): void;
  /** Ends the fault and forgets the count. */
  heal(): void;
  commits(): number;
}

interface MemoryStoreOptions {
  /** Where the journal's rows lie. @default plain maps */
  readonly rows?: Rows;
  /** Where the lines of transcripts lie. @default plain arrays */
  readonly lines?: Lines;
  /** Rows of the outbox that are over and still known. @default all */
  readonly overMax?: number;
  /** Turns whose session is known. @default all */
  readonly turnsMax?: number;
}

const openStates: readonly OutboxState[] = ["pending", "sending", "waiting", "in-doubt"];

export function createMemoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const { rows = createRows(), lines = createLines() } = options;
  const { overMax = Number.POSITIVE_INFINITY, turnsMax = Number.POSITIVE_INFINITY } = options;
  const conversations = new Map<number, ConversationRow>();
  const outbox = new Map<string, OutboxRow>();
  const deadlines = new Map<string, { conv: number; id: string; at: number }>();
  const runs = new Map<number, RunRow>();
  const sessions = createMemorySessions({ lines, turnsMax });
  const access = new Map<string, string>();
  const cursors = new Map<string, string>();
  const configs = new Map<number, string>();
  const meta = new Map<string, string>();
  const tails = createTails();
  let lastSeq = 0;
  let commits = 0;
  let fault: CommitFault | null = null;

  const place = (...parts: readonly string[]) => JSON.stringify(parts);
  const eventRow = (seq: number): EventRow[] => {
    const row = rows.get(seq);
    return row === undefined ? [] : [row];
  };
  const rowsWhere = (wanted: (row: EventRow) => boolean): EventRow[] => {
    const found: EventRow[] = [];
    for (const seq of rows.seqs()) found.push(...eventRow(seq).filter(wanted));
    return found;
  };
  /** The oldest rows of the outbox that are over are forgotten. */
  const over: string[] = [];
  const forgetOver = ({ id, state }: OutboxRow) => {
    if (overMax === Number.POSITIVE_INFINITY || openStates.includes(state)) return;
    over.push(id);
    if (over.length < overMax * 1.25) return;
    for (const gone of over.splice(0, over.length - overMax)) outbox.delete(gone);
  };

  function putEvent(write: EventWrite): number {
    const seq = lastSeq + 1;
    if (!rows.add(seq, write)) return 0;
    lastSeq = seq;
    for (const one of write.also ?? []) put(one);
    if (write.conv === noConversation) return seq;
    if (!conversations.has(write.conv)) {
      const { conv, key } = write;
      conversations.set(conv, { conv, key, recordSeq: 0, epoch: 0, record: null });
    }
    tails.push(write.conv, seq);
    return seq;
  }

  function put(write: StoreWrite): number {
    switch (write.kind) {
      case "event":
        return putEvent(write);
      case "applied": {
        return rows.mark(write.seq, write.code) ? 1 : 0;
      }
      case "checkpoint": {
        const row = conversations.get(write.conv);
        if (row === undefined || row.epoch > write.epoch || row.recordSeq > write.recordSeq)
          return 0;
        const { recordSeq, epoch, record } = write;
        conversations.set(write.conv, { ...row, recordSeq, epoch, record });
        tails.cover(write.conv, recordSeq);
        return 1;
      }
      case "outbox":
        outbox.set(write.row.id, write.row);
        forgetOver(write.row);
        return 1;
      case "deadline": {
        const name = `${write.conv} ${write.id}`;
        const kept = write.onlyAt !== undefined && deadlines.get(name)?.at !== write.onlyAt;
        if (write.at === null && !kept) deadlines.delete(name);
        else if (write.at !== null)
          deadlines.set(name, { conv: write.conv, id: write.id, at: write.at });
        return 1;
      }
      case "run":
        if (write.row === null) runs.delete(write.conv);
        else runs.set(write.conv, write.row);
        return 1;
      case "transcript":
      case "session":
        return sessions.put(write);
      case "access":
        if (write.body === null) access.delete(write.name);
        else access.set(write.name, write.body);
        return 1;
      case "cursor":
        cursors.set(place(write.channel, write.account, write.identity), write.value);
        return 1;
      case "config":
        if (configs.has(write.version)) return 0;
        configs.set(write.version, write.json);
        return 1;
      case "meta":
        meta.set(write.name, write.value);
        return 1;
    }
  }

  return {
    ...sessions.reads,
    failCommit(ordered) {
      commits = 0;
      fault = ordered;
    },
    heal() {
      commits = 0;
      fault = null;
    },
    commits: () => commits,

    async commit(writes) {
      assert(writes.length > 0, "Cannot commit as there is nothing to write: received 0 writes");
      commits += 1;
      if (fault !== null && (fault.forever ? commits >= fault.at : commits === fault.at)) {
        throw new EarshotError(
          fault.code ?? "EAR_STORE_FAILED",
          `Cannot write the journal as a fault was ordered: received commit ${commits}`,
        );
      }
      return writes.map(put);
    },
    conversation: async (conv) => conversations.get(conv) ?? null,
    conversationByKey: async (key) =>
      [...conversations.values()].find((row) => row.key === key) ?? null,
    conversations: async ({ after = -1, limit }) =>
      [...conversations.values()]
        .filter((row) => row.conv > after)
        .sort((a, b) => a.conv - b.conv)
        .slice(0, limit)
        .map((row) => ({
          ...row,
          lastSeq: tails.after(row.conv, row.recordSeq).at(-1) ?? row.recordSeq,
        })),
    conversationCount: async () => conversations.size,
    async tail(conv, after, before = Number.POSITIVE_INFINITY) {
      if (after >= (conversations.get(conv)?.recordSeq ?? 0)) {
        return tails.between(conv, after, before).flatMap(eventRow);
      }
      return rowsWhere((row) => row.conv === conv && row.seq > after && row.seq < before);
    },
    events: async (seqs) => seqs.flatMap(eventRow),
    async scan(after, limit) {
      const found: EventRow[] = [];
      for (let seq = after + 1; seq <= lastSeq && found.length < limit; seq += 1) {
        found.push(...eventRow(seq));
      }
      return found;
    },
    unapplied: async (after, upTo) =>
      rowsWhere(
        ({ code, conv, seq }) =>
          code === null && conv !== noConversation && seq > after && seq <= upTo,
      ),
    eventsByMessage: async (messageId) => [...rows.ofMessage(messageId)],
    dirtySize: () => tails.size,
    dirty: async (limit) => tails.dirty(limit),
    lowWater: async () => tails.lowWater(lastSeq),
    lastSeq: async () => lastSeq,
    outboxOpen: async () => [...outbox.values()].filter((row) => openStates.includes(row.state)),
    async outboxCounts() {
      const counts: Partial<Record<OutboxState, number>> = {};
      for (const { state } of outbox.values()) counts[state] = (counts[state] ?? 0) + 1;
      return counts;
    },
    outboxRow: async (id) => outbox.get(id) ?? null,
    outboxByState: async (states, limit) =>
      [...outbox.values()]
        .filter((row) => states.includes(row.state))
        .sort((a, b) => b.createdAt - a.createdAt)
        .slice(0, limit),
    outboxByTurn: async (turnId) => [...outbox.values()].filter((row) => row.turnId === turnId),
    deadlines: async () => [...deadlines.values()].sort((a, b) => a.at - b.at || a.conv - b.conv),
    runs: async () => [...runs.values()].sort((a, b) => a.since - b.since),
    access: async () =>
      [...access]
        .map(([name, body]) => ({ name, body }))
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
    cursor: async (channel, account, identity) =>
      cursors.get(place(channel, account, identity)) ?? null,
    config: async (version) => configs.get(version) ?? null,
    async latestConfig() {
      const version = Math.max(0, ...configs.keys());
      const json = configs.get(version);
      return json === undefined ? null : { version, json };
    },
    meta: async (name) => meta.get(name) ?? null,
    async prune(before, limit) {
      const lowWater = tails.lowWater(lastSeq);
      let pruned = 0;
      for (const seq of rows.seqs()) {
        const { at } = JSON.parse(rows.get(seq)?.body ?? "{}") as { at?: number };
        if (pruned === limit || seq > lowWater || (at ?? 0) >= before) break;
        rows.remove(seq);
        pruned += 1;
      }
      for (const [id, row] of outbox) {
        if (!openStates.includes(row.state) && row.createdAt < before) outbox.delete(id);
      }
      return pruned;
    },
    async close() {
      rows.close();
      lines.close();
    },
  };
}
