/**
 * Parts of every command
 * ======================
 * Exit codes (0 done, 1 the answer is no, 2 usage error or bad input), output, and options. An error is
 * one line on stderr, wrapped at words on a terminal, that says what to do, and never a stack trace.
 */
import { type Command, Option } from "commander";
import { EarshotError, type ErrorCode } from "../../../domain/errors.ts";
import { terminalSafe } from "../../../domain/sanitize.ts";
import { safeJson } from "../../events/safe-json.ts";
import { stateDirOf } from "../../state/state-dir.ts";
import { columnsOf, padTo, screenColumns, wrapText } from "../output/wrap.ts";

/** Errors of the call or its input. */
const badInput: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "EAR_USAGE",
  "EAR_CONFIG_SYNTAX",
  "EAR_CONFIG_INVALID",
  "EAR_CONFIG_UNKNOWN_KEY",
  "EAR_CONFIG_SECRET_MISSING",
  "EAR_CONFIG_UNSAFE",
  "EAR_PLUGIN",
  "EAR_KEY_INVALID",
  "EAR_SCENARIO_INVALID",
  "EAR_INBOUND_INVALID",
  "EAR_STATE_LOCKED",
  "EAR_STATE_UNSAFE",
  "EAR_PORT_TAKEN",
]);

/** The exit code that an error ends the process with. */
export function exitCodeOf(error: unknown): 1 | 2 {
  return error instanceof EarshotError && badInput.has(error.code) ? 2 : 1;
}

/** An error as text for a terminal: code and message. */
export function errorText(error: unknown): string {
  if (error instanceof EarshotError) return terminalSafe(`${error.code}: ${error.message}`);
  return terminalSafe(error instanceof Error ? error.message : String(error));
}

/** One line about an error, safe for a terminal. */
export const errorLine = (error: unknown): string => `earshot: ${errorText(error)}`;

/** Prints an error and sets the exit code; the process ends when no work is left. */
export function fail(error: unknown): void {
  const columns = screenColumns(process.stderr);
  process.stderr.write(`${wrapText(errorLine(error), { columns, hang: 2 })}\n`);
  process.exitCode = exitCodeOf(error);
}

/** A command's action whose errors end as one line and an exit code. */
export function action<Arguments extends unknown[]>(
  work: (...args: Arguments) => void | Promise<void>,
): (...args: Arguments) => Promise<void> {
  return async (...args) => {
    try {
      await work(...args);
    } catch (error) {
      if (!isReaderGone(error)) fail(error);
    }
  };
}

/** Whether the reader closed the pipe (`| head`), which is no error. */
const isReaderGone = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "EPIPE";

/** Writes a line to stdout. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Writes text for people: wrapped at words on a screen, later rows indented by `hang`. */
export function printText(text: string, hang?: number): void {
  const columns = screenColumns(process.stdout);
  print(wrapText(text, hang === undefined ? { columns } : { columns, hang }));
}

/** Writes data for programs. */
export function printJson(value: unknown): void {
  print(safeJson(value, process.stdout.isTTY ? 2 : 0));
}

/** Says on stderr that the answer is no, which exit code 1 says as well. */
export function printRefusal(reason: string): void {
  process.stderr.write(`earshot: ${reason}\n`);
  process.exitCode = 1;
}

/** 2026-11-21 18:00, in UTC. */
export const minuteOf = (at: number): string =>
  new Date(at).toISOString().slice(0, 16).replace("T", " ");

export interface StateOptions {
  readonly stateDir?: string;
}

/** Of a command that also prints for programs. */
export interface JsonOptions extends StateOptions {
  readonly json?: boolean;
}

export function withStateDir(command: Command): Command {
  return command.addOption(
    new Option("--state-dir <dir>", "state directory of the daemon").env("EARSHOT_STATE_DIR"),
  );
}

/** The state directory of a command. */
export function stateDirFor(options: StateOptions): string {
  return stateDirOf(options.stateDir, process.env);
}

/** "1 turn", "2 turns". */
export const counted = (count: number, what: string): string =>
  `${count} ${what}${count === 1 ? "" : "s"}`;

/** Where a screen leaves less to the last column, the terminal wraps the row: it wastes none of the little room. */
const lastColumnsMin = 20;

/**
 * Prints a table without wrapping, so that cells can be copied, with lines of text below each row.
 * @param cells The head first.
 */
export function printRows(
  cells: readonly (readonly string[])[],
  below: (index: number) => readonly string[],
  ink: (line: string, index: number) => string = (line) => line,
): void {
  const [head = "", ...lines] = table(cells, Number.POSITIVE_INFINITY).split("\n");
  print(head);
  for (const [index, line] of lines.entries()) {
    print(ink(line, index));
    for (const text of below(index)) printText(`  ${text}`, 2);
  }
}

/**
 * A table for people: columns as wide as their widest cell, cells sanitised. Where a row is wider than the
 * screen, the last column is wrapped at words. `inkOf`: the colour of a row's last cell.
 */
export function table(
  rows: readonly (readonly string[])[],
  columns: number = screenColumns(process.stdout),
  inkOf: (row: number) => (text: string) => string = () => (text) => text,
): string {
  const safe = rows.map((row) => row.map((cell) => terminalSafe(cell).replaceAll("\n", " ")));
  const widths = (safe[0] ?? []).map((_, column) =>
    Math.max(...safe.map((row) => columnsOf(row[column] ?? ""))),
  );
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0);
  const left = columns - before;
  const room = left < lastColumnsMin ? Number.POSITIVE_INFINITY : left;
  return safe
    .map((row, index) => {
      const lead = row.slice(0, -1).map((cell, column) => `${padTo(cell, widths[column] ?? 0)}  `);
      const last = wrapText(row.at(-1) ?? "", { columns: room, hang: 0 });
      const parts = last.trimEnd().split("\n").map(inkOf(index));
      return `${lead.join("")}${parts.join(`\n${" ".repeat(before)}`)}`.trimEnd();
    })
    .join("\n");
}
