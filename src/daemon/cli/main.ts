#!/usr/bin/env node
/**
 * `earshot`
 * =========
 * The command line: every command is a file beside this one. Exit codes are the same everywhere: 0 done,
 * 1 the answer is no, 2 bad use or bad input.
 */
import { Command, CommanderError } from "commander";
import { version } from "../version.ts";
import { addChatCommand } from "./chat.ts";
import { addCompletionCommand } from "./completion.ts";
import { addConfigCommand } from "./config.ts";
import { addDoctorCommand } from "./doctor.ts";
import { addInitCommand } from "./init.ts";
import { addInspectCommand } from "./inspect.ts";
import { addOutboxCommand } from "./outbox.ts";
import { addReplayCommand } from "./replay.ts";
import { addRouteCommand } from "./route.ts";
import { fail } from "./shared.ts";
import { addStartCommand } from "./start.ts";
import { addStatusCommands } from "./status.ts";
import { addWhyCommand } from "./why.ts";

const about = `The engagement runtime for chat agents: decides, for every message within earshot, whether the agent
engages or observes, and runs the turn to the end.`;
const examples = `
Examples:
  earshot start                            run the daemon; it prints the page's address
  earshot chat                             talk to the agent right here
  earshot replay examples/rooms/lunch.jsonl
  earshot inspect                          watch what is decided, live`;
const exits = "\nExit codes: 0 done, 1 the answer is no, 2 bad use or bad input.";

function createProgram(): Command {
  const program = new Command("earshot")
    .description(about)
    .version(version, "-V, --version")
    .showSuggestionAfterError()
    .addHelpText("after", `${examples}\n${exits}`)
    .configureHelp({ showGlobalOptions: true })
    .exitOverride();
  for (const add of [
    addStartCommand,
    addChatCommand,
    addInitCommand,
    addDoctorCommand,
    addStatusCommands,
    addInspectCommand,
    addReplayCommand,
    addWhyCommand,
    addOutboxCommand,
    addRouteCommand,
    addConfigCommand,
    addCompletionCommand,
  ])
    add(program);
  return program;
}

/** Commander says what is wrong itself; what is left is the exit code. */
function endUse(error: CommanderError): void {
  process.exitCode = error.exitCode === 0 ? 0 : 2;
}

/** A reader that went away (`earshot inspect | head`) is the end, not an error. */
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") fail(error);
  process.exitCode ??= 0;
  process.kill(process.pid, "SIGPIPE");
});

try {
  await createProgram().parseAsync();
} catch (error) {
  if (error instanceof CommanderError) endUse(error);
  else fail(error);
}
