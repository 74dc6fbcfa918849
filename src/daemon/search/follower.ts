/**
 * Keeps the index of messages up with the journal
 * ===============================================
 * It follows behind, from the number of the last row it has. A message is decided and answered
 * before it is indexed, and a step is a few rows, so nothing in the path of a message waits for it.
 * After a crash, or when the search is switched on later, it goes on from where the index ends.
 */
import { setImmediate } from "node:timers/promises";
import type {
  EventRow,
  IndexChange,
  MirrorStore,
  SearchIndex,
  Store,
} from "../../domain/ports/index.ts";
import { type ChangePorts, changesOf, changesSince, type Soon } from "./index-changes.ts";

/** Journal rows of a step: about 2 ms. */
const stepRows = 32;
const pruneStep = 64;

export interface FollowerPorts extends Omit<ChangePorts, "store" | "keyOf"> {
  readonly store: Pick<
    Store,
    | "scan"
    | "events"
    | "lastSeq"
    | "conversation"
    | "outboxRow"
    | "outboxByTurn"
    | "transcriptOfTurn"
  >;
  readonly index: SearchIndex;
  /** Where rows do not come in the order of their numbers. @default they do */
  readonly arrivals?: Pick<MirrorStore, "arrivals" | "lastPlace"> | undefined;
}

export interface Progress {
  /** Journal rows that the index has, and all. */
  readonly done: number;
  readonly total: number;
}

export interface Follower {
  /** Reads what is new, to the end, or until `stopped` says so. */
  catchUp(stopped?: () => boolean): Promise<void>;
  progress(): Promise<Progress>;
}

const keysMax = 10_000;

export function createFollower(ports: FollowerPorts): Follower {
  const { store, index } = ports;
  const { arrivals, last, at } = placesOf(ports);
  const keys = new Map<number, string>();
  const changePorts: ChangePorts = {
    store,
    agentOf: ports.agentOf,
    keyOf: (conv) => keys.get(conv) ?? readKey(conv),
  };
  let checked = false;

  async function readKey(conv: number): Promise<string> {
    const key = (await store.conversation(conv))?.key ?? "";
    if (keys.size >= keysMax) keys.clear();
    keys.set(conv, key);
    return key;
  }

  /** A journal of its own, a copy from before, or none: what the index has is of another one. */
  async function check(): Promise<void> {
    const { seq, conv } = index.position();
    if (seq === 0) return;
    const end = await last();
    const row = checked ? undefined : await at(seq);
    checked = true;
    if (end < seq || (row !== undefined && conv !== null && row.conv !== conv)) index.clear();
  }

  async function step(): Promise<boolean> {
    const { seq: after } = index.position();
    const rows = await arrivals(after, stepRows);
    const newest = rows.at(-1);
    if (newest === undefined) return false;
    const changes: IndexChange[] = [];
    for (const { row } of rows) {
      const found = readable(row, changesOf);
      changes.push(...(found instanceof Promise ? await found : found));
    }
    index.write(changes, { seq: newest.place, conv: newest.row.conv });
    return rows.length === stepRows;
  }

  /** A row that was set aside may hold anything: it adds nothing. */
  function readable(
    row: EventRow,
    read: typeof changesOf | typeof changesSince,
  ): Soon<readonly IndexChange[]> {
    const unreadable = (error: unknown): readonly IndexChange[] => {
      if (row.code !== null && row.code >= 0) throw error;
      return [{ op: "waited", seq: row.seq }];
    };
    try {
      const found = read(row, changePorts);
      return found instanceof Promise ? found.catch(unreadable) : found;
    } catch (error) {
      return unreadable(error);
    }
  }

  /** Rows that were read before they were applied. */
  async function revisit(stopped: () => boolean): Promise<void> {
    for (let after = 0; !stopped(); ) {
      const seqs = index.waiting(after, stepRows);
      const last = seqs.at(-1);
      if (last === undefined) return;
      after = last;
      const rows = await store.events(seqs);
      const changes: IndexChange[] = [];
      for (const row of rows)
        if (row.code !== null) changes.push(...(await readable(row, changesSince)));
      if (changes.length > 0) index.write(changes, index.position());
      await setImmediate();
    }
  }

  /** What the journal does not have any more. */
  async function prune(stopped: () => boolean): Promise<void> {
    const [first] = await store.scan(0, 1);
    const from = first?.seq ?? (await store.lastSeq()) + 1;
    while (!stopped() && index.prune(from, pruneStep) === pruneStep) await setImmediate();
  }

  return {
    async catchUp(stopped = () => false) {
      await check();
      while (!stopped() && (await step())) await setImmediate();
      await revisit(stopped);
      await prune(stopped);
      if (!stopped()) index.flush();
    },
    async progress() {
      return { done: index.position().seq, total: await last() };
    },
  };
}

/** The order in which rows are read: that of their numbers, or that in which they came. */
function placesOf({ store, arrivals: given }: FollowerPorts) {
  if (given === undefined)
    return {
      arrivals: async (after: number, limit: number) =>
        (await store.scan(after, limit)).map((row) => ({ place: row.seq, row })),
      last: () => store.lastSeq(),
      at: async (place: number) => (await store.events([place]))[0],
    };
  return {
    arrivals: (after: number, limit: number) => given.arrivals(after, limit),
    last: () => given.lastPlace(),
    at: async (place: number) => {
      const [found] = await given.arrivals(place - 1, 1);
      return found?.place === place ? found.row : undefined;
    },
  };
}
