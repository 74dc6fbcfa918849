/**
 * How many decisions a second the pure ladder makes on one core, and what explaining costs over
 * deciding. Inputs are group rooms of five people and a bot, most lines falling through to the
 * bottom: the most expensive decision there is.
 */
import type { EngagementInput, Participant } from "../src/domain/decision.ts";
import { decideEngagement, explainEngagement } from "../src/machines/engagement/engagement.ts";
import { assertRatio, busyMix, messages, perSecond, report, round, short } from "./support.ts";

const now = 1_763_700_000_000;
const next = messages(50, busyMix);
const participants: Participant[] = ["u0", "u1", "u2", "u3", "u4", "relay"].map((id) => ({
  id,
  name: id,
  isBot: id === "relay",
  lastSeenAt: now - 1_000,
}));
const rules: EngagementInput["rules"] = {
  trigger: ["dm", "mention", "reply"],
  activation: "ladder",
  aliases: ["scout", "earshot"],
  stickiness: { enabled: true, windowMs: 900_000, mode: "one-shot", holdDuringTurn: true },
};
const inputs: EngagementInput[] = Array.from({ length: 4_096 }, (_, n) => {
  const message = next(n, now);
  const mentionsSelf = message.mentions.some(({ isSelf }) => isSelf);
  return {
    message: {
      text: message.text,
      authorId: message.author.id,
      authorIsBot: message.author.isBot,
      isDirect: false,
      inThread: false,
      mentionsSelf,
      mentionsOthers: message.mentions.length > 0 && !mentionsSelf,
      repliesToSelf: false,
      repliesToOther: message.replyTo !== null,
    },
    rules,
    room: { participants, membership: null, botInThread: false },
    credits: {},
    held: [],
    now,
  };
});
const calls = short ? 100_000 : 1_000_000;
const decide = perSecond((n) => decideEngagement(inputs[n & 4_095] as EngagementInput), calls);
const explain = perSecond(
  (n) => explainEngagement(inputs[n & 4_095] as EngagementInput),
  calls / 4,
);

assertRatio("deciding over explaining", decide / explain, 1.2);

report({
  bench: "ladder",
  unit: "calls/s, one core",
  figures: { decideEngagement: decide, explainEngagement: explain },
  ratios: { "decide over explain": round(decide / explain) },
});
