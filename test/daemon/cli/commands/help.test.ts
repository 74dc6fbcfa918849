/**
 * `--help` of every command says: what it does, an example that can be copied, what its exit
 * codes mean, on a screen of eighty columns.
 */
import type { Command } from "commander";
import { expect, test } from "vitest";
import { createProgram } from "../../../../src/daemon/cli/program.ts";

const program = await createProgram([]);

const withSubcommands = (command: Command): Command[] => [
  command,
  ...command.commands.flatMap(withSubcommands),
];
const commands = withSubcommands(program);

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

test.each(commands.map((one) => [[one.parent?.name() ?? "", one.name()].join(" ").trim(), one]))(
  "%s says what it does, shows an example and tells its exit codes",
  (_, command) => {
    const help = helpOf(command);
    expect(command.description()).toMatch(/^[A-Z]/);
    expect(help).toMatch(/^Examples?:\n {2}(# .+\n {2})?.*earshot /mu);
    expect(help).toMatch(/^Exit codes: \d+ /mu);
    for (const line of help.split("\n")) expect([line, line.length > 80]).toEqual([line, false]);
  },
);
