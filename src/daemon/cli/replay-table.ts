/**
 * A replay for people
 * ===================
 * One line for everything that happened, messages with who said what, and at the end the counts that
 * answer the usual questions. Words from the scenario are made harmless before they reach the terminal.
 */
import pico from "picocolors";
import { oneLine, terminalSafe } from "../../domain/sanitize.ts";
import type { Scenario } from "../../domain/scenario.ts";
import type { DecisionLine, SendLine, StreamLine } from "../../domain/stream.ts";
import { tagged } from "../lines.ts";

const textUnitsMax = 72;
const nameUnitsMax = 16;
const ruleUnits = 19;

/** Time since the start: `1:02:03.450`, hours only when there are any. */
function clockText(ms: number): string {
  const part = (value: number, digits: number) => String(value).padStart(digits, "0");
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor(ms / 60_000) % 60;
  const seconds = `${part(Math.floor(ms / 1_000) % 60, 2)}.${part(ms % 1_000, 3)}`;
  return hours > 0 ? `${hours}:${part(minutes, 2)}:${seconds}` : `${minutes}:${seconds}`;
}

export class ReplayTable {
  readonly #paint: ReturnType<typeof pico.createColors>;
  readonly #said = new Map<string, { readonly author: string; readonly text: string }>();
  readonly #counts = new Map<string, number>();

  constructor(scenario: Scenario, color: boolean) {
    this.#paint = pico.createColors(color);
    for (const line of scenario.lines)
      if ("in" in line)
        this.#said.set(line.in.id, { author: line.in.author.name, text: line.in.text });
  }

  /** The row of a line, or null for what the table leaves out (typing, reactions). */
  row(line: StreamLine): string | null {
    const words = this.#words(line);
    if (words === null) return null;
    return `${this.#paint.dim(clockText(line.t).padStart(12))}  ${words}`;
  }

  /** How often each thing happened. */
  summary(): string {
    const text = [...this.#counts].map(([what, count]) => `${count} ${what}`).join(", ");
    return text === "" ? "Nothing happened." : text;
  }

  #count(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }

  #words(line: StreamLine): string | null {
    const one = tagged(line);
    switch (one.kind) {
      case "decision":
        return this.#decision(one.line);
      case "send":
        return this.#send(one.line);
      case "agent_start":
        return `  turn ${one.line.turn} starts with ${one.line.batch.map((id) => oneLine(id)).join(", ")}`;
      case "agent_end":
        this.#count(`turn ${one.line.outcome}`);
        return `  turn ${one.line.turn} ends: ${one.line.outcome}`;
      case "dropped":
        this.#count(`dropped by ${one.line.why}`);
        return `  dropped ${oneLine(one.line.message)}: ${one.line.why}`;
      case "prompt":
        return `  prompt of turn ${one.line.turn}:\n${promptText(one.line.text)}`;
      default:
        return null;
    }
  }

  #decision({ id, decision, rule, credit }: DecisionLine): string {
    this.#count(`${decision} by ${rule}`);
    const { author, text } = this.#said.get(id) ?? { author: id, text: "" };
    const { green, dim, red, magenta, gray, cyan } = this.#paint;
    const inks = {
      engage: green,
      observe: dim,
      denied: red,
      claim: magenta,
      duplicate: gray,
      command: cyan,
    };
    const tag = inks[decision](`[${decision}]`.padEnd(11));
    const name = oneLine(author, nameUnitsMax).padEnd(nameUnitsMax);
    const note = credit === "none" ? "" : dim(` (credit ${credit})`);
    return `${tag} ${rule.padEnd(ruleUnits)} ${name} ${oneLine(text, textUnitsMax)}${note}`;
  }

  #send({ status, text, chat, replyTo }: SendLine): string {
    this.#count(`reply ${status}`);
    const { green, red } = this.#paint;
    const to = replyTo === null ? oneLine(chat) : `${oneLine(chat)}, to ${oneLine(replyTo)}`;
    const mark = status === "sent" ? green(status) : red(status);
    return `  ${mark} (${to}): ${oneLine(text, textUnitsMax)}`;
  }
}

/** A prompt below its row, set off and made harmless. */
function promptText(text: string): string {
  return terminalSafe(text)
    .split("\n")
    .map((line) => `                | ${line}`.trimEnd())
    .join("\n");
}
