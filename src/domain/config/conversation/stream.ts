/**
 * `stream`: how an answer is split and shown while it grows
 * =========================================================
 * Sizes are UTF-16 units, as platforms count. A channel's own text limit caps `maxChars`.
 */
import { z } from "zod";
import { count, ms, section } from "./section.ts";

export const stream = section(
  {
    mode: z
      .enum(["auto", "off", "block", "draft"])
      .describe(
        "Whether an answer is sent in blocks while it arrives. `auto`: blocks in direct chats, " +
          "one message in groups.",
      ),
    break: z
      .enum(["text_end", "message_end"])
      .describe(
        "`text_end`: send blocks as text arrives. `message_end`: send when a message is " +
          "complete.",
      ),
    minChars: count(1, 100_000).describe("Smallest size of a block."),
    maxChars: count(32, 100_000).describe("Largest size of a block."),
    prefer: z.enum(["paragraph", "newline", "sentence"]).describe("Where to split, if possible."),
    coalesceIdleMs: ms.describe("Small blocks that arrive within this time are merged."),
    groupMaxChars: count(0, 1_000_000).describe(
      "Longest answer in groups and channels, in UTF-16 units. 0: no limit.",
    ),
    longAnswers: z
      .enum(["continue", "file"])
      .describe(
        "What follows an answer cut at `groupMaxChars`: a note on how to get the rest, or the " +
          "whole answer as a file if the channel supports files.",
      ),
    /** Pause before every block but the first. `natural`: 800 to 2,500 ms. */
    humanDelay: z
      .union([
        z.enum(["off", "natural"]),
        z.strictObject({
          minMs: ms.describe("Shortest pause."),
          maxMs: ms.describe("Longest pause."),
        }),
      ])
      .describe("Pause before every block after the first. `natural`: 800 to 2,500 ms."),
  },
  {
    mode: "auto",
    break: "text_end",
    minChars: 800,
    maxChars: 1_200,
    prefer: "paragraph",
    coalesceIdleMs: 1_000,
    groupMaxChars: 12_000,
    longAnswers: "continue",
    humanDelay: "off",
  },
);
