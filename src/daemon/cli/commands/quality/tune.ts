/**
 * `earshot tune`
 * ==============
 * Looks for a config that decides better on labelled rooms (docs/quality.md). It changes a config
 * file only with `--write`, which keeps a copy of it.
 */
import { type Command, InvalidArgumentError } from "commander";
import pico from "picocolors";
import { type EarshotConfig, pathText } from "../../../../domain/config/index.ts";
import { EarshotError } from "../../../../domain/errors.ts";
import { type Measure, measures, type Target } from "../../../../domain/quality/folds.ts";
import { changeConfigFile } from "../../../config-edit/file.ts";
import { configWith, textWith } from "../../../quality/apply-edits.ts";
import { scoreLabelled } from "../../../quality/score-labelled.ts";
import { decisionsToTune, type Tried, type Tuned, tune } from "../../../quality/tune.ts";
import type { ScoreDifference } from "../../../quality/worker.ts";
import { action, print, printJson, printRefusal } from "../../lib/command.ts";
import { addHelp, type HelpText } from "../../output/help-text.ts";
import { progressOf } from "../../output/replay-output.ts";
import { screenColumns } from "../../output/wrap.ts";
import { configOf, readAll } from "./inputs.ts";
import { notReached, tuneTable } from "./tune-table.ts";

interface TuneOptions {
  readonly want: Target;
  readonly config?: string;
  readonly seed: number;
  readonly json?: true;
  readonly write?: true;
}

const help: HelpText = {
  about:
    "Tries other settings for stickiness (on or off, mode, window), other aliases of the agent " +
    "that occur in the rooms, and the judge on or off where the rooms have its recorded " +
    "answers; no model is called. Prints the best few next to your config: precision, recall " +
    "and F1 as mean and spread over five folds, split by room, or by time if there are fewer " +
    "than five rooms. precision=0.9 looks for the highest recall at a precision of at least " +
    "0.9, recall=0.9 for the highest precision, f1 for the highest F1. Files are as in `earshot " +
    "eval`. Nothing is written without --write.",
  examples: [
    ["earshot tune rooms.jsonl --want f1", "what suits your rooms best?"],
    [
      "earshot tune rooms.jsonl --config earshot.json5 --want precision=0.9",
      "at most one interruption in ten answers",
    ],
    [
      "earshot tune rooms.jsonl --config earshot.json5 --want f1 --write",
      "change the file and keep a copy of the old one",
    ],
  ],
  exits:
    "0 done; 1 failed, or nothing reaches the target (the closest result is printed); 2 a line " +
    "or a config is invalid (the error says where).",
};

/** Registers the command. */
export function addTuneCommand(program: Command): void {
  addHelp(program.command("tune"), help)
    .description("Find settings that decide better on labelled rooms")
    .argument("<files...>", "labelled rooms in JSON Lines, optionally gzipped; - reads stdin")
    .requiredOption("--want <target>", "precision=0.9, recall=0.9, f1 or f1=0.9", targetOf)
    .option("--config <file>", "config to start from (default: the built-in defaults)")
    .option("--seed <n>", "seed of the folds; the same seed gives the same result", seedOf, 1)
    .option("--json", "print JSON")
    .option("--write", "change the config file and keep a copy of the old one")
    .action(action(run));
}

function targetOf(text: string): Target {
  const [name = "", share, ...rest] = text.split("=");
  const measure = measures.find((one) => one === name.toLowerCase());
  const atLeast = share === undefined ? null : Number(share);
  const isShare = atLeast === null || (share !== "" && atLeast >= 0 && atLeast <= 1);
  if (
    measure === undefined ||
    !isShare ||
    rest.length > 0 ||
    (share === undefined && name !== "f1")
  )
    throw new InvalidArgumentError("Expected precision=0.9, recall=0.9, f1 or f1=0.9 (0 to 1).");
  return { measure, atLeast };
}

function seedOf(text: string): number {
  const seed = Number(text);
  if (!/^\d+$/u.test(text) || seed >= 2 ** 32)
    throw new InvalidArgumentError("Expected a whole number from 0 to 4294967295.");
  return seed;
}

async function run(files: readonly string[], options: TuneOptions): Promise<void> {
  const { want: target, seed } = options;
  const file = options.write === undefined ? null : fileToWrite(options.config);
  const config = await configOf(options.config);
  const rooms = await readAll(files);
  const total = decisionsToTune(rooms, config);
  const progress = progressOf(total, process.stderr, null, "decisions");
  let done = 0;
  const tuned = await tune(rooms, config, {
    target,
    seed,
    onProgress(decisions) {
      done = Math.min(total, done + decisions);
      progress.show(done);
    },
  });
  progress.end();
  const [best] = tuned.best;
  if (!tuned.isReached) return printRefusal(notReached(target, best));
  const differences = await differencesOf(tuned, config);
  if (options.json) printJson(jsonOf(tuned, differences, seed));
  else {
    const screen = { colour: pico.isColorSupported, columns: screenColumns(process.stdout) };
    print(tuneTable(tuned, differences, screen));
  }
  if (file !== null && best.edits.length > 0) {
    const kept = await changeConfigFile(file, (text) => textWith(text, best.edits));
    process.stderr.write(`earshot: ${file} is changed; the old one is kept as ${kept}\n`);
  }
}

function fileToWrite(config: string | undefined): string {
  if (config !== undefined && config !== "-") return config;
  throw new EarshotError(
    "EAR_USAGE",
    "Cannot write: no config file is given. Add --config FILE, or leave out --write",
  );
}

async function differencesOf(
  { best: [{ edits }], changedRooms }: Tuned,
  config: EarshotConfig,
): Promise<readonly ScoreDifference[]> {
  if (edits.length === 0) return [];
  const { rooms } = await scoreLabelled(changedRooms, config, {
    against: configWith(config, edits),
  });
  return rooms
    .flatMap((room) => room.differences)
    .filter(({ before, after }) => before.decision !== after.decision);
}

function jsonOf(
  { target, folds, given, best, heldOut, judge }: Tuned,
  differences: readonly ScoreDifference[],
  seed: number,
): unknown {
  const triedOf = ({ measured, edits }: Tried) => ({
    ...measured,
    changes: edits.map(({ path, before, after }) => ({ path: pathText(path), before, after })),
  });
  const want: Partial<Record<Measure, number | null>> = { [target.measure]: target.atLeast };
  return {
    want,
    seed,
    folds,
    config: triedOf(given),
    best: best.map(triedOf),
    heldOut,
    judge,
    differences,
  };
}
