/**
 * `loopGuard`: limits conversations between bots
 * ==============================================
 * Past the first limits the prompt says that the agent may stay silent; past the hard limit bots no
 * longer engage it. A person's message resets the guard.
 */
import { count, positiveMs, section } from "./section.ts";

export const loopGuard = section(
  {
    maxConsecutive: count(1, 10_000).describe(
      "How many turns in a row peer bots may cause before a person speaks.",
    ),
    maxInWindow: count(1, 10_000).describe("How many such turns are allowed within `windowMs`."),
    windowMs: positiveMs.describe("Length of the window of `maxInWindow`."),
    hardLimit: count(0, 10_000).describe(
      "At this many turns peer bots stop engaging until a person speaks. 0: off.",
    ),
  },
  { maxConsecutive: 5, maxInWindow: 5, windowMs: 60_000, hardLimit: 20 },
);
