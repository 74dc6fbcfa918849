/**
 * Rooms of the page
 * =================
 * The rows of the window, each at its place in a list that the daemon keeps. A changed row changes
 * in place; a changed order comes as a new window. A new connection starts with a window, and until
 * then the page shows what it had.
 */
import type {
  ActivityView,
  FilterCounts,
  RoomCounts,
  RoomRow,
  RoomsFrame,
} from "../../../src/daemon/api-types/rooms.ts";
import type { RoomFilter, RoomStateName } from "../../../src/daemon/api-types/values.ts";

export type Filter = RoomFilter;
export const filters = [
  "all",
  "engaged",
  "guarded",
  "direct",
] as const satisfies readonly RoomFilter[];

const engagedStates: readonly RoomStateName[] = ["gathering", "waiting", "running", "delivering"];
export const isEngaged = ({ state }: RoomRow): boolean => engagedStates.includes(state);

/** Rows by their places, as far as they are known. */
export interface Places {
  /** Rows there are. */
  readonly total: number;
  rowAt(place: number): RoomRow | undefined;
  /** Null: it is not among those that are known. */
  placeOf(key: string): number | null;
}

/** Rows that are all known. */
export const placesOf = (rows: readonly RoomRow[]): Places => ({
  total: rows.length,
  rowAt: (place) => rows[place],
  placeOf(key) {
    const place = rows.findIndex((row) => row.key === key);
    return place < 0 ? null : place;
  },
});

export class RoomsModel implements Places {
  #rows: ReadonlyMap<string, RoomRow> = new Map();
  #keys: readonly string[] = [];
  #from = 0;
  total = 0;
  /** Rooms that wait for a place in the order. */
  fresh = 0;
  #at: number | null = null;
  /** A window was received; before that nothing is known to be missing. */
  ready = false;
  counts: RoomCounts = { live: 0, asleep: 0 };
  filters: FilterCounts = { all: 0, engaged: 0, guarded: 0, direct: 0 };
  activity: ActivityView | null = null;
  /** ms that the daemon's clock is ahead of ours. */
  ahead = 0;

  take(frame: RoomsFrame, at: number): void {
    if (frame.type === "open") return;
    if (frame.type === "now") {
      this.counts = frame.counts;
      this.filters = frame.filters;
      this.activity = frame.pulse;
      this.ahead = frame.now - at;
      return;
    }
    this.fresh = frame.fresh;
    const sentRows = new Map(frame.rows.map((row) => [row.key, row]));
    if (frame.type === "window") {
      this.#keys = frame.keys;
      this.#from = frame.from;
      this.total = frame.total;
      this.#at = frame.at ?? this.#at;
      this.ready = true;
    }
    const rows = new Map<string, RoomRow>();
    for (const key of this.#keys) {
      const row = sentRows.get(key) ?? this.#rows.get(key);
      if (row !== undefined) rows.set(key, row);
    }
    this.#rows = rows;
  }

  /** Place of the room that was asked for, once. */
  begin(): number | null {
    const at = this.#at;
    this.#at = null;
    return at;
  }

  rowAt(place: number): RoomRow | undefined {
    const key = this.#keys[place - this.#from];
    return key === undefined ? undefined : this.#rows.get(key);
  }

  placeOf(key: string): number | null {
    const index = this.#keys.indexOf(key);
    return index < 0 ? null : this.#from + index;
  }
}
