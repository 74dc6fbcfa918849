/**
 * What `--help` teaches
 * =====================
 * Below the options of every command: what it is about, examples that can be copied as they stand,
 * and what its exit codes mean. Words are wrapped for the screen they are read on; an example never
 * is, as half of a command is none.
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
