/**
 * `earshot replay --against`
 * ==========================
 * Compares the same scenario under two configs: decisions and their results. Each side runs under its
 * own config alone; the scenario's header applies only to a side without one. Both runs read the
 * file one after the other, and only the compared data of the first run stays in memory.
 */
import type { Rule } from "../../../domain/decision.ts";
import {
  type LabelledComparison,
  LabelledDecisions,
  type LabelledScore,
  type Side,
} from "../../../domain/quality/labelled-decisions.ts";
import { oneLine } from "../../../domain/sanitize.ts";
import type { ScenarioLine } from "../../../domain/scenario/scenario.ts";
import type { DecisionLine, StreamLine } from "../../../domain/stream.ts";
import { tagged } from "../../events/event-kinds.ts";
import { counted } from "../lib/command.ts";

/** A decision or result that differs between the two sides. */
interface Difference {
  /** ms from the scenario's start. */
  readonly t: number;
  readonly what: "decision" | "turn" | "reply" | "drop";
  /** The message, the turn, or the message that a reply answers. */
  readonly id: string;
  readonly key: string | null;
  readonly before: string | null;
  readonly after: string | null;
}

interface Compared {
  readonly t: number;
  readonly what: Difference["what"];
  readonly id: string;
  readonly key: string | null;
  readonly value: string;
}

const words = (decision: string, rule: Rule): string => `${decision} by ${rule}`;

/** Whether the judge of that side has answered about a message. */
type Answered = (key: string | null, id: string) => boolean;

interface Answers {
  readonly before: Answered;
  readonly after: Answered;
}

/** A judge that was not asked may have decided either way. */
const isOpen = ({ key, id, decision, rule }: DecisionLine, isAnswered: Answered): boolean =>
  rule === "judge" && decision === "observe" && !isAnswered(key, id);

/** A judge engaged a message that was observed first: its only decision that is compared. */
const isLate = (line: StreamLine): boolean =>
  "decision" in line && line.rule === "judge" && line.decision === "engage";

const observed = words("observe", "judge");
const undecided = words("undecided", "judge");

/** The compared part of a line; null: none. */
function comparedOf(line: StreamLine, isAnswered: Answered): Compared | null {
  const entry = tagged(line);
  const { t } = line;
  switch (entry.kind) {
    case "decision": {
      const { id, key, decision, rule } = entry.line;
      const value = words(isOpen(entry.line, isAnswered) ? "undecided" : decision, rule);
      return { t, what: "decision", id, key, value };
    }
    case "agent_end": {
      const { key, turn, outcome } = entry.line;
      return { t, what: "turn", id: String(turn), key, value: outcome };
    }
    case "send": {
      const { key, replyTo, status, text } = entry.line;
      const value = `${status}: ${text}`;
      return { t, what: "reply", id: replyTo ?? "", key, value };
    }
    case "dropped":
      return {
        t,
        what: "drop",
        id: entry.line.message,
        key: entry.line.key,
        value: entry.line.why,
      };
    default:
      return null;
  }
}

/** A message that the second side's judge is asked about. */
interface Asked {
  /** What the first side decided. */
  readonly before: string | null;
  readonly t: number;
}

/** Compares two runs: first everything of one side, then everything of the other. */
export class Comparison {
  /** Results of the first side without a match on the second yet, by name, in order. */
  readonly #before = new Map<string, Compared[]>();
  readonly #found: Difference[] = [];
  readonly #labelled = new LabelledDecisions();
  /** Messages of the second side that its judge may still engage. */
  readonly #asked = new Map<string, Asked>();
  #answered: Answers = { before: () => false, after: () => false };
  #decisions = 0;

  /** What the judge of each side has answered about, before the runs. */
  judged(answered: Answers): void {
    this.#answered = answered;
  }

  /** A line of the scenario: all of them come before the runs. */
  note(line: ScenarioLine): void {
    if ("label" in line) this.#labelled.label(line.label);
  }

