/**
 * Messages with an agent's reasoning and tool steps, for people who asked to see them. They are
 * marked, so that no one takes them for the answer, and bounded.
 */
import type { AgentEvent } from "../../domain/ports/index.ts";
import { cut, oneLine } from "../../domain/sanitize.ts";
import type { TurnSettings, UsageLevel, VerboseLevel } from "../../domain/session.ts";

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

/**
 * What is shown below an answer: another model than before, and what the answer used. Empty: nothing.
 * @param ms how long it took
 */
export function belowAnswer(
  { verbose, usage: level }: Pick<TurnSettings, "verbose" | "usage">,
  change: FallbackChange | null,
  usage: Usage | null,
  ms: number,
): string {
  const lines: string[] = [];
  if (change !== null && verbose !== "off") lines.push(fallbackLine(change));
  if (usage !== null && level !== "off") lines.push(usageLine(level, usage, ms));
  return lines.join("\n");
}

/** What an answer used, as one line: `1,234 tokens in, 56 out, $0.0042, 3.1 s`. */
function usageLine(
  level: UsageLevel,
  { inputTokens, outputTokens, costUsd }: Usage,
  ms: number,
): string {
  const whole = (count: number) => count.toLocaleString("en-US");
  const tokens = `${whole(inputTokens)} tokens in, ${whole(outputTokens)} out`;
  if (level !== "full") return `📊 ${tokens}`;
  const cost = costUsd === 0 ? "" : `, $${costUsd.toFixed(costUsd < 0.01 ? 4 : 2)}`;
  return `📊 ${tokens}${cost}, ${(ms / 1_000).toFixed(1)} s`;
}

/** A model answers for another one, or no longer does. */
const fallbackLine = (change: FallbackChange): string =>
  change.kind === "over"
    ? `🔁 ${code(oneLine(change.model, nameUnitsMax))} answers again.`
    : `🔁 Answered by ${code(oneLine(change.to, nameUnitsMax))}. ${oneLine(change.why, inputUnitsMax)}`;

/** Replaces shown reasoning when no answer followed. */
export const noAnswer = "💭 No answer.";

/** What the agent reported of a turn. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** 0: not reported. */
  readonly costUsd: number;
}

/** A model that answers for another one. */
export type Fallback = Pick<AgentEvent & { type: "fallback" }, "from" | "to" | "why">;

/** Another model answers than in the conversation's turn before. */
export type FallbackChange =
  | { readonly kind: "fallback"; readonly to: string; readonly why: string }
  | { readonly kind: "over"; readonly model: string };

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
