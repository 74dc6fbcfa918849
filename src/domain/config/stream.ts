/**
 * `stream`: how an answer is cut and shown while it grows
 * =======================================================
 * Sizes are UTF-16 units, as platforms count. A channel's own text limit caps `maxChars`.
 */
import { z } from "zod";
import { count, ms, section } from "./section.ts";

export const stream = section(
  {
    /** `auto`: blocks in direct chats, one message in groups. */
    mode: z.enum(["auto", "off", "block", "draft"]),
    break: z.enum(["text_end", "message_end"]),
    /** A block is not cut before this size. */
    minChars: count(1, 100_000),
    /** A block is never larger. */
    maxChars: count(32, 100_000),
    /** The break that is looked for first. */
    prefer: z.enum(["paragraph", "newline", "sentence"]),
    /** Small neighbours that come within this time are sent as one. */
    coalesceIdleMs: ms,
    /** Pause before every block but the first. `natural`: 800 to 2,500 ms. */
    humanDelay: z.union([z.enum(["off", "natural"]), z.strictObject({ minMs: ms, maxMs: ms })]),
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
