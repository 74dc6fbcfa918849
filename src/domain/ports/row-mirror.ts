/**
 * A copy of the rows of all conversations
 * =======================================
 * Where several nodes keep conversations, each has a copy of all of them to show. It is only read: nothing is decided,
 * sent or recovered from it, and all of it can be had again from the engine.
 */
import type { EventRow, KeptRow, OutboxRow, OutboxState, RunRow, Store } from "./store.ts";

/** What happened to one conversation. */
export type MirrorChange =
  /** These rows are different now. `revision`: of the conversation with them; null: they may not be stored yet. */
  | {
      readonly key: string;
      readonly rows: readonly KeptRow[];
      readonly revision: number | null;
      readonly isWhole?: false;
    }
  /** These are all its rows; none: there is no such conversation. */
  | {
      readonly key: string;
      readonly rows: readonly KeptRow[];
      readonly revision: number;
      readonly isWhole: true;
    };

/** What is followed of a row of the outbox. */
export type DeliveryRow = Pick<
  OutboxRow,
  "id" | "conv" | "state" | "attempts" | "doubts" | "error"
>;

/** How a row of the outbox has changed. `before`: null where there was none. */
export interface DeliveryChange {
  readonly before: DeliveryRow | null;
  readonly after: DeliveryRow;
}

/** A row in the order in which rows came. */
export interface Arrival {
  readonly place: number;
  readonly row: EventRow;
}

export interface RowMirror {
  /** Of the rows of a conversation; 0: there are none; null: they may not be what is stored. */
  revision(key: string): number | null;
  /** Makes changes of this node, before anything is read next. */
  note(change: MirrorChange): void;
  /** What was noted of the conversation is stored, with this revision. */
  confirm(key: string, revision: number): void;
  /**
   * Makes changes now. Returns the numbers of the events that are applied by them and were not before. `deliveries`
   * gets how rows of the outbox change, but not those of a conversation that is new here as a whole.
   * @throws EarshotError EAR_STORE_FAILED, EAR_STORE_FULL: nothing was changed.
   */
  apply(changes: readonly MirrorChange[], deliveries?: DeliveryChange[]): readonly number[];
  /** Writes what was noted. @throws EarshotError as `apply` */
  flush(): void;
  /** Keys and revisions of the conversations after a key, up to another or to the last (null). */
  revisions(
    after: string,
    upTo: string | null,
  ): readonly (readonly [key: string, revision: number | null])[];
}

/** The copy as a store to read. Its `commit` and `prune` throw. */
export interface MirrorStore extends Store, RowMirror {
  /** Events behind a place, at most `limit`, in the order in which they came here. */
  arrivals(after: number, limit: number): Promise<readonly Arrival[]>;
  /** The place of the event that came last; 0: there is none. */
  lastPlace(): Promise<number>;
  /** What a status shows of all conversations. */
  overview(): {
    readonly outbox: Partial<Record<OutboxState, number>>;
    readonly runs: readonly RunRow[];
    /** JSON of each list of quarantined events. */
    readonly quarantined: readonly string[];
    /** Conversations with events that their records do not cover: those that are active somewhere. */
    readonly open: readonly number[];
    /** States of heartbeats, as conversations store them. */
    readonly beats: readonly { readonly name: string; readonly value: string }[];
  };
}
