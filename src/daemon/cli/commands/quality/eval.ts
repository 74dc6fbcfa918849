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
    "A labelled room says for each message which agent it is meant for. Each agent of the room " +
    "is simulated under its name and its decisions are compared with the labels: engaging on a " +
    "message meant for it is right, engaging on any other is an interruption, and observing a " +
    "message meant for it is a miss. Precision is the share of engaged messages that were meant " +
    "for the agent, recall the share of meant messages that it engaged on. Files are JSON " +
    "Lines, optionally gzipped; docs/quality.md has the format.",
  examples: [
    ["earshot eval rooms.jsonl.gz", "how often are the built-in rules right?"],
    ["earshot eval rooms.jsonl --config earshot.json5 --by room", "where are your rules wrong?"],
    [
      "earshot eval rooms.jsonl --config earshot.json5 --against new.json5",
      "compare two configs, decision by decision",
    ],
    ["earshot eval - --json < rooms.jsonl | jq .precision", "in a script"],
  ],
  exits: "0 done; 1 failed; 2 a line or a config is invalid (the error says where).",
};

/** Registers the command. */
export function addEvalCommand(program: Command): void {
  addHelp(program.command("eval"), help)
    .description("Measure the decisions on labelled rooms")
    .argument("<files...>", "labelled rooms in JSON Lines, optionally gzipped; - reads stdin")
    .option("--config <file>", "config to use (default: the built-in defaults)")
    .option("--against <file>", "compare with this config")
    .addOption(
      new Option("--by <what>", "one row per rule or per room")
        .choices(["rule", "room"])
        .default("rule"),
    )
    .option("--json", "print JSON")
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