  before(line: StreamLine): void {
    this.#judge("before", line);
    const result = comparedOf(line, this.#answered.before);
    if (result === null) return;
    const name = nameOf(result);
    const list = this.#before.get(name);
    if (isLate(line)) {
      const first = list?.findLastIndex(({ value }) => value === observed) ?? -1;
      if (first >= 0) list?.splice(first, 1, { ...result, t: list[first]?.t ?? result.t });
      return;
    }
    if (list === undefined) this.#before.set(name, [result]);
    else list.push(result);
  }

  after(line: StreamLine): void {
    this.#judge("after", line);
    const now = comparedOf(line, this.#answered.after);
    if (now === null) return;
    const name = nameOf(now);
    if (isLate(line)) {
      this.#engagedLate(name, now);
      return;
    }
    if (now.what === "decision") this.#decisions += 1;
    const list = this.#before.get(name);
    const was = list?.shift();
    if (list?.length === 0) this.#before.delete(name);
    const before = was?.value ?? null;
    if (now.value === observed) this.#asked.set(name, { before, t: now.t });
    this.#compare(before, now);
  }

  #compare(before: string | null, now: Compared): void {
    if (before !== now.value) this.#found.push({ ...of(now), before, after: now.value });
  }

  /** What was found about its first decision is not so any more. */
  #engagedLate(name: string, now: Compared): void {
    const asked = this.#asked.get(name);
    if (asked === undefined) return;
    this.#asked.delete(name);
    const { before, t } = asked;
    const first = this.#found.findLastIndex(
      (one) => one.t === t && one.after === observed && nameOf(one) === name,
    );
    if (first >= 0) this.#found.splice(first, 1);
    this.#compare(before, { ...now, t });
  }

  #judge(side: Side, line: StreamLine): void {
    const entry = tagged(line);
    if (entry.kind !== "decision") return;
    const { key, id, decision } = entry.line;
    const open = isOpen(entry.line, this.#answered[side]);
    this.#labelled.decided(side, key, id, open ? "undecided" : decision);
  }

  /** How right both are on labelled messages; null: there is none. */
  get labelled(): LabelledComparison | null {
    return this.#labelled.compare();
  }

  /** Decisions of the second side. */
  get decisions(): number {
    return this.#decisions;
  }

  /** All differences by time, including results of the first side only. */
  end(): readonly Difference[] {
    for (const list of this.#before.values())
      for (const was of list) this.#found.push({ ...of(was), before: was.value, after: null });
    this.#before.clear();
    return this.#found.sort((a, b) => a.t - b.t);
  }
}

const of = ({ t, what, id, key }: Compared) => ({ t, what, id, key });

/** Turns have other numbers under another config, so they are matched by their order. */
function nameOf({ what, id, key }: Pick<Compared, "what" | "id" | "key">): string {
  return JSON.stringify(what === "turn" ? [what, key] : [what, key, id]);
}

const kinds = {
  decision: ["decision", "decisions"],
  turn: ["turn", "turns"],
  reply: ["reply", "replies"],
  drop: ["drop", "drops"],
} as const;

/** The counts, one below the other: kinds first, then how decisions changed. */
export function countsOf(found: readonly Difference[], decisions: number): string {
  if (found.length === 0) return `No difference in ${decisions} decisions.`;
  const counts = new Map<string, number>();
  const add = (name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);
  for (const { what } of found) add(what);
  const rows = Object.entries(kinds).flatMap(([what, [one, many]]) => {
    const count = counts.get(what) ?? 0;
    return count === 0
      ? []
      : [
          `${count} ${count === 1 ? one : many} differ`.replace(
            /^1 (\w+) differ$/u,
            "1 $1 differs",
          ),
        ];
  });
  counts.clear();
  for (const { what, before, after } of found)
    if (what === "decision") add(`${before ?? "nothing"} → ${after ?? "nothing"}`);
  const changes = [...counts].sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1));
  const isUndecided = found.some(({ before, after }) => [before, after].includes(undecided));
  return [
    `Of ${decisions} decisions:`,
    ...rows,
    ...changes.map(([name, count]) => `  ${count} ${name}`),
    ...(isUndecided
      ? ["Undecided: a judge would be asked, and the file has no answer of it."]
      : []),
  ].join("\n");
}

/** The numbers of both sides on labelled messages. */
export function labelledText(compared: LabelledComparison): string {
  const { messages, undecided: open, before, after } = compared;
  const part = (share: number, count: number, of: number) =>
    of === 0 ? "none" : `${(share * 100).toFixed(1)} % (${count} of ${of})`;
  const precision = ({ precision: share, right, engaged }: LabelledScore) =>
    part(share, right, engaged);
  const recall = ({ recall: share, right, meant }: LabelledScore) => part(share, right, meant);
  return [
    `On ${counted(messages, "labelled message")}:`,
    `  precision ${precision(before)} → ${precision(after)}`,
    `  recall ${recall(before)} → ${recall(after)}`,
    ...(open > 0 ? [`  ${open} more: a judge would be asked`] : []),
  ].join("\n");
}

/** A row of the table. */
export function rowOf({ what, id, before, after }: Difference, clock: string): string {
  const name = what === "turn" ? `turn ${id}` : `${what} ${oneLine(id)}`;
  const cell = (text: string | null) => (text === null ? "nothing" : oneLine(text, 60));
  return `${clock}  ${name}: ${cell(before)} → ${cell(after)}`;
}
