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
      .describe("Whether an author who was answered may continue without a mention."),
    windowMs: ms.describe("How long after a reply a follow-up needs no mention."),
    mode: z
      .enum(stickinessModes)
      .describe(
        "`floor`: facts decide whether the author still talks with the agent; `one-shot`: a credit is spent when it engages; `sliding`: renewed by each follow-up.",
      ),
    threshold: z
      .number()
      .min(0)
      .max(1)
      .describe("Of `floor`: how sure to be that a line goes on with the talk, 0 to 1."),
    holdDuringTurn: z
      .boolean()
      .describe("Authors of a pending or running turn hold a credit until it ends."),
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
      .describe("What always engages. `everyone`: @everyone counts as a mention of the agent."),
    activation: z
      .enum(activations)
      .describe(
        "`mention`: only triggers and names engage; `always`: every message of a person engages.",
      ),
    broadcasts: z
      .enum(broadcasts)
      .describe(
        "Posts in broadcast channels: `called`: `sticky` and `solo-human` are off; `ladder`: as in groups.",
      ),
    freshMembershipMs: ms.describe(
      "Member counts younger than this are trusted; older ones can only prevent engagement.",
    ),
    firstReadMs: count(0, limits.firstReadMsMax).describe(
      "How long the first message of a room waits for the member list and the history. 0: not at all.",
    ),
    participantDays: count(1, 365).describe(
      "Participants silent for this many days no longer count as present.",
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
