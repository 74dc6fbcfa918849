/**
 * Commands as a person calls them, run in this process: what they print and how they end. No colours,
 * and no terminal behind the output.
 */
import { Command, CommanderError } from "commander";
import { addConfigCommand } from "../../../src/daemon/cli/commands/config.ts";
import { addDoctorCommand } from "../../../src/daemon/cli/commands/doctor.ts";
import { addInitCommand } from "../../../src/daemon/cli/commands/init.ts";
import { addInspectCommand } from "../../../src/daemon/cli/commands/inspect.ts";
import { addNeedsCommand } from "../../../src/daemon/cli/commands/needs/needs.ts";
import { addOutboxCommand } from "../../../src/daemon/cli/commands/outbox.ts";
import { addRecordCommand } from "../../../src/daemon/cli/commands/record.ts";
import { addReplayCommand } from "../../../src/daemon/cli/commands/replay.ts";
import { addRouteCommand } from "../../../src/daemon/cli/commands/route.ts";
import { addSessionsCommand } from "../../../src/daemon/cli/commands/sessions.ts";
import { addStatusCommands } from "../../../src/daemon/cli/commands/status.ts";
import { addRoomActionCommands } from "../../../src/daemon/cli/commands/unasked/room-actions.ts";
import { addWhyCommand } from "../../../src/daemon/cli/commands/why.ts";

export interface Printed {
  readonly out: string;
  readonly err: string;
  readonly code: number;
}

/** Runs one command line with these variables besides those of this process. */
export async function earshot(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Printed> {
  const program = new Command("earshot").exitOverride();
  for (const add of [
    addConfigCommand,
    addDoctorCommand,
    addInitCommand,
    addInspectCommand,
    addNeedsCommand,
    addOutboxCommand,
    addRecordCommand,
    addReplayCommand,
    addRoomActionCommands,
    addRouteCommand,
    addSessionsCommand,
    addStatusCommands,
    addWhyCommand,
  ])
    add(program);
  const wrote = { out: "", err: "" };
  const { stdout, stderr } = process;
  const before = [stdout.write, stderr.write, process.exitCode] as const;
  const variables = Object.keys(env).map((name) => [name, process.env[name]] as const);
  const into = (name: keyof typeof wrote) => (text: string | Uint8Array) => {
    wrote[name] += String(text);
    return true;
  };
  stdout.write = into("out");
  stderr.write = into("err");
  Object.assign(process.env, env);
  process.exitCode = 0;
  try {
    await program.parseAsync([...args], { from: "user" });
    return { ...wrote, code: Number(process.exitCode) };
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return { ...wrote, code: error.exitCode === 0 ? 0 : 2 };
  } finally {
    [stdout.write, stderr.write, process.exitCode] = before;
    for (const [name, value] of variables)
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  }
}
