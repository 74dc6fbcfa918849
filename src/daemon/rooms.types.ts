/**
 * The list of rooms, as its page sees it
 * ======================================
 * The forms that `GET /api/rooms`, its live stream and the Rooms page share. A row is whole each
 * time it is told, so whoever missed some has missed nothing once the next one comes.
 */
import type { Decision, Rule } from "../domain/decision.ts";
import type { Millis } from "../domain/message.ts";

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

/** A frame of `GET /api/rooms/live`. */
export type RoomsFrame =
  /** Rooms, new or changed. */
  | { readonly type: "rooms"; readonly rows: readonly RoomRow[] }
  /** Every room of the list has been told; from here on changes follow. */
  | { readonly type: "ready" }
  /** About once a second. `now`: the daemon's clock, for countdowns. */
  | {
      readonly type: "now";
      readonly now: Millis;
      readonly counts: RoomCounts;
      readonly pulse: PulseView;
    };

/** The answer of `GET /api/rooms`. */
export interface RoomsPageAnswer {
  readonly rooms: readonly RoomRow[];
  readonly counts: RoomCounts;
  /** The number to ask for the next page with; null: that was all. */
  readonly next: number | null;
}
