/**
 * `turn`: bounds of one run of an agent and of its delivery
 * =========================================================
 * Nothing hangs for ever: every turn ends within `maxMs` and every reply is sent or expires within
 * `replyAgeMsMax`.
 */
import { z } from "zod";
import { count, ms, positiveMs, section } from "./section.ts";

const perConversation = {
  /** Without any sign of life from the agent. */
  idleMs: positiveMs,
  /** In all. */
  maxMs: positiveMs,
  /** A part of a reply that could not be sent for so long is not sent any more. */
  replyAgeMsMax: positiveMs,
};
const perDaemon = {
  /** Turns at the same time, per worker. */
  maxConcurrentTurns: count(1, 1_000),
  /** What to do with a send whose outcome is unknown. */
  onInDoubt: z.enum(["resend-if-fresh", "hold"]),
  /** For `resend-if-fresh`: sent again, once, if younger than this. */
  inDoubtFreshMs: ms,
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
