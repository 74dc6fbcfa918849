/** examples/write-an-agent keeps the contract of agents, and runs as a module and as a program. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { drivers } from "../../src/adapters/agents/index.ts";
import { collect, openAgent, sampleTurn, spoken } from "../../src/testing/agent-contract.ts";
import { root } from "../support/docs.ts";

const folder = join(root, "examples/write-an-agent");
await import(/* @vite-ignore */ join(folder, "faq.test.mjs"));

test("the program answers from its list, and shrugs where it has nothing", async () => {
  const driver = drivers.get("command");
  if (driver === undefined) throw new Error("there is no driver for commands");
  const args = [join(folder, "faq-command.mjs"), join(folder, "entries.json")];
  const agent = await openAgent(driver, { command: process.execPath, args });
  const called: unknown[] = [];
  const turn = (said: string) =>
    sampleTurn({
      said,
      tools: [{ name: "channel_react", description: "React.", inputSchema: { type: "object" } }],
      callTool: async (...call) => `done ${called.push(call)}`,
    });
  expect(spoken(await collect(agent, turn("Scout, when is lunch?")))).toBe("At one o'clock.");
  expect(spoken(await collect(agent, turn("what is the meaning of it all?")))).toBe("");
  expect(called).toEqual([["channel_react", { emoji: "🤷" }]]);
  await agent.close?.();
});
