/**
 * Messages with an agent's reasoning and tool steps, for people who asked to see them. They are
 * marked, so that no one takes them for the answer, and bounded.
 */
import { cut, oneLine } from "../../domain/sanitize.ts";
import type { VerboseLevel } from "../../domain/session.ts";

const stepsShownMax = 20;
const nameUnitsMax = 64;
const inputUnitsMax = 200;

const heading = "💭 Reasoning";
const cutMark = "\n> …";

/** Reasoning as a message of at most `textLimit` units: a heading and a quote. */
export function reasoningMessage(thoughts: string, textLimit: number): string {
  const whole = thoughts.trim();
  const capacity = Math.max(0, textLimit - heading.length - cutMark.length);
  const lines = whole.slice(0, textLimit).split("\n");
  const quote = lines.map((line) => `\n> ${line.trimEnd()}`).join("");
  const isWhole = whole.length <= textLimit && quote.length <= capacity;
  return heading + (isWhole ? quote : cut(quote, capacity) + cutMark);
}

/** Replaces shown reasoning when no answer followed. */
export const noAnswer = "💭 No answer.";

interface Step {
  readonly name: string;
  readonly input: string;
  state: "running" | "done" | "failed";
}
const marks = { running: "🔧", done: "✅", failed: "❌" } as const;

/** The tool steps of a turn, for one status message. */
export class Steps {
  readonly #level: VerboseLevel;
  readonly #steps: Step[] = [];
  #earlier = 0;

  constructor(level: VerboseLevel) {
    this.#level = level;
  }

  get isOn(): boolean {
    return this.#level !== "off";
  }

  /** @param input as the agent gave it; shown as one line of JSON where the level is `full`. */
  start(name: string, input: unknown): void {
    const shown = this.#level === "full" ? inputLine(input) : "";
    this.#steps.push({ name: code(oneLine(name, nameUnitsMax)), input: shown, state: "running" });
    if (this.#steps.length <= stepsShownMax) return;
    this.#steps.shift();
    this.#earlier += 1;
  }

  end(name: string, ok: boolean): void {
    const wanted = code(oneLine(name, nameUnitsMax));
    const step = this.#steps.find((entry) => entry.name === wanted && entry.state === "running");
    if (step !== undefined) step.state = ok ? "done" : "failed";
  }

  /** All steps, the newest last. */
  text(): string {
    const earlier = this.#earlier === 0 ? [] : [`… ${this.#earlier} earlier steps`];
    return [...earlier, ...this.#steps.map(lineOf)].join("\n");
  }

  /** Only the newest step. */
  newest(): string {
    const step = this.#steps.at(-1);
    return step === undefined ? "" : lineOf(step);
  }
}

const lineOf = ({ name, input, state }: Step) =>
  `${marks[state]} ${name}${input === "" ? "" : ` ${input}`}`;

/** As code, so that its markup is not rendered. */
const code = (text: string) => (text === "" ? "" : `\`${text.replaceAll("`", "'")}\``);

function inputLine(input: unknown): string {
  try {
    const json = JSON.stringify(input) ?? "";
    return json === "{}" || json === "" ? "" : code(oneLine(json, inputUnitsMax));
  } catch {
    // Input that is not JSON is not shown.
    return "";
  }
}
