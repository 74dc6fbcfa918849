/**
 * `typing`: when the room sees that an answer is being written
 * ============================================================
 * `auto` is `instant` in direct chats and when mentioned, else `message`.
 */
import { z } from "zod";
import { positiveMs, section } from "./section.ts";

export const typing = section(
  {
    mode: z.enum(["auto", "instant", "thinking", "message", "never"]),
    /** Refresh; a platform that forgets sooner is refreshed sooner. */
    intervalMs: positiveMs,
    /** Typing ends after this, whatever the turn does. */
    ttlMs: positiveMs,
  },
  { mode: "auto", intervalMs: 6_000, ttlMs: 120_000 },
);
