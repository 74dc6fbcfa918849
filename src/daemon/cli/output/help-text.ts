/**
 * Below the options of every command: what it does, examples to copy, and the meaning of its exit
 * codes. Text is wrapped for the terminal; examples are not, so that they can be copied.
 */
import type { Command } from "commander";
import { terminalSafe } from "../../../domain/sanitize.ts";
import { wrapText } from "./wrap.ts";

export interface HelpText {
  /** What the command does. */
  readonly about?: string;
  /** Commands, each with its purpose where it is not obvious. */
  readonly examples: readonly (string | readonly [command: string, use: string])[];
  /** The meaning of the exit codes. */
  readonly exits?: string;
}

const columnsAssumed = 80;
/** Longer lines are hard to read. */
const columnsMax = 100;

/**
 * Adds the text to the command's help. Commander's errors repeat the input, which may have been
 * pasted from a room, so they are sanitised.
 */
export function addHelp(command: Command, text: HelpText): Command {
  command.configureOutput({
    writeErr: (text) => void process.stderr.write(terminalSafe(text)),
  });
  return command.addHelpText("after", () => helpText(text, process.stdout.columns));
}

function helpText({ about, examples, exits }: HelpText, screen: number | undefined): string {
  const columns = Math.min(screen || columnsAssumed, columnsMax);
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
