/**
 * `heartbeat`: turns that nobody asked for
 * ========================================
 * Off by default.
 */
import { count, label, ms, section } from "./section.ts";

export const heartbeat = section(
  {
    /** 0: off. */
    everyMs: ms,
    /** An answer of at most so many units beside the acknowledgement is dropped. */
    ackMaxChars: count(0, 10_000),
    /** Another model for it. */
    model: label.nullable(),
  },
  { everyMs: 0, ackMaxChars: 300, model: null },
);
