/**
 * `--help` of every command says: what it does, an example that can be copied, what its exit
 * codes mean, on a screen of eighty columns.
 */
import { Command } from "commander";
import { expect, test } from "vitest";
import { addChatCommand } from "../../../../src/daemon/cli/chat/chat.ts";
import { addClaimCommand } from "../../../../src/daemon/cli/commands/claim.ts";
import { addCompletionCommand } from "../../../../src/daemon/cli/commands/completion.ts";
import { addConfigCommand } from "../../../../src/daemon/cli/commands/config.ts";
import { addDoctorCommand } from "../../../../src/daemon/cli/commands/doctor.ts";
import { addInitCommand } from "../../../../src/daemon/cli/commands/init.ts";
import { addInspectCommand } from "../../../../src/daemon/cli/commands/inspect.ts";
import { addMigrateCommand } from "../../../../src/daemon/cli/commands/move/migrate.ts";
import { addOutboxCommand } from "../../../../src/daemon/cli/commands/outbox.ts";
import { addPairCommand } from "../../../../src/daemon/cli/commands/pair.ts";
import { addRecordCommand } from "../../../../src/daemon/cli/commands/record.ts";
import { addReplayCommand } from "../../../../src/daemon/cli/commands/replay.ts";
import { addQuarantineCommand } from "../../../../src/daemon/cli/commands/retry.ts";
import { addRouteCommand } from "../../../../src/daemon/cli/commands/route.ts";
import { addFindCommand } from "../../../../src/daemon/cli/commands/search/find.ts";
import { addSessionsCommand } from "../../../../src/daemon/cli/commands/sessions.ts";
import { addStartCommand } from "../../../../src/daemon/cli/commands/start.ts";
import { addStatusCommands } from "../../../../src/daemon/cli/commands/status.ts";
import { addTokenCommand } from "../../../../src/daemon/cli/commands/token.ts";
import { addRoomActionCommands } from "../../../../src/daemon/cli/commands/unasked/room-actions.ts";
import { addWhyCommand } from "../../../../src/daemon/cli/commands/why.ts";

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
  addFindCommand,
  addRoomActionCommands,
  addOutboxCommand,
  addQuarantineCommand,
  addRouteCommand,
  addTokenCommand,
  addConfigCommand,
  addMigrateCommand,
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
