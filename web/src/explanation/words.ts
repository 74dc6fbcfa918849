/** One plain sentence for each rule: what the decision means for the message. */
import type { Decision, Rule } from "../../../src/domain/decision.ts";

const sentences: Readonly<Record<Rule, string>> = {
  dm: "It is a direct chat, so a turn is due.",
  mention: "It mentions the agent, so a turn is due.",
  reply: "It replies to the agent, so a turn is due.",
  "addressed-elsewhere":
    "The author has a live credit, but this line is aimed at someone else. The credit stays.",
  sticky: "The agent just talked with the author, so this line counts as a follow-up.",
  alias: "It names the agent, so a turn is due.",
  "mentions-others": "It tags someone else. The agent reads it and stays quiet.",
  "reply-to-other": "It replies to someone else. The agent reads it and stays quiet.",
  "names-peer-bot": "It names another bot. The agent reads it and stays quiet.",
  "thread-unknown": "The agent has not taken part in this thread.",
  "solo-human": "Only one person is here, so they must mean the agent.",
  default: "Nothing aims it at the agent. It goes to the context buffer.",
  judge: "Nothing else decided, so the judge of this room was asked.",
  "loop-guard": "Bots have been talking among themselves. The agent waits for a person.",
  always: "This room is set to answer every person.",
  "dm-policy": "The sender may not write to the agent directly. The config decides who may.",
  "group-policy": "This room is not listed in the config, so the agent does not listen here.",
  "no-author": "The platform did not say who wrote it, so it was not heard.",
  "rate-limit": "The sender wrote more than the config allows in this time.",
  claim: "It is a claim code. It was checked before the ladder and no agent sees it.",
  duplicate: "The same message was heard before. It was dropped before anything else.",
  command: "It is a command. The runtime answered it; no agent turn was needed.",
};

/** The sentence of the answer box. */
export const sentenceOf = (rule: Rule): string => sentences[rule];

/** Who decided, where the ladder was not asked; nothing while the ladder is still on its way. */
export function deciderOf(verdict: { decision: Decision; rule: Rule }, isWhole: boolean): string {
  if (verdict.rule === "loop-guard") return "The guard decided, before the ladder was asked.";
  if (verdict.decision !== "engage" && verdict.decision !== "observe")
    return "Admission decided, before the ladder was asked.";
  return isWhole ? "The ladder cannot be evaluated again for this message." : "";
}

/** What somebody says about a decision by hand. */
export const shouldHave = {
  engage: "should have answered",
  observe: "should have stayed quiet",
} as const;
