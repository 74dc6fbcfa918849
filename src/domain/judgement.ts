/**
 * What a judge is asked, and what it answers. The answer is somebody else's output: it passes one
 * schema, and what is not exactly one answer is none.
 */
import { z } from "zod";
import type { Millis } from "./message.ts";
import { oneLine } from "./sanitize.ts";

/** One line of the room, as a program that judges gets it. */
export interface JudgedLine {
  readonly id: string;
  readonly at: Millis;
  readonly by: string;
  readonly isBot: boolean;
  /** The agent said it. */
  readonly isSelf: boolean;
  readonly text: string;
}

/** Whether the last of these lines is meant for the agent. */
export interface JudgeQuestion {
  readonly agent: string;
  /** The agent's standing instructions, cut. */
  readonly purpose: string;
  readonly lines: readonly JudgedLine[];
}

/** UTF-16 units of a reason that are kept. */
const whyUnitsMax = 300;
/** A longer output is no answer. */
const outputUnitsMax = 8_192;

const answerSchema = z.object({
  engage: z.boolean(),
  confidence: z.number().min(0).max(1),
  why: z
    .string()
    .default("")
    .transform((why) => oneLine(why, whyUnitsMax)),
});
export type Judgement = z.output<typeof answerSchema>;

/** A code fence around the whole output, as models like to write it. */
const fenced = /^```(?:json)?\s*\n([\s\S]*)\n\s*```$/u;

/**
 * The answer in a judge's output: one JSON object and nothing beside it. Null: there is none. An
 * object that is quoted inside other text does not count, as it may be the room's.
 */
export function judgementIn(output: string): Judgement | null {
  const text = output.trim();
  if (text.length > outputUnitsMax) return null;
  try {
    const parsed = answerSchema.safeParse(JSON.parse(fenced.exec(text)?.[1] ?? text));
    return parsed.success ? parsed.data : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
