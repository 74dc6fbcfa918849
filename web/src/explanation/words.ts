/** One plain sentence for each rule: what the decision means for the message. */
import type { Decision, Rule } from "../../../src/domain/decision.ts";

const sentences: Readonly<Record<Rule, string>> = {
  dm: "It is a direct chat, so a turn starts.",
  mention: "It mentions the agent, so a turn starts.",
  reply: "It replies to the agent, so a turn starts.",
  "addressed-elsewhere":
    "The author has a credit, but this message is for someone else. The credit stays.",
  sticky: "The agent just answered the author, so this message counts as a follow-up.",
  alias: "It names the agent, so a turn starts.",
  "mentions-others": "It mentions someone else. The agent reads it and stays quiet.",
  "reply-to-other": "It replies to someone else. The agent reads it and stays quiet.",
  "names-peer-bot": "It names another bot. The agent reads it and stays quiet.",
  "thread-unknown": "The agent has not taken part in this thread.",
  "solo-human": "Only one person is here, so the message is for the agent.",
  default: "Nothing indicates that it is for the agent. It is kept as context.",
  judge: "No other rule decided, so the judge was asked.",
  "loop-guard": "Bots have been talking among themselves. The agent waits for a person.",
  always: "This room is set to answer every person.",
  "dm-policy": "The sender may not write to the agent directly. The config says who may.",
  "group-policy": "This room is not allowed, so the agent does not listen here.",
  "no-author": "The platform did not say who wrote it, so it was refused.",
  "rate-limit": "The sender wrote more messages than the config allows in this time.",
  claim: "It is a claim code. It was handled before the ladder, and no agent sees it.",
  duplicate: "The same message arrived before, so it was dropped.",
  command: "It is a command. earshot answered it without a turn.",
};

/** The sentence of the answer box. */
export const sentenceOf = (rule: Rule): string => sentences[rule];

/** Who decided, where the ladder was not asked; nothing while the ladder is still on its way. */
export function deciderOf(verdict: { decision: Decision; rule: Rule }, isWhole: boolean): string {
  if (verdict.rule === "loop-guard") return "The loop guard decided before the ladder.";
  if (verdict.decision !== "engage" && verdict.decision !== "observe")
    return "Access was refused before the ladder.";
  return isWhole ? "The ladder cannot be evaluated again for this message." : "";
}

/** What somebody says about a decision by hand. */
export const shouldHave = {
  engage: "should have answered",
  observe: "should have stayed quiet",
} as const;
