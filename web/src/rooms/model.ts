/**
 * The rooms of the page
 * =====================
 * Rows by key, in an order of their own. A row that changes changes where it is; the order is made
 * anew only when nobody points at the list, and rooms that were never in it wait until then. What a
 * lost connection missed comes back as the whole list, and what is not in it any more is gone.
 */
import type {
  PulseView,
  RoomCounts,
  RoomRow,
  RoomStateName,
  RoomsFrame,
} from "../../../src/daemon/rooms.types.ts";

export const filters = ["all", "engaged", "guarded", "direct"] as const;
export type Filter = (typeof filters)[number];

const engagedStates: readonly RoomStateName[] = ["gathering", "waiting", "running", "delivering"];
export const isEngaged = ({ state }: RoomRow): boolean => engagedStates.includes(state);

const passes: Readonly<Record<Filter, (row: RoomRow) => boolean>> = {
  all: () => true,
  engaged: isEngaged,
  guarded: ({ guard }) => guard !== "clear",
  direct: ({ kind }) => kind === "direct" || kind === "main",
};

export interface Shown {
  readonly rows: readonly RoomRow[];
  /** How many pass each filter, whatever is looked for. */
  readonly counts: Readonly<Record<Filter, number>>;
}

export class RoomsModel {
  readonly #rows = new Map<string, RoomRow>();
  #order: string[] = [];
  readonly #inOrder = new Set<string>();
  /** Rooms that wait for a place in the order. */
  readonly #fresh = new Set<string>();
  /** Known before this connection and not told again yet. */
  #untold = new Set<string>();
  /** Text of a row that a search looks through, made once. */
  readonly #words = new WeakMap<RoomRow, string>();
  ready = false;
  counts: RoomCounts = { live: 0, asleep: 0 };
  pulse: PulseView | null = null;
  /** ms that the daemon's clock is ahead of ours. */
  ahead = 0;

  /** A connection stands: the whole list is about to be told. */
  begin(): void {
    this.#untold = new Set(this.#rows.keys());
  }

  take(frame: RoomsFrame): void {
    if (frame.type === "now") {
      this.counts = frame.counts;
      this.pulse = frame.pulse;
      this.ahead = frame.now - Date.now();
    } else if (frame.type === "ready") {
      for (const key of this.#untold) this.#rows.delete(key);
      this.#untold.clear();
      if (!this.ready) this.sort();
      this.ready = true;
    } else
      for (const row of frame.rows) {
        this.#untold.delete(row.key);
        this.#rows.set(row.key, row);
        if (!this.#inOrder.has(row.key)) this.#fresh.add(row.key);
      }
    // The first rooms are the newest: they may be shown while the others are on their way.
    if (!this.ready && this.#order.length < 100) this.sort();
  }

  /** Rooms that are not in the list yet. */
  get fresh(): number {
    return this.ready ? this.#fresh.size : 0;
  }

  /** Puts every room where it belongs now, those heard last first. */
  sort(): void {
    const rows = [...this.#rows.values()].sort((a, b) => b.heardAt - a.heardAt);
    this.#order = rows.map(({ key }) => key);
    this.#inOrder.clear();
    for (const key of this.#order) this.#inOrder.add(key);
    this.#fresh.clear();
  }

  shown(filter: Filter, find: string): Shown {
    const counts: Record<Filter, number> = { all: 0, engaged: 0, guarded: 0, direct: 0 };
    const words = find.toLowerCase().split(/\s+/).filter(Boolean);
    const rows: RoomRow[] = [];
    for (const key of this.#order) {
      const row = this.#rows.get(key);
      if (row === undefined) continue;
      for (const name of filters) if (passes[name](row)) counts[name] += 1;
      if (passes[filter](row) && this.#has(row, words)) rows.push(row);
    }
    return { rows, counts };
  }

  #has(row: RoomRow, words: readonly string[]): boolean {
    if (words.length === 0) return true;
    let text = this.#words.get(row);
    if (text === undefined) {
      const { key, title, channel, place, faces, last, state } = row;
      const names = faces.map(({ name }) => name);
      const rule = last === null ? [] : [last.decision, last.rule, last.author];
      text = [key, title, channel, place, state, ...names, ...rule].join("\n").toLowerCase();
      this.#words.set(row, text);
    }
    return words.every((word) => text.includes(word));
  }
}
