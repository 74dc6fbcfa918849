/**
 * `engagement`: when a message engages the agent
 * ==============================================
 * The knobs of the ladder (docs/guide/engagement.md). There is none for bots alone: peer bots use
 * the same rules as people except the last.
 */
import { z } from "zod";
import { activations, triggers } from "../../decision.ts";
import { count, ms, section } from "./section.ts";

const stickiness = section(
  {
    enabled: z.boolean().describe("Whether somebody who was answered may go on without a mention."),
    windowMs: ms.describe("How long after our reply a follow-up needs no mention."),
    mode: z
      .enum(["one-shot", "sliding"])
      .describe("`one-shot`: spent when it engages; `sliding`: renewed by each follow-up."),
    holdDuringTurn: z
      .boolean()
      .describe("Authors of a pending or running turn count as credited until it ends."),
  },
  { enabled: true, windowMs: 900_000, mode: "one-shot", holdDuringTurn: true },
);
const stickinessHelp = "Going on without a mention after an answer.";
const own = section(
  {
    trigger: z
      .array(z.enum([...triggers, "everyone"]))
      .max(4)
      .describe("What always engages. `everyone`: @everyone counts as a mention of us."),
    activation: z
      .enum(activations)
      .describe(
        "`mention`: only triggers and names engage; `always`: everything a person says here does.",
      ),
    freshMembershipMs: ms.describe(
      "A member read younger than this is the truth; an older one only quiets.",
    ),
    participantDays: count(1, 365).describe(
      "Who has not spoken for so long no longer counts as present.",
    ),
  },
  {
    trigger: ["dm", "mention", "reply"],
    activation: "ladder",
    freshMembershipMs: 60_000,
    participantDays: 7,
  },
);

export const engagement = {
  whole: own.whole.extend({ stickiness: stickiness.whole.prefault({}).describe(stickinessHelp) }),
  override: own.override.extend({
    stickiness: stickiness.override.optional().describe(stickinessHelp),
  }),
};
