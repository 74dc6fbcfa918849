/**
 * The list of rooms, as its page sees it
 * ======================================
 * The forms that `GET /api/rooms`, its live stream and the Rooms page share. A page is told the rows
 * it looks at and nothing of the others. A row is whole each time it is told, so whoever missed some
 * has missed nothing once the next one comes.
 */
import type { Decision, Rule } from "../../domain/decision.ts";
import type { Millis } from "../../domain/message.ts";

/**
 * What a room is at. `delivering`: the agent is done, parts of its answer are on their way.
 * `asleep`: put away as a record, it wakes with the next message.
 */
export const roomStates = [
  "observing",
  "gathering",
  "waiting",
  "running",
  "delivering",
  "asleep",
] as const;
export type RoomStateName = (typeof roomStates)[number];

/** One letter a decision, for strips. */
export const decisionLetters = {
  engage: "e",
  observe: "o",
  denied: "d",
  claim: "c",
  duplicate: "u",
  command: "m",
} as const satisfies Readonly<Record<Decision, string>>;

/** Decisions that a strip shows. */
export const stripCount = 22;

/** The last line that was heard. */
export interface LastLine {
  readonly decision: Decision;
  readonly rule: Rule;
  readonly author: string;
  /** One harmless line, cut; null: it was deleted. */
  readonly text: string | null;
}

export interface RoomRow {
  readonly key: string;
  /** Empty where a key gathers several channels. */
  readonly channel: string;
  readonly account: string;
  /** A name for people. */
  readonly title: string;
  readonly kind: "direct" | "group" | "channel" | "main";
  /** What tells the room apart on its channel, for example "channel:9021". */
  readonly place: string;
  readonly agent: string;
  readonly state: RoomStateName;
  /** Who spoke lately, people first; at most 4. */
  readonly faces: readonly { readonly name: string; readonly bot: boolean }[];
  /** People the ladder reckons with; null while asleep. */
  readonly humans: number | null;
  /** Where that number comes from, in words. */
  readonly source: string;
  readonly bots: number;
  /** When credits end, the last to end first. */
  readonly credits: readonly Millis[];
  /** Messages that wait for a turn. */
  readonly queued: number;
  readonly guard: "clear" | "tripped" | "muted";
  /** The last decisions as letters, the newest last. */
  readonly recent: string;
  readonly last: LastLine | null;
  /** When a message was last heard; 0: longer ago than anyone remembers. */
  readonly heardAt: Millis;
}

/** The last 15 minutes. */
export interface PulseView {
  readonly perMinute: number;
  /** Share of the messages that were engaged, 0 to 100; null: none was heard. */
  readonly engagedPercent: number | null;
  /** From receipt to decision, of the newest messages, ms. */
  readonly decidedMsP99: number | null;
  /** From the agent's call to its first words, of the newest turns, ms. */
  readonly firstWordsMsP50: number | null;
  /** Messages and, of them, engaged ones for each stretch of `barMs`, oldest first. */
  readonly bars: readonly (readonly [number, number])[];
  readonly barMs: number;
}

export interface RoomCounts {
  readonly live: number;
  readonly asleep: number;
}

export const roomFilters = ["all", "engaged", "guarded", "direct"] as const;
export type RoomFilter = (typeof roomFilters)[number];

/** How many rooms of the list pass each filter, whatever is looked for. */
export type FilterCounts = Readonly<Record<RoomFilter, number>>;

/** What of the list a page looks at. */
export interface RoomsLook {
  readonly filter: RoomFilter;
  /** Words that a room has to have, in any order. */
  readonly find: string;
  /** Rows before the first one that is told. */
  readonly from: number;
  readonly limit: number;
  /** Those heard last come first, ever anew; otherwise the order stays as it is. */
  readonly follow: boolean;
  /** Order them now, once. */
  readonly sort: boolean;
  /** The key of a room that is to be among the rows, wherever it stands; empty: none. */
  readonly at: string;
}

/** Rows that a page may look at at a time. */
export const lookRowsMax = 200;
/** Words and keys of a look. */
export const lookUnitsMax = 2_048;

/** A frame of `GET /api/rooms/live`. */
export type RoomsFrame =
  /** First of all: where to say what else to look at. */
  | { readonly type: "open"; readonly view: string }
  /**
   * The rows looked at are these now, whole those that were not told as they are. What is not among
   * the keys is forgotten.
   */
  | {
      readonly type: "window";
      /** Rows there are to look at. */
      readonly total: number;
      /** Place of the first of them. */
      readonly from: number;
      readonly keys: readonly string[];
      readonly rows: readonly RoomRow[];
      /** Rooms that have no place in the order yet. */
      readonly fresh: number;
      /** Place of the room that was to be among them; null: none was, or it is not there. */
      readonly at: number | null;
    }
  /** Rows looked at that changed, each whole. */
  | { readonly type: "rows"; readonly rows: readonly RoomRow[]; readonly fresh: number }
  /** About once a second. `now`: the daemon's clock, for countdowns. */
  | {
      readonly type: "now";
      readonly now: Millis;
      readonly counts: RoomCounts;
      readonly filters: FilterCounts;
      readonly pulse: PulseView;
    };

/** The answer of `GET /api/rooms`. */
export interface RoomsPageAnswer {
  readonly rooms: readonly RoomRow[];
  readonly counts: RoomCounts;
  /** The number to ask for the next page with; null: that was all. */
  readonly next: number | null;
}
