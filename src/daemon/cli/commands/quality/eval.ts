/**
 * `earshot eval`
 * ==============
 * How many decisions are right on labelled rooms (docs/quality.md). Each agent of a room is played
 * through the conversation machine; no agent is called and nothing is sent.
 */
import type { Command } from "commander";
import { Option } from "commander";
import pico from "picocolors";
import { type Scores, scoreLabelled } from "../../../quality/score-labelled.ts";
import { linesToDecide } from "../../../quality/thread-pool.ts";
import { action, print, printJson } from "../../lib/command.ts";
import { addHelp, type HelpText } from "../../output/help-text.ts";
import { progressOf } from "../../output/replay-output.ts";
import { screenColumns } from "../../output/wrap.ts";
import { evalTable } from "./eval-table.ts";
import { configOf, readAll } from "./inputs.ts";

interface EvalOptions {
  readonly config?: string;
  readonly against?: string;
  readonly json?: true;
  readonly by: "rule" | "room";
}

const help: HelpText = {
  about:
    "A labelled room says for each line whom it is meant for. Every agent of the room is played " +
    "under its name, and its decisions are compared: engaging on a meant line is right, on another " +
    "line it is an interruption, and observing a meant line is a miss. Precision is the share of " +
    "engaged lines that were meant, recall the share of meant lines that were engaged. Files are " +
    "JSON Lines, gzip or not; their form is in docs/quality.md.",
  examples: [
    ["earshot eval rooms.jsonl.gz", "how often are the built-in rules right?"],
    ["earshot eval rooms.jsonl --config earshot.json5 --by room", "where are mine wrong?"],
    [
      "earshot eval rooms.jsonl --config earshot.json5 --against new.json5",
      "both, and every decision that differs",
    ],
    ["earshot eval - --json < rooms.jsonl | jq .precision", "for a script"],
  ],
  exits: "0 done, 1 failed, 2 a line or a config is invalid (its place is printed).",
};

/** Registers the command. */
export function addEvalCommand(program: Command): void {
  addHelp(program.command("eval"), help)
    .description("Measure on labelled rooms how many decisions are right")
    .argument("<files...>", "labelled rooms in JSON Lines, gzip or not; - reads standard input")
    .option("--config <file>", "config to decide under; without it the built-in defaults")
    .option("--against <file>", "compare with this config")
    .addOption(
      new Option("--by <what>", "rows of the table").choices(["rule", "room"]).default("rule"),
    )
    .option("--json", "print one JSON object")
    .action(action(evaluate));
}

async function evaluate(files: readonly string[], options: EvalOptions): Promise<void> {
  const config = await configOf(options.config);
  const against = options.against === undefined ? undefined : await configOf(options.against);
  const rooms = await readAll(files);
  const total = rooms.reduce((sum, room) => sum + linesToDecide(room), 0);
  const progress = progressOf(total, process.stderr, null, "decisions");
  let done = 0;
  const scores = await scoreLabelled(rooms, config, {
    ...(against === undefined ? {} : { against }),
    onProgress(lines) {
      done += lines;
      progress.show(done);
    },
  });
  progress.end();
  if (options.json) printJson(jsonOf(scores));
  else {
    const screen = { colour: pico.isColorSupported, columns: screenColumns(process.stdout) };
    print(evalTable(scores, options.by, screen));
  }
}

/** Exactly the score; with a comparison both, and what differs. */
function jsonOf({ score, against, rooms }: Scores): unknown {
  if (against === null) return score;
  return { score, against, differences: rooms.flatMap(({ differences }) => differences) };
}
