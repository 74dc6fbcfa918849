/**
 * `typing`: when the room sees that an answer is being written
 * ============================================================
 * `auto` is `instant` in direct chats and when mentioned, else `message`.
 */
import { z } from "zod";
import { positiveMs, section } from "./section.ts";

export const typing = section(
  {
    mode: z
      .enum(["auto", "instant", "thinking", "message", "never"])
      .describe(
        "When typing is shown. `auto`: at once in direct chats and on a mention, else with the first words.",
      ),
    intervalMs: positiveMs.describe("Refresh; a platform that forgets sooner is refreshed sooner."),
    ttlMs: positiveMs.describe("Typing ends after this, whatever the turn does."),
  },
  { mode: "auto", intervalMs: 6_000, ttlMs: 120_000 },
);
