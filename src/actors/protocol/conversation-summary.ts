/**
 * Conversation summaries
 * ======================
 * The state of a live conversation in the few fields that a list of rooms shows, and how many are
 * live: what a host answers when it is asked.
 */
import type { Millis } from "../../domain/message.ts";

export interface ConversationSummary {
  /** For example "engaged.running". */
  readonly attention: string;
  readonly guard: "clear" | "tripped" | "muted";
  /** People the ladder reckons with. */
  readonly humans: number;
  /** Where that number comes from, in words. */
  readonly source: string;
  /** Peer bots that spoke lately. */
  readonly bots: number;
  /** When live credits end, the last to end first; at most 8. */
  readonly credits: readonly Millis[];
  /** Messages that wait for a turn. */
  readonly queued: number;
}
/** The live conversations of a house, or of one host, as counted for a list of rooms. */

export interface ConversationCount {
  /** How many are live. */
  readonly live: number;
  /** Those at anything but observing. */
  readonly engaged: readonly number[];
  /** Those whose guard holds. */
  readonly guarded: readonly number[];
}

export const nothingLive: ConversationCount = { live: 0, engaged: [], guarded: [] };
