/**
 * What is said of a judge: in the chip of its line, in the answer of the Why pane, and in full below
 * the ladder. The judge's reason is somebody else's text.
 */
import type { Why } from "../../../src/daemon/api-types/runtime.ts";
import type { Decision, Rule } from "../../../src/domain/decision.ts";
import { amount } from "../lib/format.ts";
import { duration, shownText } from "../lib/sanitize.ts";

export type Judgement = NonNullable<Why["judgement"]>;

/** What is known of the judge of a line. */
export interface Judging {
  /** Null: there is no answer. */
  readonly judgement: Judgement | null;
  /** An answer may still come. */
  readonly asked: boolean;
}

interface Decided {
  readonly decision: Decision;
  readonly rule: Rule;
}

const failures = {
  late: "no answer in time",
  error: "it failed",
  "ill-formed": "no clear answer",
  budget: "not asked",
} as const satisfies Readonly<Record<NonNullable<Judgement["failed"]>, string>>;

const engaged = { decision: "engage", rule: "judge" } as const;

/** The decision that counts: the first one, or what a judge made of it. */
export const withJudgement = <Verdict extends Decided>(
  verdict: Verdict,
  judgement: Judgement | null,
): Verdict | typeof engaged => (judgement?.engaged === true ? engaged : verdict);

const said = ({ engage, confidence }: Judgement): string =>
  `${engage ? "yes" : "no"}, ${Math.round(confidence * 100)}%`;

/** Beside the decision in a chip. */
export function chipWord({ judgement, asked }: Judging): string {
  if (judgement === null) return asked ? "judge is asked" : "judge";
  const { failed } = judgement;
  return `judge: ${failed === undefined ? said(judgement) : failures[failed]}`;
}

/** The sentence of the answer box. */
export function judgedSentence({ judgement, asked }: Judging): string {
  const opening = "No other rule decided, so the judge was asked.";
  if (judgement === null)
    return asked
      ? "No other rule decided, so the judge is asked. Until it answers, the agent only reads."
      : `${opening} It has not answered, so the agent only reads.`;
  const { failed, engage } = judgement;
  if (failed === "budget")
    return "No other rule decided. The judge was not asked because its budget is used up.";
  if (failed !== undefined) return `${opening} There is no valid answer: ${failures[failed]}.`;
  if (!engage) return `${opening} Its answer: not meant for the agent.`;
  if (judgement.engaged) return `${opening} Its answer: meant for the agent, so a turn starts.`;
  return (
    `${opening} Its answer: meant for the agent, but not sure enough or too late, so the agent ` +
    "only reads."
  );
}

const nothing = { inputTokens: 0, outputTokens: 0, costUsd: 0 };

/** How sure it was, how long it took and what it used. `askedAt`: when the line was heard. */
export function judgementFacts(judgement: Judgement, askedAt: number): string {
  const { failed, at, usage = nothing } = judgement;
  const answer = failed === undefined ? `${said(judgement)} sure` : failures[failed];
  const { inputTokens, outputTokens, costUsd = 0 } = usage;
  const isKnown = inputTokens + outputTokens > 0;
  const used = isKnown ? [`${amount(inputTokens)} tokens in, ${amount(outputTokens)} out`] : [];
  const paid = costUsd > 0 ? [`$${costUsd.toPrecision(2)}`] : [];
  const took = failed === "budget" ? [] : [`took ${duration(at - askedAt)}`];
  return [answer, ...took, ...used, ...paid].join("; ");
}

/** The judge's own reason, or what went wrong. */
export const reasonOf = ({ why }: Judgement): string => shownText(why);
