/**
 * `--help` of every command teaches: what it does, an example that can be copied, what its exit
 * codes mean, on a screen of eighty columns.
 */
import { Command } from "commander";
import { expect, test } from "vitest";
import { addChatCommand } from "../../src/daemon/cli/chat.ts";
import { addClaimCommand } from "../../src/daemon/cli/claim.ts";
import { addCompletionCommand } from "../../src/daemon/cli/completion.ts";
import { addConfigCommand } from "../../src/daemon/cli/config.ts";
import { addDoctorCommand } from "../../src/daemon/cli/doctor.ts";
import { addInitCommand } from "../../src/daemon/cli/init.ts";
import { addInspectCommand } from "../../src/daemon/cli/inspect.ts";
import { addQuarantineCommand } from "../../src/daemon/cli/mend.ts";
import { addOutboxCommand } from "../../src/daemon/cli/outbox.ts";
import { addPairCommand } from "../../src/daemon/cli/pair.ts";
import { addRecordCommand } from "../../src/daemon/cli/record.ts";
import { addReplayCommand } from "../../src/daemon/cli/replay.ts";
import { addRouteCommand } from "../../src/daemon/cli/route.ts";
import { addSessionsCommand } from "../../src/daemon/cli/sessions.ts";
import { addStartCommand } from "../../src/daemon/cli/start.ts";
import { addStatusCommands } from "../../src/daemon/cli/status.ts";
import { addTokenCommand } from "../../src/daemon/cli/token.ts";
import { addWhyCommand } from "../../src/daemon/cli/why.ts";

const program = new Command("earshot");
for (const add of [
  addStartCommand,
  addChatCommand,
  addInitCommand,
  addDoctorCommand,
  addStatusCommands,
  addSessionsCommand,
  addRecordCommand,
  addPairCommand,
  addClaimCommand,
  addInspectCommand,
  addReplayCommand,
  addWhyCommand,
  addOutboxCommand,
  addQuarantineCommand,
  addRouteCommand,
  addTokenCommand,
  addConfigCommand,
  addCompletionCommand,
])
  add(program);

const withSubcommands = (command: Command): Command[] => [
  command,
  ...command.commands.flatMap(withSubcommands),
];
const commands = program.commands.flatMap(withSubcommands);

function helpOf(command: Command): string {
  let text = "";
  command.configureOutput({
    getOutHelpWidth: () => 80,
    writeOut: (part) => {
      text += part;
    },
  });
  command.outputHelp();
  return text;
}

test.each(commands.map((one) => [`${one.parent?.name()} ${one.name()}`, one]))(
  "%s says what it does, shows an example and tells its exit codes",
  (_, command) => {
    const help = helpOf(command);
    expect(command.description()).toMatch(/^[A-Z]/);
    expect(help).toMatch(/^Examples?:\n {2}(# .+\n {2})?.*earshot /mu);
    expect(help).toMatch(/^Exit codes: \d+ /mu);
    for (const line of help.split("\n")) expect([line, line.length > 80]).toEqual([line, false]);
  },
);
