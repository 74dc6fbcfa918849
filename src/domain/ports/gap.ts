/**
 * A span of time of which an account cannot get everything back from its platform: it was away, and
 * the platform keeps no history, or less than that.
 */
import type { Millis } from "../message.ts";

export interface Gap {
  /** Until then everything was heard, ms since the epoch. */
  readonly from: Millis;
  /** From then on everything is heard again, ms since the epoch. */
  readonly to: Millis;
  /** Ids of the chats that it concerns; empty: any of the account's. */
  readonly rooms: readonly string[];
  /**
   * `messages`: people may have said something that nobody here knows. `edits`: all messages came
   * back, but what happened to earlier ones (edits, deletions, reactions) did not.
   */
  readonly lost: "messages" | "edits";
}
