/**
 * The program `earshot`, as Commander has it: every command is a file of its own, and only the file of the called
 * command is loaded, because most commands need a small part of the program. A mistake on the command line is named
 * as what it is: an unknown word before the default command takes it, an unknown option before one that is missing.
 */
import { Command } from "commander";
import { version } from "../state/package-files.ts";
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

/** What a command or an option does is wrapped beside its name down to this width. */
const helpColumnsMin = 20;

/** The program for these words, with the requested command, or with all of them (help, unknown commands). */
export async function createProgram(words: readonly string[]): Promise<Command> {
  const [asked] = words;
  const program = addHelp(new Command("earshot"), help)
    .description(about)
    .version(version, "-V, --version")
    .showSuggestionAfterError()
    .configureHelp({ minWidthToWrap: helpColumnsMin })
    .exitOverride();
  if (asked === "--version" || asked === "-V") return program;
  const named = files.filter(([names]) => asked !== undefined && names.includes(asked));
  const needed = named.length === 0 || asked === "completion" ? files : named;
  for (const [, load] of needed) (await load())(program);
  requireLast(program);
  return program;
}

/** Commander names an option that is missing before one that it does not know, and that may be the same, mistyped. */
function requireLast(command: Command): void {
  for (const option of command.options.filter(({ mandatory }) => mandatory)) {
    option.makeOptionMandatory(false);
    command.hook("preAction", () => {
      if (command.getOptionValue(option.attributeName()) === undefined)
        command.error(`error: required option '${option.flags}' not specified`);
    });
  }
  command.commands.forEach(requireLast);
}

/**
 * Commander takes an unknown word for an argument of the group's default command, and prints a help instead where
 * `help` or `--help` stands beside it.
 * @throws CommanderError when the words name a command that is not there; it has been said, with what may be meant.
 */
export function refuseUnknown(program: Command, words: readonly string[]): void {
  let group = program;
  for (const word of words) {
    if (word === "help") continue;
    if (word.startsWith("-") || group.commands.length === 0) return;
    const known = group.commands.find((command) => command.name() === word);
    if (known === undefined) sayUnknown(group, word);
    else group = known;
  }
}

/** Says what Commander says of a word that nothing can take, and throws what it throws. */
function sayUnknown(group: Command, word: string): void {
  const names = new Command(group.name()).copyInheritedSettings(group);
  for (const command of group.commands) names.addCommand(new Command(command.name()));
  names.parse([word], { from: "user" });
}
