/**
 * Below the options of every command: what it does, examples to copy, and the meaning of its exit
 * codes. Text is wrapped for the terminal; examples are not, because half a command does not run.
 */
import type { Command } from "commander";
import { terminalSafe } from "../../../domain/sanitize.ts";
import { wrapText } from "./wrap.ts";

export interface HelpText {
  /** What to know before it is used. */
  readonly about?: string;
  /** Each a command, and above it what it is for. */
  readonly examples: readonly (string | readonly [command: string, use: string])[];
  /** What 1 and 2 mean here, beside 0 for "done". */
  readonly exits?: string;
}

const columnsAssumed = 80;
/** Longer lines are no easier to read on a wide screen. */
const columnsMax = 100;

/**
 * Adds the lesson to the command's help. What commander says of wrong use repeats what was typed,
 * which may have been pasted from a room, so it is made harmless.
 */
export function addHelp(command: Command, lesson: HelpText): Command {
  command.configureOutput({
    writeErr: (text) => void process.stderr.write(terminalSafe(text)),
  });
  return command.addHelpText("after", () => lessonText(lesson, process.stdout.columns));
}

function lessonText({ about, examples, exits }: HelpText, screen: number | undefined): string {
  const columns = Math.min(screen ?? columnsAssumed, columnsMax);
  const parts = [];
  if (about !== undefined) parts.push(wrapText(about, { columns }));
  const shown = examples.flatMap((example) =>
    typeof example === "string" ? [example] : [`# ${example[1]}`, example[0]],
  );
  const title = examples.length === 1 ? "Example:" : "Examples:";
  parts.push([title, ...shown.map((line) => `  ${line}`)].join("\n"));
  if (exits !== undefined) parts.push(wrapText(`Exit codes: ${exits}`, { columns }));
  return `\n${parts.join("\n\n")}`;
}
