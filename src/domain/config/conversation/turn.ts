/**
 * `turn`: limits of an agent's run and of its delivery
 * ====================================================
 * Nothing waits for ever: every turn ends within `maxMs`, and every reply is sent or expires within
 * `replyAgeMsMax`.
 */
import { z } from "zod";
import { count, ms, positiveMs, section } from "./section.ts";

const perConversation = {
  idleMs: positiveMs.describe("A turn fails if the agent sends nothing for this long."),
  maxMs: positiveMs.describe("Longest duration of a turn."),
  replyAgeMsMax: positiveMs.describe(
    "A part of a reply that could not be sent within this time expires and is not sent.",
  ),
};
const perDaemon = {
  maxConcurrentTurns: count(1, 10_000).describe("How many turns a worker runs at once."),
  onInDoubt: z
    .enum(["resend-if-fresh", "hold"])
    .describe("What to do with a send whose outcome is unknown."),
  inDoubtFreshMs: ms.describe(
    "For `resend-if-fresh`: the send is repeated once if it is younger than this.",
  ),
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
