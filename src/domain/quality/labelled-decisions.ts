/**
 * Decisions on labelled messages
 * ==============================
 * How right two configs are on the messages that somebody labelled by hand. A message that one of
 * them does not let reach the agent is not engaged there.
 */
import type { Decision, Expected, Rule } from "../decision.ts";
import { type Score, Tally } from "./score.ts";

/** How right one config is. */
export type LabelledScore = Pick<Score, "meant" | "engaged" | "right" | "precision" | "recall">;

export interface LabelledComparison {
  /** Messages with a label. */
  readonly messages: number;
  readonly before: LabelledScore;
  readonly after: LabelledScore;
}

export type Side = "before" | "after";

/** What somebody said about a message; null: took that back. */
export interface LabelNote {
  /** Session key. */
  readonly key: string;
  /** Platform id of the message. */
  readonly id: string;
  readonly expected: Expected | null;
}

/** Labels first, in order, then the decisions of both sides. */
export class LabelledDecisions {
  readonly #labels = new Map<string, Expected>();
  readonly #found = { before: new Map<string, boolean>(), after: new Map<string, boolean>() };

  label({ key, id, expected }: LabelNote): void {
    if (expected === null) this.#labels.delete(nameOf(key, id));
    else this.#labels.set(nameOf(key, id), expected);
  }

  decided(side: Side, key: string | null, id: string, decision: Decision): void {
    if (key === null || this.#labels.size === 0 || decision === "duplicate") return;
    const name = nameOf(key, id);
    if (this.#labels.has(name)) this.#found[side].set(name, decision === "engage");
  }

  /** Null: no labelled message was decided. */
  compare(): LabelledComparison | null {
    const { before, after } = this.#found;
    const names = [...this.#labels].filter(([name]) => before.has(name) || after.has(name));
    if (names.length === 0) return null;
    const of = (engaged: ReadonlyMap<string, boolean>): LabelledScore => {
      const tally = new Tally();
      for (const [name, expected] of names)
        tally.count(anyRule, engaged.get(name) === true, expected === "engage");
      const { meant, engaged: count, right, precision, recall } = tally.score();
      return { meant, engaged: count, right, precision, recall };
    };
    return { messages: names.length, before: of(before), after: of(after) };
  }
}

/** The sums do not depend on it. */
const anyRule: Rule = "default";

const nameOf = (key: string, id: string) => JSON.stringify([key, id]);
