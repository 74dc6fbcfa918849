/**
 * Decisions on labelled messages
 * ==============================
 * How right two configs are on the messages that somebody labelled by hand. A message that one of
 * them does not let reach the agent is not engaged there. One that either would put to a judge whose
 * answer is not known counts for neither.
 */
import type { Decision, Expected, Rule } from "../decision.ts";
import { type Score, Tally } from "./score.ts";

/** How right one config is. */
export type LabelledScore = Pick<Score, "meant" | "engaged" | "right" | "precision" | "recall">;

export interface LabelledComparison {
  /** Messages with a label that both sides decide. */
  readonly messages: number;
  /** Messages with a label about which a judge would have to be asked. */
  readonly undecided: number;
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
  readonly #undecided = { before: new Set<string>(), after: new Set<string>() };

  label({ key, id, expected }: LabelNote): void {
    if (expected === null) this.#labels.delete(nameOf(key, id));
    else this.#labels.set(nameOf(key, id), expected);
  }

  /** The last decision about a message counts. */
  decided(side: Side, key: string | null, id: string, decision: Decision | "undecided"): void {
    if (key === null || this.#labels.size === 0 || decision === "duplicate") return;
    const name = nameOf(key, id);
    if (!this.#labels.has(name)) return;
    this.#found[side].set(name, decision === "engage");
    if (decision === "undecided") this.#undecided[side].add(name);
  }

  /** Null: no labelled message was decided. */
  compare(): LabelledComparison | null {
    const { before, after } = this.#found;
    const all = [...this.#labels].filter(([name]) => before.has(name) || after.has(name));
    if (all.length === 0) return null;
    const { before: openBefore, after: openAfter } = this.#undecided;
    const names = all.filter(([name]) => !openBefore.has(name) && !openAfter.has(name));
    const undecided = all.length - names.length;
    const of = (engaged: ReadonlyMap<string, boolean>): LabelledScore => {
      const tally = new Tally();
      for (const [name, expected] of names)
        tally.count(anyRule, engaged.get(name) === true, expected === "engage");
      const { meant, engaged: count, right, precision, recall } = tally.score();
      return { meant, engaged: count, right, precision, recall };
    };
    return { messages: names.length, undecided, before: of(before), after: of(after) };
  }
}

/** The sums do not depend on it. */
const anyRule: Rule = "default";

const nameOf = (key: string, id: string) => JSON.stringify([key, id]);
