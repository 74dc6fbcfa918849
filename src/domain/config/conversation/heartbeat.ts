/**
 * `heartbeat`: turns that nobody asked for
 * ========================================
 * Off by default. Said at the top or at an agent it wakes the agent in its main session; said at
 * one conversation it wakes the agent there as well. docs/guide/heartbeat.md has what such a turn
 * may do.
 */
import type { z } from "zod";
import { limits } from "../../limits.ts";
import { count, label, ms, section } from "./section.ts";

export const heartbeat = section(
  {
    everyMs: ms
      .refine((every) => every === 0 || every >= limits.heartbeatMsMin, {
        error: `expected 0 (off) or at least ${limits.heartbeatMsMin}`,
      })
      .describe("How often the agent is woken; 0: never."),
    ackMaxChars: count(0, 10_000).describe(
      "An answer of at most so many units beside the acknowledgement is dropped.",
    ),
    model: label.nullable().describe("Another model for it."),
  },
  { everyMs: 0, ackMaxChars: 300, model: null },
);

export type HeartbeatSettings = z.output<typeof heartbeat.whole>;
