/**
 * `turn`: bounds of one run of an agent and of its delivery
 * =========================================================
 * Nothing hangs for ever: every turn ends within `maxMs` and every reply is sent or expires within
 * `replyAgeMsMax`.
 */
import { z } from "zod";
import { count, ms, positiveMs, section } from "./section.ts";

const perConversation = {
  idleMs: positiveMs.describe("Without any sign of life from the agent."),
  maxMs: positiveMs.describe("In all."),
  replyAgeMsMax: positiveMs.describe(
    "A part of a reply that could not be sent for so long is not sent any more.",
  ),
};
const perDaemon = {
  maxConcurrentTurns: count(1, 10_000).describe("Turns at the same time, per worker."),
  onInDoubt: z
    .enum(["resend-if-fresh", "hold"])
    .describe("What to do with a send whose outcome is unknown."),
  inDoubtFreshMs: ms.describe("For `resend-if-fresh`: sent again, once, if younger than this."),
};
const own = section(
  { ...perConversation, ...perDaemon },
  {
    idleMs: 120_000,
    maxMs: 600_000,
    maxConcurrentTurns: 8,
    replyAgeMsMax: 900_000,
    onInDoubt: "resend-if-fresh",
    inDoubtFreshMs: 120_000,
  },
);

export const turn = {
  whole: own.whole,
  override: z.strictObject(perConversation).partial(),
};
