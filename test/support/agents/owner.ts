/**
 * A process that owns an agent's program and is then killed: `owner.ts <program> <pids file>`.
 */
import { commandDriver } from "../../../src/adapters/agents/command/driver.ts";
import type { AgentDriver } from "../../../src/domain/ports/index.ts";
import { collect, openAgent } from "../../../src/testing/agent-contract.ts";

const [, , program, file] = process.argv;
const args = [program as string, "stubborn", file as string];
const agent = await openAgent(commandDriver as AgentDriver, { command: process.execPath, args });
await collect(agent);
