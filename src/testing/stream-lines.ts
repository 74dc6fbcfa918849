/**
 * Lines by kind
 * =============
 * Everything that happens is one list of lines, in order. These functions select one kind of line,
 * so that a test names what it checks.
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

/** Sent messages, or failed ones: answers, and the replies of commands. */
export const sends = (lines: readonly StreamLine[]): SendLine[] =>
  lines.filter((line): line is SendLine => "out" in line && line.out === "send");

/** Turns that began. */
export const starts = (lines: readonly StreamLine[]): AgentStartLine[] =>
  events(lines, "agent_start");

/** Turns that ended, with their single outcome. */
export const ends = (lines: readonly StreamLine[]): AgentEndLine[] => events(lines, "agent_end");

/** Messages that no turn will see, with the reason. */
export const drops = (lines: readonly StreamLine[]): DroppedLine[] => events(lines, "dropped");

/** Prompts of agents; only in runs with the option `prompts`. */
export const prompts = (lines: readonly StreamLine[]): PromptLine[] => events(lines, "prompt");

/** `id rule credit` of every decision, short to read in a test. */
export const verdicts = (lines: readonly StreamLine[]): string[] =>
  decisions(lines).map(({ id, rule, credit }) =>
    credit === "none" ? `${id} ${rule}` : `${id} ${rule} ${credit}`,
  );

/**
 * How often each rule decided. A property that never reached a rule proves nothing about it, so
 * assert on this too.
 */
export function ruleCounts(lines: readonly StreamLine[]): Partial<Record<Rule, number>> {
  const counts: Partial<Record<Rule, number>> = {};
  for (const { rule } of decisions(lines)) counts[rule] = (counts[rule] ?? 0) + 1;
  return counts;
}
