#!/usr/bin/env node
/**
 * `earshot`
 * =========
 * The command line. Each command is a file of its own, and only the file of the called command is
 * loaded, because most commands need a small part of the program. Exit codes are the same
 * everywhere: 0 done, 1 the answer is no, 2 usage error or bad input.
 */
import { Command, CommanderError } from "commander";
import { version } from "../state/package-files.ts";
import { fail } from "./lib/command.ts";
import { beginYoung, holdYoungSpace } from "./lib/young-space.ts";
import { addHelp, type HelpText } from "./output/help-text.ts";

type Add = (program: Command) => void;

/** In the order of `earshot --help`. */
const files: readonly (readonly [names: readonly string[], load: () => Promise<Add>])[] = [
  [
    ["start"],
    async () => {
      // Before the daemon is loaded, which takes most of the room, and before anything is compiled twice.
      if (process.argv[2] === "start") {
        holdYoungSpace();
        beginYoung();
      }
      return (await import("./commands/start.ts")).addStartCommand;
    },
  ],
  [["chat"], async () => (await import("./chat/chat.ts")).addChatCommand],
  [["init"], async () => (await import("./commands/init.ts")).addInitCommand],
  [["doctor"], async () => (await import("./commands/doctor.ts")).addDoctorCommand],
  [["status", "channels"], async () => (await import("./commands/status.ts")).addStatusCommands],
  [["needs"], async () => (await import("./commands/needs/needs.ts")).addNeedsCommand],
  [["sessions"], async () => (await import("./commands/sessions.ts")).addSessionsCommand],
  [["inspect"], async () => (await import("./commands/inspect.ts")).addInspectCommand],
  [["replay"], async () => (await import("./commands/replay.ts")).addReplayCommand],
  [["eval"], async () => (await import("./commands/quality/eval.ts")).addEvalCommand],
  [["tune"], async () => (await import("./commands/quality/tune.ts")).addTuneCommand],
  [["record"], async () => (await import("./commands/record.ts")).addRecordCommand],
  [["why"], async () => (await import("./commands/why.ts")).addWhyCommand],
  [["prompt"], async () => (await import("./commands/prompt.ts")).addPromptCommand],
  [["find"], async () => (await import("./commands/search/find.ts")).addFindCommand],
  [["send"], async () => (await import("./commands/unasked/send.ts")).addSendCommand],
  [
    ["stop", "disengage"],
    async () => (await import("./commands/unasked/room-actions.ts")).addRoomActionCommands,
  ],
  [["schedule"], async () => (await import("./commands/unasked/schedule.ts")).addScheduleCommand],
  [["outbox"], async () => (await import("./commands/outbox.ts")).addOutboxCommand],
  [["quarantine"], async () => (await import("./commands/retry.ts")).addQuarantineCommand],
  [["pair"], async () => (await import("./commands/pair.ts")).addPairCommand],
  [["claim"], async () => (await import("./commands/claim.ts")).addClaimCommand],
  [["route"], async () => (await import("./commands/route.ts")).addRouteCommand],
  [["token"], async () => (await import("./commands/token.ts")).addTokenCommand],
  [["config"], async () => (await import("./commands/config.ts")).addConfigCommand],
  [["migrate"], async () => (await import("./commands/move/migrate.ts")).addMigrateCommand],
  [["completion"], async () => (await import("./commands/completion.ts")).addCompletionCommand],
];

const about =
  "The engagement runtime for chat agents. It reads every message in your rooms, decides " +
  "whether the agent engages or observes, and runs each turn to its end.";
const help: HelpText = {
  examples: [
    ["earshot start", "run the daemon and print the address of its pages"],
    ["earshot chat", "talk to the agent in this terminal"],
    ["earshot replay examples/rooms/lunch.jsonl", "replay an example room on a simulated clock"],
    ["earshot inspect", "watch decisions live"],
    ["earshot why <message-id>", "explain one decision, rule by rule"],
  ],
  exits:
    "0 done; 1 the answer is no, or it failed; 2 usage error or invalid input; 130 ended with " +
    "Ctrl-C. Each command explains its own in `earshot <command> --help`.",
};

/** The program with the requested command, or with all of them (help, unknown commands). */
async function createProgram(asked: string | undefined): Promise<Command> {
  const program = addHelp(new Command("earshot"), help)
    .description(about)
    .version(version, "-V, --version")
    .showSuggestionAfterError()
    .exitOverride();
  if (asked === "--version" || asked === "-V") return program;
  const named = files.filter(([names]) => asked !== undefined && names.includes(asked));
  const needed = named.length === 0 || asked === "completion" ? files : named;
  for (const [, load] of needed) (await load())(program);
  return program;
}

/** Commander prints the problem itself; only the exit code is set here. */
function endUse(error: CommanderError): void {
  process.exitCode = error.exitCode === 0 ? 0 : 2;
}

/**
 * A closed pipe (`earshot inspect | head`) ends the process without an error. Node.js ignores
 * SIGPIPE, so nothing else would end a command that follows events. A daemon has printed its address
 * and continues.
 */
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") return fail(error);
  if (process.argv[2] !== "start") process.exit();
});

try {
  const program = await createProgram(process.argv[2]);
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) endUse(error);
  else fail(error);
}
