/**
 * `earshot replay`
 * ================
 * Runs a scenario or a recording on a simulated clock and prints what happened: a table for people,
 * JSON Lines for programs (docs/scenarios.md). No network, no disk, no agent but the script. Every
 * line of the file is checked before the first one runs.
 */
import { createReadStream } from "node:fs";
import { text as readAll } from "node:stream/consumers";
import { type Command, InvalidArgumentError } from "commander";
import JSON5 from "json5";
import pico from "picocolors";
import { openScenario, spool } from "../../adapters/scenario-file.ts";
import { EarshotError, type ErrorCode } from "../../domain/errors.ts";
import { simulateScenario } from "../simulate.ts";
import { type Lesson, teach } from "./help.ts";
import { Output, progressOf } from "./replay-output.ts";
import { ReplayTable } from "./replay-table.ts";
import { safeJson } from "./safe-json.ts";
import { action, fail } from "./shared.ts";
import { screenColumns } from "./wrap.ts";

interface ReplayOptions {
  readonly config?: string;
  readonly json?: true;
  readonly prompts?: true;
  readonly seed: number;
  readonly workers: number;
}

const workersCountMax = 64;
const seedMax = 2 ** 32 - 1;

const lesson: Lesson = {
  about:
    "Nothing is sent, stored or started: the clock, the platforms and the agents are simulated " +
    "(docs/scenarios.md). The same seed gives the same output, byte for byte, with any number of " +
    "workers. Every line of the file is checked before the first one runs.",
  examples: [
    ["earshot replay examples/rooms/lunch.jsonl", "a table, and what it comes to"],
    [
      "earshot replay room.jsonl --config ~/.earshot/earshot.json5",
      "what would my rules have decided?",
    ],
    `earshot replay room.jsonl --json | jq 'select(.decision == "engage")'`,
    "generate-room | earshot replay - --prompts",
  ],
  exits: "0 played, 1 failed, 2 a line or the config is wrong, with its place; nothing was run.",
};

/** Registers the command. */
export function addReplayCommand(program: Command): void {
  teach(program.command("replay"), lesson)
    .description("Run a scenario or a recording and show every decision")
    .argument("<file>", "scenario in JSON Lines; - reads standard input")
    .option("--config <file>", "config to run it under; the scenario's header goes over it")
    .option("--json", "print JSON Lines")
    .option("--prompts", "print what the agent was shown")
    .option("--seed <n>", "seed of ids and chance", wholeNumber(seedMax), 1)
    .option("--workers <n>", "worker threads; 0 runs in-process", wholeNumber(workersCountMax), 0)
    .action(action(replay));
}

function wholeNumber(most: number): (given: string) => number {
  return (given) => {
    const value = Number(given);
    if (/^\d+$/.test(given) && value <= most) return value;
    throw new InvalidArgumentError(`Expected a whole number from 0 to ${most}.`);
  };
}

async function replay(file: string, options: ReplayOptions): Promise<void> {
  if (file !== "-") return play(file, file, options);
  const spooled = await spool(process.stdin);
  try {
    await play(spooled.path, "-", options);
  } finally {
    spooled.remove();
  }
}

/** `source`: the file as errors name it. */
async function play(path: string, source: string, options: ReplayOptions): Promise<void> {
  const screen = { colour: pico.isColorSupported, columns: screenColumns(process.stdout) };
  const table = options.json ? null : new ReplayTable(screen);
  const scenario = openScenario(path, { source, onLine: (line) => table?.measure(line) });
  const config = options.config === undefined ? {} : await readConfig(options.config);
  const output = new Output(process.stdout);
  const progress = progressOf(scenario.count, process.stderr, process.stdout);
  const run = simulateScenario(scenario, {
    config,
    seed: options.seed,
    workers: options.workers,
    prompts: options.prompts === true,
    onInput: (line) => table?.hear(line),
    onLine(line) {
      const row = table === null ? safeJson(line) : table.row(line);
      if (row !== null) output.add(row);
    },
    async onProgress(done) {
      await output.flushFull();
      progress.show(done);
    },
  });
  await finished(run);
  progress.end();
  if (table !== null) output.add(`\n${table.summary()}`);
  await output.flush();
}

/** A run that waits for what never comes would end the process as if all was well. */
async function finished(run: Promise<unknown>): Promise<void> {
  const unfinished = () =>
    fail(new EarshotError("EAR_ASSERT", "Cannot finish the replay as nothing is left to wait for"));
  process.once("beforeExit", unfinished);
  try {
    await run;
  } finally {
    process.off("beforeExit", unfinished);
  }
}

async function read(path: string, what: string, code: ErrorCode): Promise<string> {
  try {
    return await readAll(path === "-" ? process.stdin : createReadStream(path));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new EarshotError(code, `Cannot read the ${what} ${path}: ${reason}`, { cause });
  }
}

/** A config as its file says it. Secrets stay unread: nothing in a replay uses one. */
async function readConfig(path: string): Promise<unknown> {
  const text = await read(path, "config", "EAR_CONFIG_SYNTAX");
  try {
    return JSON5.parse<unknown>(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new EarshotError("EAR_CONFIG_SYNTAX", `Cannot read ${path}: ${reason}`, { cause });
  }
}
