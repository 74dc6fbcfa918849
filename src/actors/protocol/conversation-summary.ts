/**
 * Conversation summaries
 * ======================
 * The state of a live conversation in the few fields that a list of rooms shows, and the number of
 * live ones.
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
