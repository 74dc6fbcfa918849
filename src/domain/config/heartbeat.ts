/**
 * `heartbeat`: turns that nobody asked for
 * ========================================
 * Off by default.
 */
import { count, label, ms, section } from "./section.ts";

export const heartbeat = section(
  {
    everyMs: ms.describe("0: off."),
    ackMaxChars: count(0, 10_000).describe(
      "An answer of at most so many units beside the acknowledgement is dropped.",
    ),
    model: label.nullable().describe("Another model for it."),
  },
  { everyMs: 0, ackMaxChars: 300, model: null },
);
