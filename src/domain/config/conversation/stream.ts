/**
 * `stream`: how an answer is cut and shown while it grows
 * =======================================================
 * Sizes are UTF-16 units, as platforms count. A channel's own text limit caps `maxChars`.
 */
import { z } from "zod";
import { count, ms, section } from "./section.ts";

export const stream = section(
  {
    mode: z
      .enum(["auto", "off", "block", "draft"])
      .describe("`auto`: blocks in direct chats, one message in groups."),
    break: z
      .enum(["text_end", "message_end"])
      .describe("Blocks end as text comes, or with the whole message."),
    minChars: count(1, 100_000).describe("A block is not cut before this size."),
    maxChars: count(32, 100_000).describe("A block is never larger."),
    prefer: z
      .enum(["paragraph", "newline", "sentence"])
      .describe("The break that is looked for first."),
    coalesceIdleMs: ms.describe("Small neighbours that come within this time are sent as one."),
    /** Pause before every block but the first. `natural`: 800 to 2,500 ms. */
    humanDelay: z
      .union([
        z.enum(["off", "natural"]),
        z.strictObject({
          minMs: ms.describe("At least so long."),
          maxMs: ms.describe("At most so long."),
        }),
      ])
      .describe("Pause before every block but the first. `natural`: 800 to 2,500 ms."),
  },
  {
    mode: "auto",
    break: "text_end",
    minChars: 800,
    maxChars: 1_200,
    prefer: "paragraph",
    coalesceIdleMs: 1_000,
    humanDelay: "off",
  },
);
