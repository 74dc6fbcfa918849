/** The commands of this folder as a program of their own, for tests that start a process. */
import { Command } from "commander";
import { addRecordCommand } from "../../../src/daemon/cli/commands/record.ts";
import { addReplayCommand } from "../../../src/daemon/cli/commands/replay.ts";
import { addWhyCommand } from "../../../src/daemon/cli/commands/why.ts";

const program = new Command("earshot").exitOverride();
addReplayCommand(program);
addRecordCommand(program);
addWhyCommand(program);
try {
  await program.parseAsync();
} catch {
  process.exitCode = 2;
}
