/**
 * Conversation summaries
 * ======================
 * The state of a live conversation in the few fields that a list of rooms shows, the number of
 * live ones, and the slots that their turns have.
 */
import type { Millis } from "../../domain/message.ts";

export interface ConversationSummary {
  /** For example "engaged.running". */
  readonly attention: string;
  readonly guard: "clear" | "tripped" | "muted";
  /** The number of people that the ladder uses. */
  readonly humans: number;
  /** Where that number comes from. */
  readonly source: string;
  /** Peer bots that spoke recently. */
  readonly bots: number;
  /** When live credits end, latest first; at most 8. */
  readonly credits: readonly Millis[];
  /** Messages that wait for a turn. */
  readonly queued: number;
}
/** The live conversations of all hosts, or of one, as counted for a list of rooms. */

export interface ConversationCount {
  readonly live: number;
  /** Those in any state but observing. */
  readonly engaged: readonly number[];
  /** Those that a loop guard holds. */
  readonly guarded: readonly number[];
}

export const nothingLive: ConversationCount = { live: 0, engaged: [], guarded: [] };

export interface SlotRequest {
  readonly conv: number;
  readonly key: string;
  readonly agentId: string;
}

export interface SlotsOfAgent {
  readonly agentId: string;
  readonly running: number;
  readonly waiting: number;
}

export interface TurnSlots {
  /** Requests a slot. Ignored for a conversation that waits or runs already. */
  request(request: SlotRequest): void;
  /**
   * Takes a slot immediately, if the request would be granted now. False: it was not, and is not
   * queued.
   */
  takeFree(request: SlotRequest): boolean;
  /** Takes a slot that was granted before a restart, even above the limit. */
  occupy(request: SlotRequest): void;
  /** Returns the slot (or leaves the queue). */
  release(conv: number): void;
  /** Grants slots again, after the limits changed. */
  pump(): void;
  /** Grants nothing more: those that wait go on waiting. */
  park(): void;
  /** Gives everything back, as nothing runs here any more. */
  leave(): void;
  waiting(): number;
  running(): number;
  /** Agents that have turns or wait for some. */
  agents(): readonly SlotsOfAgent[];
}

/** The slots of all runtimes of a node. */
export interface NodeSlots {
  /** Those of one runtime. */
  join(grant: (request: SlotRequest) => void): TurnSlots;
  /** Turns that run, of all of them. */
  running(): number;
}

/** Events in the journal whose consequences are not stored: turns may come of them. */
export interface Unapplied {
  readonly events: number;
  /** The start has not found all of those of before, so there may be more. */
  readonly reading: boolean;
}
