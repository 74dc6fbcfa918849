/** What the pages about agents show is what runs. */
import { mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { drivers } from "../../../src/adapters/agents/index.ts";
import { configFromText } from "../../../src/adapters/files/config-file.ts";
import type { AgentDriver, AgentTurn } from "../../../src/domain/ports/index.ts";
import { collect, openAgent, sampleTurn, spoken } from "../../../src/testing/agent-contract.ts";

const folder = join(import.meta.dirname, "../../../docs/agents");
const page = (name: string) => readFile(join(folder, name), "utf8");
const blocks = (text: string, language: string) =>
  [...text.matchAll(/```(\w+)\n([\s\S]*?)```/gu)].flatMap(([, kind, block = ""]) =>
    kind === language ? [block] : [],
  );
const driver = (kind: string) => drivers.get(kind) as AgentDriver;

test("every example is a config that is fine", async () => {
  const env = {
    ANTHROPIC_API_KEY: "sk-test-key",
    OPENAI_API_KEY: "sk-test-key",
    OPENROUTER_API_KEY: "sk-test-key",
    SCOUT_SECRET: "a-secret-of-some-length",
  };
  const pages = await readdir(folder);
  let examples = 0;
  for (const name of pages)
    for (const example of blocks(await page(name), "json5")) {
      examples += 1;
      const read = () => configFromText(example, name, { env, parse: { drivers } });
      expect(read, `${name}: ${example}`).not.toThrow();
    }
  expect(examples).toBeGreaterThanOrEqual(pages.length);
});

test("every driver stands in the table, and no other", async () => {
  const rows = [...(await page("README.md")).matchAll(/^\| \[?`(\w+)`\]?/gmu)].map(
    ([, kind]) => kind,
  );
  const firstTable = rows.slice(0, drivers.size);
  expect(firstTable.sort()).toEqual([...drivers.keys()].sort());
});

test.each([
  ["command.md", (path: string) => ({ command: process.execPath, args: [path] })],
  ["module.md", (path: string) => ({ module: path })],
] as const)("the program of %s answers, and calls a tool", async (name, config) => {
  const [source] = blocks(await page(name), "js");
  const path = join(await mkdtemp(join(tmpdir(), "earshot-docs-")), "scout.mjs");
  await writeFile(path, source as string);
  const agent = await openAgent(driver(name.replace(".md", "")), config(path));
  const called: string[] = [];
  const turn = (over: Partial<AgentTurn>) =>
    sampleTurn({
      tools: [{ name: "channel_react", description: "React.", inputSchema: { type: "object" } }],
      callTool: async (tool) => String(called.push(tool)),
      ...over,
    });
  expect(spoken(await collect(agent, turn({})))).toBe("You said: hello");
  await collect(agent, turn({ said: "thanks" }));
  expect(called).toContain("channel_react");
});
