/**
 * `typing`: when the room sees a typing indicator
 * ===============================================
 * `auto` is `instant` in direct chats and when mentioned, otherwise `message`.
 */
import { z } from "zod";
import { positiveMs, section } from "./section.ts";

export const typing = section(
  {
    mode: z
      .enum(["auto", "instant", "thinking", "message", "never"])
      .describe(
        "When typing is shown. `auto`: at once in direct chats and on a mention, otherwise with the first text.",
      ),
    intervalMs: positiveMs.describe("Refresh interval; shorter where the platform requires it."),
    ttlMs: positiveMs.describe("Typing ends after this, whatever the turn does."),
  },
  { mode: "auto", intervalMs: 6_000, ttlMs: 120_000 },
);
