/**
 * `earshot replay`
 * ================
 * Runs a scenario or a recording on a simulated clock and prints the result: a table for people,
 * JSON Lines for programs (docs/guide/scenarios.md). No network, no disk, only scripted agents.
 * Every line of the file is checked before the first one runs.
 */
import { type Command, InvalidArgumentError, Option } from "commander";
import pico from "picocolors";
import { openScenario, spool } from "../../../adapters/files/scenario-file.ts";
import { scenarioConfig } from "../../../domain/config/index.ts";
import { EarshotError } from "../../../domain/errors.ts";
import type { ScenarioLine } from "../../../domain/scenario/scenario.ts";
import type { StreamLine } from "../../../domain/stream.ts";
import { safeJson } from "../../events/safe-json.ts";
import { spareMemory } from "../../replay/gc-tuning.ts";
import { answeredIn } from "../../replay/recorded-judges.ts";
import { longLines, scenarioUnder, simulateScenario } from "../../replay/simulate.ts";
import { action, fail } from "../lib/command.ts";
import { readConfigFile } from "../lib/read-config.ts";
import { addHelp, type HelpText } from "../output/help-text.ts";
import { Output, progressOf } from "../output/replay-output.ts";
import { clockText, ReplayTable } from "../output/replay-table.ts";
import { screenColumns } from "../output/wrap.ts";
import { Comparison, countsOf, labelledText, rowOf } from "./replay-against.ts";

interface ReplayOptions {
  readonly config?: string;
  readonly against?: string;
  readonly json?: true;
  readonly prompts?: true;
  readonly seed: number;
}

const seedMax = 2 ** 32 - 1;

const help: HelpText = {
  about:
    "Nothing is sent, stored or started: clock, platforms and agents are simulated " +
    "(docs/guide/scenarios.md). The same seed gives the same output, byte for byte. The whole " +
    "file is checked before its first line runs.",
  examples: [
    ["earshot replay examples/rooms/lunch.jsonl", "print a table and a summary"],
    [
      "earshot replay room.jsonl --config ~/.earshot/earshot.json5",
      "what would your rules have decided?",
    ],
    [
      "earshot replay yesterday.jsonl --against new.json5",
      "what would these rules change? Exits with 1 if anything differs",
    ],
    `earshot replay room.jsonl --json | jq 'select(.decision == "engage")'`,
    "generate-room | earshot replay - --prompts",
  ],
  exits:
    "0 done; 1 failed, or --against found differences; 2 a line or a config is invalid (the " +
    "error says where; nothing ran).",
};

/** Registers the command. */
export function addReplayCommand(program: Command): void {
  addHelp(program.command("replay"), help)
    .description("Replay a scenario or a recording and show every decision")
    .argument("<file>", "scenario in JSON Lines; - reads stdin")
    .option("--config <file>", "config to use; the header of the scenario overrides it")
    .option("--against <file>", "compare with this config; neither side uses the header's")
    .option("--json", "print JSON Lines")
    .option("--prompts", "print each prompt")
    .option("--seed <n>", "seed for ids and random numbers", wholeNumber(seedMax), 1)
    .addOption(removed("--threads <n>"))
    .addOption(removed("--workers <n>"))
    .action(action(replay));
}

function wholeNumber(most: number): (given: string) => number {
  return (given) => {
    const value = Number(given);
    if (/^\d+$/.test(given) && value <= most) return value;
    throw new InvalidArgumentError(`Expected a whole number from 0 to ${most}.`);
  };
}

/** A removed option is refused instead of ignored. */
const removed = (flags: string) =>
  new Option(flags).hideHelp().argParser(() => {
    throw new InvalidArgumentError("A replay runs on one thread. Remove the option.");
  });

async function replay(file: string, options: ReplayOptions): Promise<void> {
  const run = options.against === undefined ? play : compare;
  if (file !== "-") return run(file, file, options);
  const spooled = await spool(process.stdin);
  try {
    await run(spooled.path, "-", options);
  } finally {
    spooled.remove();
  }
}

/** `source`: the file's name in errors. */
async function play(path: string, source: string, options: ReplayOptions): Promise<void> {
  const screen = { colour: pico.isColorSupported, columns: screenColumns(process.stdout) };
  const table = options.json ? null : new ReplayTable(screen);
  const scenario = openScenario(path, { source, onLine: (line) => table?.measure(line) });
  if (scenario.count > longLines) spareMemory();
  const config = options.config === undefined ? {} : await readConfigFile(options.config);
  const output = new Output(process.stdout);
  const progress = progressOf(scenario.count, process.stderr, process.stdout);
  const run = simulateScenario(scenario, {
    config,
    seed: options.seed,
    prompts: options.prompts === true,
    onInput: (line) => table?.noteMessage(line),
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

/** Runs the scenario under two configs and prints the differences. */
async function compare(path: string, source: string, options: ReplayOptions): Promise<void> {
  const comparison = new Comparison();
  const onLine = (line: ScenarioLine) => comparison.note(line);
  const scenario = openScenario(path, { source, onLine });
  if (scenario.count > longLines) spareMemory();
  const sides = [options.config, options.against].map((file) =>
    file === undefined ? Promise.resolve(undefined) : readConfigFile(file),
  );
  const [was, now] = await Promise.all(sides);
  for (const [file, config] of [
    [options.config, was],
    [options.against, now],
  ] as const)
    if (config !== undefined) scenarioConfig({}, config, { source: file ?? "the config" });
  const answered = (config: unknown) =>
    answeredIn(scenarioUnder(scenario, config === undefined ? {} : { instead: config }));
  comparison.judged({ before: answered(was), after: answered(now) });
  const progress = progressOf(scenario.count * 2, process.stderr, process.stdout);
  const side = (config: unknown, from: number, onOutput: (line: StreamLine) => void) => {
    const under = config === undefined ? {} : { instead: config };
    const onProgress = (done: number) => progress.show(from + done);
    return finished(
      simulateScenario(scenario, { ...under, seed: options.seed, onLine: onOutput, onProgress }),
    );
  };
  await side(was, 0, (line) => comparison.before(line));
  await side(now, scenario.count, (line) => comparison.after(line));
  progress.end();
  const found = comparison.end();
  const output = new Output(process.stdout);
  for (const item of found) {
    output.add(options.json ? safeJson(item) : rowOf(item, clockText(item.t)));
    await output.flushFull();
  }
  if (!options.json)
    output.add(`${found.length > 0 ? "\n" : ""}${countsOf(found, comparison.decisions)}`);
  const { labelled } = comparison;
  if (labelled !== null)
    output.add(options.json ? safeJson({ what: "labels", ...labelled }) : labelledText(labelled));
  await output.flush();
  if (found.length > 0) process.exitCode = 1;
}

/** Reports a run that never finishes, which would otherwise end the process with code 0. */
async function finished(run: Promise<unknown>): Promise<void> {
  const unfinished = () =>
    fail(
      new EarshotError(
        "EAR_ASSERT",
        "Cannot finish the replay: it waits, but nothing is scheduled",
      ),
    );
  process.once("beforeExit", unfinished);
  try {
    await run;
  } finally {
    process.off("beforeExit", unfinished);
  }
}
