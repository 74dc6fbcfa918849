/**
 * `loopGuard`: when bots have talked to each other for long enough
 * ================================================================
 * Past the first limits the agent is told that it may stay silent; past the hard limit bots are
 * only heard. A person's word resets it.
 */
import { count, positiveMs, section } from "./section.ts";

export const loopGuard = section(
  {
    maxConsecutive: count(1, 10_000).describe(
      "Turns caused by peer bots since a person last spoke.",
    ),
    maxInWindow: count(1, 10_000).describe("Such turns within `windowMs`."),
    windowMs: positiveMs.describe("The window of `maxInWindow`."),
    hardLimit: count(0, 10_000).describe(
      "From here on peer bots engage nothing until a person speaks. 0: off.",
    ),
  },
  { maxConsecutive: 5, maxInWindow: 5, windowMs: 60_000, hardLimit: 20 },
);
