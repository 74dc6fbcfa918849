/**
 * A replay for people
 * ===================
 * One line for each event, messages with author and text, and a summary of counts. Text of the scenario is sanitised before it reaches the terminal.
 */
import pico from "picocolors";
import { oneLine, terminalSafe } from "../../../domain/sanitize.ts";
import type { ScenarioLine } from "../../../domain/scenario/scenario.ts";
import type { AgentEndLine, DecisionLine, SendLine, StreamLine } from "../../../domain/stream.ts";
import { tagged } from "../../events/event-kinds.ts";
import { decisionInks } from "./colors.ts";
import { columnsOf, cutLine, padTo } from "./wrap.ts";

/** Length of a text if the output is no terminal. */
const textUnitsMax = 72;
/** Minimum length on a narrow screen. */
const textUnitsMin = 12;
const nameUnitsMax = 16;
/** Messages remembered until they are decided, and the length of each. */
const messagesMax = 10_000;
const messageUnitsMax = 1_024;
const ruleUnits = 19;
const tagUnits = 11;
/** Turns end after the last line of the file, so the clock may need more digits. */
const clockMarginUnits = 2;

/** Time since the start: `1:02:03.450`, hours only when there are any. */
export function clockText(ms: number): string {
  const part = (value: number, digits: number) => String(value).padStart(digits, "0");
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor(ms / 60_000) % 60;
  const seconds = `${part(Math.floor(ms / 1_000) % 60, 2)}.${part(ms % 1_000, 3)}`;
  return hours > 0 ? `${hours}:${part(minutes, 2)}:${seconds}` : `${minutes}:${seconds}`;
}

/** Groups of the summary, in its order. */
const groups = ["engage", "observe", "other", "turn", "reply", "drop"] as const;
type Group = (typeof groups)[number];
interface Counted {
  readonly rank: number;
  readonly count: number;
  readonly words: (count: number) => string;
}

export class ReplayTable {
  readonly #paint: ReturnType<typeof pico.createColors>;
  readonly #columns: number;
  #clockColumns = clockText(0).length + clockMarginUnits;
  #nameColumns = 0;
  readonly #messages = new Map<string, { readonly author: string; readonly text: string }>();
  readonly #counts = new Map<string, Counted>();

  /** `columns`: of the screen; texts are cut to fit. */
  constructor({ colour, columns }: { readonly colour: boolean; readonly columns: number }) {
    this.#paint = pico.createColors(colour);
    this.#columns = columns;
  }

  /** Receives every line before the first row, to find the column widths. */
  measure(line: ScenarioLine): void {
    this.#clockColumns = clockText(line.t).length + clockMarginUnits;
    if (!("in" in line)) return;
    const name = columnsOf(oneLine(line.in.author.name, nameUnitsMax));
    this.#nameColumns = Math.max(this.#nameColumns, name);
  }

  /** Receives each message before its results. */
  noteMessage(line: ScenarioLine): void {
    if (!("in" in line)) return;
    const { author, id, text } = line.in;
    this.#messages.delete(id);
    this.#messages.set(id, { author: author.name, text: text.slice(0, messageUnitsMax) });
    if (this.#messages.size > messagesMax)
      this.#messages.delete(this.#messages.keys().next().value as string);
  }

  /** The row of a line, or null for what the table leaves out (typing, reactions). */
  row(line: StreamLine): string | null {
    const words = this.#words(line);
    if (words === null) return null;
    return `${this.#paint.dim(clockText(line.t).padStart(this.#clockColumns))}  ${words}`;
  }

  /** Counts, one line each: decisions, turns, replies, drops. */
  summary(): string {
    if (this.#counts.size === 0) return "Nothing happened.";
    const counted = [...this.#counts].sort(
      ([a, one], [b, other]) => one.rank - other.rank || (a < b ? -1 : 1),
    );
    const width = Math.max(...counted.map(([, { count }]) => String(count).length));
    return counted
      .map(([, { count, words }]) => `${String(count).padStart(width)} ${words(count)}`)
      .join("\n");
  }

  #count(group: Group, words: Counted["words"]): void {
    const key = words(1);
    const count = (this.#counts.get(key)?.count ?? 0) + 1;
    this.#counts.set(key, { rank: groups.indexOf(group), count, words });
  }

  #words(line: StreamLine): string | null {
    const entry = tagged(line);
    switch (entry.kind) {
      case "decision":
        return this.#decision(entry.line);
      case "send":
        return this.#send(entry.line);
      case "agent_start":
        return `  turn ${entry.line.turn} starts with ${startsWith(entry.line.batch)}`;
      case "agent_end":
        this.#count("turn", (n) => `${n === 1 ? "turn" : "turns"} ${entry.line.outcome}`);
        return `  turn ${entry.line.turn} ends: ${endsAs(entry.line)}`;
      case "dropped":
        this.#count(
          "drop",
          (n) => `${n === 1 ? "message" : "messages"} dropped: ${entry.line.why}`,
        );
        return `  dropped ${oneLine(entry.line.message)}: ${entry.line.why}`;
      case "prompt":
        return `  prompt of turn ${entry.line.turn}:\n${promptText(entry.line.text)}`;
      default:
        return null;
    }
  }

  #decision({ id, decision, rule, credit }: DecisionLine): string {
    const group = decision === "engage" || decision === "observe" ? decision : "other";
    this.#count(group, () => `${decision} by ${rule}`);
    const { author, text } = this.#messages.get(id) ?? { author: id, text: "" };
    const { dim } = this.#paint;
    const tag = decisionInks(this.#paint)[decision](`[${decision}]`.padEnd(tagUnits));
    const name = padTo(oneLine(author, nameUnitsMax), this.#nameColumns);
    const note = credit === "none" ? "" : ` (credit ${credit})`;
    const taken = tagUnits + 1 + ruleUnits + 1 + this.#nameColumns + 1 + note.length;
    return `${tag} ${rule.padEnd(ruleUnits)} ${name} ${this.#cut(text, taken)}${dim(note)}`;
  }

  #send({ status, text, chat, replyTo }: SendLine): string {
    this.#count("reply", (n) => `${n === 1 ? "reply" : "replies"} ${status}`);
    const { green, red } = this.#paint;
    const to = replyTo === null ? oneLine(chat) : `${oneLine(chat)}, to ${oneLine(replyTo)}`;
    const mark = status === "sent" ? green(status) : red(status);
    const lead = ` (${to}): `;
    return `  ${mark}${lead}${this.#cut(text, 2 + status.length + columnsOf(lead))}`;
  }

  /** A text, cut to the rest of its row. */
  #cut(text: string, taken: number): string {
    const line = oneLine(text, textUnitsMax);
    const room = this.#columns - this.#clockColumns - 2 - taken;
    return cutLine(line, Math.max(textUnitsMin, room));
  }
}

/** A turn without messages belongs to a heartbeat. */
const startsWith = (batch: readonly string[]) =>
  batch.length === 0 ? "a heartbeat" : batch.map((id) => oneLine(id)).join(", ");

const endsAs = ({ outcome, reason }: AgentEndLine) =>
  reason === undefined ? outcome : `${outcome} (${oneLine(reason)})`;

/** A prompt, indented and sanitised. */
function promptText(text: string): string {
  return terminalSafe(text)
    .split("\n")
    .map((line) => `                | ${line}`.trimEnd())
    .join("\n");
}
