/**
 * Peer-bot loop guard
 * ===================
 * Two bots that answer each other never stop by themselves. The guard counts the turns that peer
 * bots caused since a human last spoke, in a row and within a sliding window. At the first limit
 * the prompt says that it may stay silent; at the hard limit peer bots are observed until a human
 * speaks. What is counted lives here; the states (clear, tripped, muted) are the machine's.
 */
import type { Millis } from "../../domain/message.ts";
import type { ConversationSettings } from "../../domain/settings.ts";

type LoopGuardSettings = ConversationSettings["loopGuard"];

/** Engaged peer-bot messages since the last human inbound. */
export interface GuardCounters {
  readonly consecutive: number;
  /** When the latest of them came, oldest first; at most as many as the window's limit. */
  readonly window: readonly Millis[];
}

/** What a human inbound leaves behind. */
export const noCounters: GuardCounters = { consecutive: 0, window: [] };

/** The counters after one more engaged peer-bot message at `at`. */
export function countPeerTurn(
  counters: GuardCounters,
  at: Millis,
  settings: LoopGuardSettings,
): GuardCounters {
  const live = counters.window.filter((earlier) => at - earlier < settings.windowMs);
  live.push(at);
  const window = live.slice(-Math.max(1, settings.maxInWindow));
  return { consecutive: counters.consecutive + 1, window };
}

/** Whether the guard trips: enough in a row, or enough within the window. A limit of 0 is off. */
export function reachedLimit(counters: GuardCounters, settings: LoopGuardSettings): boolean {
  const { maxConsecutive, maxInWindow } = settings;
  return (
    (maxConsecutive > 0 && counters.consecutive >= maxConsecutive) ||
    (maxInWindow > 0 && counters.window.length >= maxInWindow)
  );
}

/** Whether peer bots are muted from here on. A limit of 0 is off. */
export function reachedHardLimit(counters: GuardCounters, settings: LoopGuardSettings): boolean {
  return settings.hardLimit > 0 && counters.consecutive >= settings.hardLimit;
}
