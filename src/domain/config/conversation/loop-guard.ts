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
      "Turns caused by peer bots since a person last spoke.",
    ),
    maxInWindow: count(1, 10_000).describe("Such turns within `windowMs`."),
    windowMs: positiveMs.describe("The window of `maxInWindow`."),
    hardLimit: count(0, 10_000).describe(
      "From here on peer bots do not engage until a person speaks. 0: off.",
    ),
  },
  { maxConsecutive: 5, maxInWindow: 5, windowMs: 60_000, hardLimit: 20 },
);
