/**
 * Lines by kind
 * =============
 * Everything that happens comes as one list of lines, in order. These pick one kind out of it, so
 * that a test says what it looks at.
 */
import type { Rule } from "../domain/decision.ts";
import type {
  AgentEndLine,
  AgentStartLine,
  DecisionLine,
  DroppedLine,
  PromptLine,
  SendLine,
  StreamLine,
} from "../domain/stream.ts";

const events = <Line extends StreamLine>(lines: readonly StreamLine[], event: string) =>
  lines.filter((line): line is Line => "event" in line && line.event === event);

/** One line for each message and each agent that received it. */
export const decisions = (lines: readonly StreamLine[]): DecisionLine[] =>
  lines.filter((line): line is DecisionLine => "decision" in line);

/** What left for the rooms, or did not: answers, and the answers of commands. */
export const sends = (lines: readonly StreamLine[]): SendLine[] =>
  lines.filter((line): line is SendLine => "out" in line && line.out === "send");

/** Turns that began. */
export const starts = (lines: readonly StreamLine[]): AgentStartLine[] =>
  events(lines, "agent_start");

/** Turns that ended, with their one outcome. */
export const ends = (lines: readonly StreamLine[]): AgentEndLine[] => events(lines, "agent_end");

/** Messages that no turn will see, and why. */
export const drops = (lines: readonly StreamLine[]): DroppedLine[] => events(lines, "dropped");

/** What agents were shown; only in runs that were asked for `prompts`. */
export const prompts = (lines: readonly StreamLine[]): PromptLine[] => events(lines, "prompt");

/** `id rule credit` of every decision, short to read in a test. */
export const verdicts = (lines: readonly StreamLine[]): string[] =>
  decisions(lines).map(({ id, rule, credit }) =>
    credit === "none" ? `${id} ${rule}` : `${id} ${rule} ${credit}`,
  );

/**
 * How often each rule decided. A property that never met a rule says nothing about it, so assert
 * on this beside it.
 */
export function ruleCounts(lines: readonly StreamLine[]): Partial<Record<Rule, number>> {
  const counts: Partial<Record<Rule, number>> = {};
  for (const { rule } of decisions(lines)) counts[rule] = (counts[rule] ?? 0) + 1;
  return counts;
}
