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
        "When typing is shown. `auto`: immediately in direct chats and after a mention, " +
          "otherwise with the first text.",
      ),
    intervalMs: positiveMs.describe("Refresh interval. Shorter if the platform requires it."),
    ttlMs: positiveMs.describe("Typing is shown for at most this long, even if the turn goes on."),
  },
  { mode: "auto", intervalMs: 6_000, ttlMs: 120_000 },
);
