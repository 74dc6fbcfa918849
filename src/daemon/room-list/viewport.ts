/**
 * Viewport of one page
 * ====================
 * A stable order, the rooms that pass the filter, and a window of them. Only the window is
 * remembered: a page that scrolls gets the rows it lacks, and a slow page gets the current state, not
 * its history.
 */
import type { Millis } from "../../domain/message.ts";
import type { RoomsLook } from "../api-types/rooms.ts";
import type { LiveRooms, RoomIndex } from "./room-index.ts";
import { isDirect, type Room } from "./room-row.ts";

/** Receives frames as JSON. */
export interface RoomsReader {
  readonly send: (frame: string) => void;
  /** Whether it has taken every frame; otherwise it is skipped. */
  readonly idle: () => boolean;
}

/** A list that follows activity is sorted at most this often, ms. */
const followMs = 2_000;
/** A search is repeated at most this often. */
const findMs = 1_000;

export class Viewport {
  readonly reader: RoomsReader;
  /** The page has its first frame. */
  begun = false;
  /** The page is closed. */
  over = false;
  readonly #roomIndex: RoomIndex;
  #look: RoomsLook;
  #words: readonly string[];
  #order: readonly Room[] = [];
  #orderedAt: Millis = 0;
  #orderedChanges = -1;
  #orderedDrops = 0;
  /** The rooms of the order that pass the filter. */
  #rooms: readonly Room[] = [];
  #chosenAt: Millis = 0;
  #chosenDrops = 0;
  /** The live state that the filter was applied to. */
  #chosenBy: unknown = null;
  #window: readonly Room[] = [];
  #from = 0;
  /** Versions of the rows in the window as the page has them. */
  #sentVersions = new Map<Room, number>();
  /** The last totals sent to the page; null: none yet. */
  #sentTotal: number | null = null;
  #sentFresh = 0;
  /** The window differs from the one the page knows. */
  #moved = true;
  #at: number | null = null;

  constructor(roomIndex: RoomIndex, reader: RoomsReader, look: RoomsLook) {
    this.#roomIndex = roomIndex;
    this.reader = reader;
    this.#look = look;
    this.#words = wordsOf(look.find);
  }

  /** Changes the filter, search or window. */
  look(look: RoomsLook): void {
    const sort = this.#look.sort || look.sort;
    const isOther = look.filter !== this.#look.filter || look.find !== this.#look.find;
    this.#look = { ...look, sort };
    this.#words = wordsOf(look.find);
    if (isOther) this.#chosenAt = Number.NEGATIVE_INFINITY;
  }

  end(): void {
    this.over = true;
    for (const room of this.#window) room.leave();
    this.#window = [];
  }

  /** Whether it needs the live state. */
  get needsLive(): boolean {
    return !this.begun || this.#look.filter === "engaged" || this.#look.filter === "guarded";
  }

  /** Moves the window; returns the rooms that entered it. */
  arrange(live: LiveRooms, now: Millis): readonly Room[] {
    const ordered = this.#putInOrder(now);
    if (ordered || this.#mayPassOthers(live, now)) this.#choose(live, now);
    const { limit, at } = this.#look;
    let { from } = this.#look;
    if (at !== "") {
      const place = this.#rooms.findIndex(({ key }) => key === at);
      if (place >= 0) from = Math.max(0, place - Math.floor(limit / 2));
      this.#at = place < 0 ? null : place;
      this.#look = { ...this.#look, at: "", from };
      this.#moved = true;
    }
    from = Math.max(0, Math.min(from, this.#rooms.length - limit));
    return this.#moveTo(from, this.#rooms.slice(from, from + limit));
  }

  /** A frame with what the page lacks; null: nothing. */
  frame(): string | null {
    const rows: string[] = [];
    for (const room of this.#window) {
      const { json, version } = room.serialized();
      if (this.#sentVersions.get(room) === version) continue;
      this.#sentVersions.set(room, version);
      rows.push(json);
    }
    const fresh = this.#fresh();
    const total = this.#rooms.length;
    const isNew = this.#moved || this.#sentTotal !== total;
    if (!isNew && rows.length === 0 && fresh === this.#sentFresh) return null;
    this.#sentTotal = total;
    this.#sentFresh = fresh;
    if (!isNew) return `{"type":"rows","fresh":${fresh},"rows":[${rows.join(",")}]}`;
    const keys = JSON.stringify(this.#window.map(({ key }) => key));
    const place = `"total":${total},"from":${this.#from},"at":${this.#at},"fresh":${fresh}`;
    this.#moved = false;
    this.#at = null;
    return `{"type":"window",${place},"keys":${keys},"rows":[${rows.join(",")}]}`;
  }

  /** Rooms without a place in the order. */
  #fresh(): number {
    const { size, drops } = this.#roomIndex;
    if (drops === this.#orderedDrops) return size - this.#order.length;
    return size - this.#order.reduce((count, room) => count + (room.dropped ? 0 : 1), 0);
  }

  #putInOrder(now: Millis): boolean {
    const { sort, follow } = this.#look;
    const { changes } = this.#roomIndex;
    const isDue = follow && now - this.#orderedAt >= followMs && changes !== this.#orderedChanges;
    if (!sort && !isDue && this.#order.length > 0) return false;
    this.#look = { ...this.#look, sort: false };
    if (changes === this.#orderedChanges) return false;
    this.#order = this.#roomIndex.sorted();
    this.#orderedAt = now;
    this.#orderedChanges = changes;
    this.#orderedDrops = this.#roomIndex.drops;
    return true;
  }

  #mayPassOthers(live: LiveRooms, now: Millis): boolean {
    if (this.#chosenAt === Number.NEGATIVE_INFINITY) return true;
    if (this.#chosenDrops !== this.#roomIndex.drops) return true;
    const { filter } = this.#look;
    if ((filter === "engaged" || filter === "guarded") && this.#chosenBy !== live) return true;
    return this.#words.length > 0 && now - this.#chosenAt >= findMs;
  }

  #choose(live: LiveRooms, now: Millis): void {
    const passes = passing(this.#look.filter, live);
    const words = this.#words;
    this.#rooms = this.#order.filter((room) => !room.dropped && passes(room) && room.has(words));
    this.#chosenAt = now;
    this.#chosenDrops = this.#roomIndex.drops;
    this.#chosenBy = live;
  }

  #moveTo(from: number, window: readonly Room[]): readonly Room[] {
    const before = this.#window;
    if (from !== this.#from) this.#moved = true;
    this.#from = from;
    if (window.length === before.length && window.every((room, n) => room === before[n])) return [];
    const entered = window.filter((room) => !this.#sentVersions.has(room));
    for (const room of window) room.enter();
    for (const room of before) room.leave();
    const versions = new Map<Room, number>();
    for (const room of window) versions.set(room, this.#sentVersions.get(room) ?? -1);
    this.#sentVersions = versions;
    this.#window = window;
    this.#moved = true;
    return entered;
  }
}

function passing(
  filter: RoomsLook["filter"],
  { engaged, guarded }: LiveRooms,
): (room: Room) => boolean {
  if (filter === "engaged") return ({ conv }) => engaged.has(conv);
  if (filter === "guarded") return ({ conv }) => guarded.has(conv);
  return filter === "direct" ? isDirect : () => true;
}

/** The words of a search, in lower case; a room must contain all of them. */
export const wordsOf = (find: string): readonly string[] =>
  find.toLowerCase().split(/\s+/).filter(Boolean);
