/**
 * Engage or observe
 * =================
 * The decision about every admitted message: does the agent wake up, or does it only remember?
 * The answer is the first matching rung of the ladder (machines/ladder.ts). Pure and total: same
 * input, same answer, nothing changed. It reads no meaning out of text; besides our names and the
 * names of peer bots words do not matter. Selectivity for small talk is the agent's, asked for by
 * the group nudge.
 */
import type {
  CreditUse,
  EngagementInput,
  EngagementVerdict,
  Explanation,
  Rule,
  Rung,
} from "../../domain/decision.ts";
import {
  type LadderRung,
  ladder,
  ladderWithAlways,
  ladderWithBoth,
  ladderWithJudge,
} from "./ladder.ts";
import { LadderCase } from "./ladder-input.ts";

/**
 * Decides on one message. The text is looked at up to a cap, in linear time; everything else is a
 * look-up. Credits are not spent here: the verdict says what is to happen to them.
 */
export function decideEngagement(input: EngagementInput): EngagementVerdict {
  const ladderCase = new LadderCase(input);
  const { unrestricted } = ladderCase;
  for (const rung of rungsFor(input)) {
    const { test, testUnrestricted } = rung;
    if ((unrestricted ? testUnrestricted : test)(ladderCase)) return verdictOf(rung, ladderCase);
  }
  return { decision: "observe", rule: "default", credit: "none" };
}

/**
 * The same decision with every rung: what matched, what did not and why not, what was not reached.
 */
export function explainEngagement(input: EngagementInput): Explanation {
  const ladderCase = new LadderCase(input);
  const rungs: Rung[] = [];
  let verdict: EngagementVerdict | null = null;
  for (const rung of rungsFor(input)) {
    const { tier, rule } = rung;
    if (verdict !== null) {
      rungs.push({ tier, rule, outcome: "not-reached", fact: "not reached" });
      continue;
    }
    const matched = rung.test(ladderCase);
    const shares = rung.shares?.(ladderCase);
    rungs.push({
      tier,
      rule,
      outcome: matched ? "matched" : "passed",
      fact: rung.fact(ladderCase, matched),
      ...(shares === undefined ? {} : { shares }),
    });
    if (matched) verdict = verdictOf(rung, ladderCase);
  }
  return {
    verdict: verdict ?? { decision: "observe", rule: "default", credit: "none" },
    rungs,
  };
}

function rungsFor(input: EngagementInput): readonly LadderRung[] {
  const { activation, judge } = input.rules;
  if (judge !== undefined) return activation === "always" ? ladderWithBoth : ladderWithJudge;
  return activation === "always" ? ladderWithAlways : ladder;
}

function verdictOf({ rule, decision }: LadderRung, one: LadderCase): EngagementVerdict {
  const credit = creditUse(rule, one);
  if (credit !== "slid") return { decision, rule, credit };
  const creditExpiresAt = one.input.now + one.input.rules.stickiness.windowMs;
  return { decision, rule, credit, creditExpiresAt };
}

/** Rules by which an author calls us. */
export const callRules: readonly Rule[] = ["mention", "reply", "alias"];

/** What the decision does to the author's credit. Only the second tier ever touches it. */
function creditUse(rule: Rule, one: LadderCase): CreditUse {
  if (rule === "addressed-elsewhere") return "kept";
  if (rule !== "sticky") return "none";
  if (one.credit === "held") return "held";
  return one.input.rules.stickiness.mode === "one-shot" ? "consumed" : "slid";
}
