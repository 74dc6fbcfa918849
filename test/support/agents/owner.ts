/**
 * A process that owns programs of agents and is then killed: `owner.ts <program> <pids file>`. One program has
 * ended before, two run side by side.
 */
import { commandDriver } from "../../../src/adapters/agents/command/driver.ts";
import type { AgentDriver } from "../../../src/domain/ports/index.ts";
import { collect, openAgent } from "../../../src/testing/agent-contract.ts";

const [, , program, file] = process.argv;
const run = async (what: string): Promise<unknown> => {
  const args = [program as string, what, file as string];
  return collect(
    await openAgent(commandDriver as AgentDriver, { command: process.execPath, args }),
  );
};
await run("echo");
await Promise.all([run("stubborn"), run("stubborn")]);
