/**
 * Observed messages are buffered, shown to the agent with the next turn, then dropped.
 */
import { count, ms, section } from "./section.ts";

export const context = section(
  {
    size: count(0, 1_000).describe(
      "How many observed messages are kept as context. The oldest is dropped first.",
    ),
    maxAgeMs: ms.describe("Older messages are left out, and their number is shown. 0: no limit."),
    historyLimit: count(0, 200).describe(
      "Messages read from the platform when a room is first seen. 0 turns context off.",
    ),
  },
  { size: 20, maxAgeMs: 21_600_000, historyLimit: 50 },
);
