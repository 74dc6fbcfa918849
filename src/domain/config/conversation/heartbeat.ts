/**
 * `heartbeat`: scheduled turns without a message
 * ==============================================
 * Off by default. Set at the top or at an agent, it wakes the agent in its main session; set at a
 * conversation, it wakes the agent there as well. docs/guide/heartbeat.md says what such a turn may
 * do.
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
      .describe("How often a heartbeat starts. 0: never."),
    ackMaxChars: count(0, 10_000).describe(
      "An answer that has at most this many UTF-16 units besides the acknowledgement is not sent.",
    ),
    model: label.nullable().describe("The model for heartbeats. null: the agent's."),
  },
  { everyMs: 0, ackMaxChars: 300, model: null },
);

export type HeartbeatSettings = z.output<typeof heartbeat.whole>;
