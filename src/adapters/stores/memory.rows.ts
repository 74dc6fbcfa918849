/**
 * The memory store's journal
 * ==========================
 * Rows by number, and the identities by which a second delivery is recognised. Kept as they are
 * written: for tests and for short simulations. stores/spilled.ts keeps the same for long ones.
 */
import type { EventRow, EventWrite } from "../../domain/ports/index.ts";

/** A journal without an order of its own: whoever uses it counts. */
export interface Rows {
  /** False: its identity is already there, and nothing was kept. Numbers must grow by one. */
  add(seq: number, write: EventWrite): boolean;
  get(seq: number): EventRow | undefined;
  /** False: there is no such row, or it is marked already. */
  mark(seq: number, code: number): boolean;
  /** Numbers of all rows, in order. */
  seqs(): Iterable<number>;
  ofMessage(messageId: string): readonly EventRow[];
  remove(seq: number): void;
  close(): void;
}

interface Entry {
  readonly write: EventWrite;
  code: number | null;
}

/** Rows in plain maps. */
export function createRows(): Rows {
  const journal = new Map<number, Entry>();
  const identities = new Set<string>();
  const name = ({ at, identity, conv }: EventWrite) => JSON.stringify([at, identity, conv]);
  const get = (seq: number): EventRow | undefined => {
    const entry = journal.get(seq);
    if (entry === undefined) return undefined;
    const { at, conv, cfg, body } = entry.write;
    return { seq, at, conv, cfg, body, code: entry.code };
  };
  return {
    add(seq, write) {
      const identity = name(write);
      if (identities.has(identity)) return false;
      identities.add(identity);
      journal.set(seq, { write, code: write.code ?? null });
      return true;
    },
    get,
    mark(seq, code) {
      const entry = journal.get(seq);
      if (entry === undefined || entry.code !== null) return false;
      entry.code = code;
      return true;
    },
    seqs: () => [...journal.keys()],
    ofMessage: (messageId) =>
      [...journal].flatMap(([seq, { write }]) =>
        write.messageId === messageId ? (get(seq) ?? []) : [],
      ),
    remove(seq) {
      const entry = journal.get(seq);
      if (entry !== undefined) identities.delete(name(entry.write));
      journal.delete(seq);
    },
    close: () => undefined,
  };
}
