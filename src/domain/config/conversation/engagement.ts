/**
 * `engagement`: when a message engages the agent
 * ==============================================
 * The settings of the ladder (docs/guide/engagement.md). There are none for bots alone: peer bots
 * follow the same rules as people except the last.
 */
import { z } from "zod";
import { activations, broadcasts, stickinessModes, triggers } from "../../decision.ts";
import { floorThreshold } from "../../floor.ts";
import { limits } from "../../limits.ts";
import { judge } from "./judge.ts";
import { count, ms, section } from "./section.ts";

const stickiness = section(
  {
    enabled: z
      .boolean()
      .describe("Whether an author who got an answer may go on without a mention."),
    windowMs: ms.describe("How long after a reply a follow-up needs no mention."),
    mode: z
      .enum(stickinessModes)
      .describe(
        "`floor`: an estimate decides whether the author is still talking with the agent. " +
          "`one-shot`: a credit is used up when it engages. `sliding`: each follow-up renews it.",
      ),
    threshold: z
      .number()
      .min(0)
      .max(1)
      .describe(
        "For `floor`: how likely it must be that a message continues the exchange, 0 to 1.",
      ),
    holdDuringTurn: z
      .boolean()
      .describe("Whether authors of a pending or running turn keep their credit until it ends."),
  },
  {
    enabled: true,
    windowMs: 900_000,
    mode: "floor",
    threshold: floorThreshold,
    holdDuringTurn: true,
  },
);
const stickinessHelp = "Follow-ups without a mention after an answer.";
const own = section(
  {
    trigger: z
      .array(z.enum([...triggers, "everyone"]))
      .max(4)
      .describe("What always engages the agent. `everyone`: @everyone counts as a mention."),
    activation: z
      .enum(activations)
      .describe(
        "`ladder`: the rules decide. `mention`: only triggers and names engage. `always`: every " +
          "message of a person engages.",
      ),
    broadcasts: z
      .enum(broadcasts)
      .describe(
        "Posts in broadcast channels. `called`: without the rules `sticky` and `solo-human`. " +
          "`ladder`: as in groups.",
      ),
    freshMembershipMs: ms.describe(
      "How long a member count is trusted. An older one can only prevent engagement.",
    ),
    firstReadMs: count(0, limits.firstReadMsMax).describe(
      "How long the first message of a room waits for the member list and the history. 0: it " +
        "does not wait.",
    ),
    participantDays: count(1, 365).describe(
      "After this many days of silence a participant no longer counts as present.",
    ),
  },
  {
    trigger: ["dm", "mention", "reply"],
    activation: "ladder",
    broadcasts: "called",
    freshMembershipMs: 60_000,
    firstReadMs: 2_000,
    participantDays: 7,
  },
);

export const engagement = {
  whole: own.whole.extend({
    stickiness: stickiness.whole.prefault({}).describe(stickinessHelp),
    judge: judge.optional(),
  }),
  override: own.override.extend({
    judge: judge.optional(),
    stickiness: stickiness.override.optional().describe(stickinessHelp),
  }),
};
