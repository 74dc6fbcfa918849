/**
 * `context`: what is remembered of messages that were only heard
 * ==============================================================
 * The buffer is shown to the agent with the next turn and then forgotten.
 */
import { count, ms, section } from "./section.ts";

export const context = section(
  {
    size: count(0, 1_000).describe("Messages kept; the oldest goes first."),
    maxAgeMs: ms.describe("Older ones are left out and counted. 0: no limit."),
    historyLimit: count(0, 200).describe(
      "Messages read from the platform when a room is first seen. 0 switches context off.",
    ),
  },
  { size: 20, maxAgeMs: 21_600_000, historyLimit: 50 },
);
