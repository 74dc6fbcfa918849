/**
 * `loopGuard`: when bots have talked to each other for long enough
 * ================================================================
 * Past the first limits the agent is told that it may stay silent; past the hard limit bots are
 * only heard. A person's word resets it.
 */
import { count, positiveMs, section } from "./section.ts";

export const loopGuard = section(
  {
    /** Turns caused by peer bots since a person last spoke. */
    maxConsecutive: count(1, 10_000),
    /** Such turns within `windowMs`. */
    maxInWindow: count(1, 10_000),
    windowMs: positiveMs,
    /** From here on peer bots engage nothing until a person speaks. 0: off. */
    hardLimit: count(0, 10_000),
  },
  { maxConsecutive: 5, maxInWindow: 5, windowMs: 60_000, hardLimit: 20 },
);
