/** Parts of the questions of `earshot init`. */
import * as ask from "@clack/prompts";
import { EarshotError } from "../../../domain/errors.ts";

/** Width of the prefix of lines between the questions. */
export const barUnits = 4;

/** The answer; cancelling writes nothing. */
export function answered<Value>(answer: Value): Exclude<Value, symbol> {
  if (typeof answer === "symbol")
    throw new EarshotError("EAR_USAGE", "Cancelled. Nothing was written");
  return answer as Exclude<Value, symbol>;
}

export type Check = (text: string | undefined) => string | undefined;

export const notEmpty: Check = (text) =>
  (text ?? "").trim() === "" ? "A name is required." : undefined;
export const isAddress: Check = (text) =>
  /^https?:\/\/[^\s]+$/.test(text ?? "")
    ? undefined
    : "Expected a URL such as http://127.0.0.1:11434/v1";
export const isAnything: Check = () => undefined;

export async function text(
  message: string,
  initialValue: string,
  validate: Check,
): Promise<string> {
  return answered(await ask.text({ message, initialValue, defaultValue: "", validate })).trim();
}
