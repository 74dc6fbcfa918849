/**
 * `earshot migrate`
 * =================
 * Gives the conversations of a state directory to Restate, each with its journal, record, transcript, deadlines and
 * outbox, and what nodes share besides: who may speak, the schedule, how far accounts have read, and files. Under the directory's lock; nothing in it is changed.
 */
import { access } from "node:fs/promises";
import { type Command, Option } from "commander";
import { readConfigSections } from "../../../../adapters/files/config-file.ts";
import {
  type ConversationSource,
  openConversationSource,
} from "../../../../adapters/stores/conversation-rows.ts";
import { lockStateDir } from "../../../../adapters/stores/state-lock.ts";
import { defaultConfig, type EarshotConfig } from "../../../../domain/config/index.ts";
import { EarshotError } from "../../../../domain/errors.ts";
import { terminalSafe } from "../../../../domain/sanitize.ts";
import { configPathOf } from "../../../config/config-source.ts";
import { type Moved, type MovedShared, migrateToRestate } from "../../../engine/migration.ts";
import type { MovedFile } from "../../../engine/moved-files.ts";
import { safeJson } from "../../../events/safe-json.ts";
import { storePathOf } from "../../../state/state-dir.ts";
import {
  action,
  counted,
  type JsonOptions,
  print,
  printJson,
  printRefusal,
  printText,
  stateDirFor,
  withStateDir,
} from "../../lib/command.ts";
import { addHelp, type HelpText } from "../../output/help-text.ts";
import { progressOf } from "../../output/replay-output.ts";

interface MigrateOptions extends JsonOptions {
  readonly to: "restate";
  readonly config?: string;
  readonly dryRun?: true;
}

const help: HelpText = {
  about:
    "Moves the conversations of one daemon to Restate (docs/scaling.md), where any number of daemons " +
    "share them. Stop the daemon first, and start none of the nodes before it is done: on this machine " +
    "the command stands in for the node of the config (engine.host, port and nodes). Every conversation " +
    "is read back, and its hash compared. The command may be ended and run again: it goes on " +
    "with what is missing. A conversation that has rows of its own in Restate is named and left as it " +
    "is. The state directory stays as it is: start no daemon on it any more, as it would answer, too. " +
    "People who were paired, the schedule, cursors of platforms, and files of the web chat and of agents go along.",
  examples: [
    ["earshot migrate --to restate --dry-run", "how many conversations, and how large they are"],
    ["earshot migrate --to restate --config cluster.json5", "with the config of the nodes"],
  ],
  exits:
    "0 every conversation is in Restate, as it was; 1 some are not (each is named), or it failed; " +
    "2 usage error, no journal, a daemon is running, or engine.kind is not restate.",
};

/** Registers the command. */
export function addMigrateCommand(program: Command): void {
  withStateDir(
    addHelp(program.command("migrate"), help)
      .description("Give all conversations to an engine that daemons share")
      .addOption(
        new Option("--to <engine>", "where they go").choices(["restate"]).makeOptionMandatory(),
      )
      .option("--config <file>", "config file with the engine (EARSHOT_CONFIG)")
      .option("--dry-run", "read every conversation, and send none")
      .option("--json", "print a line of JSON for each conversation, and one at the end"),
  ).action(action(migrate));
}

async function migrate(options: MigrateOptions): Promise<void> {
  const stateDir = stateDirFor(options);
  const file = configPathOf(options.config, process.env, stateDir);
  const config =
    file === null ? defaultConfig : await readConfigSections(file, ["store", "engine", "messages"]);
  const isDry = options.dryRun === true;
  if (config.engine.kind !== "restate" && !isDry)
    throw new EarshotError(
      "EAR_USAGE",
      `Cannot migrate: engine.kind is "${config.engine.kind}" in ${file ?? "the defaults"}. Set it to ` +
        "restate, with the addresses of its server (docs/scaling.md)",
    );
  const path = storePathOf(config, stateDir);
  const exists = await access(path).then(
    () => true,
    () => false,
  );
  if (!exists)
    throw new EarshotError(
      "EAR_USAGE",
      `Cannot migrate: there is no journal at ${path}. Name another state directory with --state-dir`,
    );
  const lock = await lockStateDir(stateDir);
  try {
    const source = openConversationSource(path);
    try {
      await (isDry ? measure(source, options) : carry(source, stateDir, config, options));
    } finally {
      source.close();
    }
  } finally {
    await lock.release();
  }
}

/** Says how much there is. */
async function measure(source: ConversationSource, { json }: JsonOptions): Promise<void> {
  const progress = progressOf(source.count, process.stderr, null, "conversations");
  const sum = { conversations: 0, rows: 0, bytes: 0 };
  for (const { rows } of source.conversations()) {
    sum.conversations += 1;
    sum.rows += rows.length;
    sum.bytes += Buffer.byteLength(JSON.stringify(rows));
    progress.show(sum.conversations);
  }
  progress.end();
  if (json) return printJson({ dryRun: true, ...sum });
  const mega = (sum.bytes / 1_000_000).toFixed(1);
  printText(
    `${counted(sum.conversations, "conversation")} with ${counted(sum.rows, "row")}, ${mega} MB as JSON.`,
  );
}

async function carry(
  source: ConversationSource,
  stateDir: string,
  config: Pick<EarshotConfig, "engine" | "messages">,
  { json }: JsonOptions,
): Promise<void> {
  const progress = progressOf(
    source.count,
    process.stderr,
    json ? process.stdout : null,
    "conversations",
  );
  const sum = { filled: 0, same: 0, other: 0, rows: 0 };
  const shared = { filled: 0, same: 0, other: 0, rows: 0 };
  const files = { filled: 0, same: 0, other: 0, bytes: 0 };
  await migrateToRestate(source, stateDir, config, (moved) => {
    if ("file" in moved) {
      files[moved.result] += 1;
      files.bytes += moved.bytes;
    } else {
      const of = "shared" in moved ? shared : sum;
      of[moved.result] += 1;
      of.rows += moved.rows;
    }
    progress.show(sum.filled + sum.same + sum.other);
    if (json) print(safeJson(moved));
    else if (moved.result === "other")
      process.stderr.write(
        `earshot: ${terminalSafe(nameOf(moved))} has rows of its own in Restate and was left as it is\n`,
      );
  }).finally(() => progress.end());
  if (json) print(safeJson({ done: true, ...sum, shared, files }));
  else
    printText(
      `${counted(sum.filled + sum.same, "conversation")} in Restate, each as it was (${sum.filled} sent ` +
        `now, ${sum.same} there before), ${counted(shared.rows, "row")} that nodes share, and ` +
        `${counted(files.filled + files.same, "file")}.`,
    );
  if (sum.other > 0)
    printRefusal(
      `${counted(sum.other, "conversation")} could not be moved: nodes have stepped them already`,
    );
  if (shared.other > 0)
    printRefusal("what nodes share could not be moved as a whole: they have changed it already");
  if (files.other > 0)
    printRefusal(
      `${counted(files.other, "file")} could not be moved: nodes have others of that id`,
    );
}

const sharedNames = {
  access: "who may speak",
  schedules: "the schedule",
  cursors: "how far an account has read",
} as const;

/** Of what was moved, for people. */
function nameOf(moved: Moved | MovedShared | MovedFile): string {
  if ("key" in moved) return moved.key;
  if ("file" in moved) return `file ${moved.file}`;
  const { shared, account } = moved;
  return account === null ? sharedNames[shared] : `${sharedNames[shared]} (${account})`;
}
