/**
 * `engagement`: when a message engages the agent
 * ==============================================
 * The knobs of the ladder (docs/engagement.md). There is none for bots alone: peer bots use the
 * same rules as people except the last.
 */
import { z } from "zod";
import { activations, triggers } from "../decision.ts";
import { count, ms, section } from "./section.ts";

const stickiness = section(
  {
    enabled: z.boolean(),
    /** How long after our reply a follow-up needs no mention. */
    windowMs: ms,
    /** `one-shot`: spent when it engages; `sliding`: renewed by each follow-up. */
    mode: z.enum(["one-shot", "sliding"]),
    /** Authors of a pending or running turn count as credited until it ends. */
    holdDuringTurn: z.boolean(),
  },
  { enabled: true, windowMs: 900_000, mode: "one-shot", holdDuringTurn: true },
);
const own = section(
  {
    /** What always engages. `everyone`: @everyone counts as a mention of us. */
    trigger: z.array(z.enum([...triggers, "everyone"])).max(4),
    /** `mention`: only triggers and names engage; `always`: everything a person says here does. */
    activation: z.enum(activations),
    /** A member read younger than this is the truth; an older one only quiets. */
    freshMembershipMs: ms,
    /** Who has not spoken for so long no longer counts as present. */
    participantDays: count(1, 365),
  },
  {
    trigger: ["dm", "mention", "reply"],
    activation: "ladder",
    freshMembershipMs: 60_000,
    participantDays: 7,
  },
);

export const engagement = {
  whole: own.whole.extend({ stickiness: stickiness.whole.prefault({}) }),
  override: own.override.extend({ stickiness: stickiness.override.optional() }),
};
