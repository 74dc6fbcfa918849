/** What `earshot config check` and `doctor` say about agents that cannot run here. */
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { agentWarnings } from "../../../src/adapters/agents/check.ts";
import { drivers } from "../../../src/adapters/agents/index.ts";
import { parseConfig } from "../../../src/domain/config/index.ts";
import { findingText } from "../../../src/domain/config-finding.ts";

const configOf = (agents: Readonly<Record<string, object | string>>) => {
  const list = Object.entries(agents).map(([id, driver]) => ({ id, driver }));
  return parseConfig({ agents: { list } }, { drivers });
};

test("a program, a folder and a module that are not there are named with their agent", async () => {
  const config = configOf({
    one: { kind: "command", command: "no-such-program" },
    two: { kind: "acp", command: "./agent" },
    three: { kind: "command", command: process.execPath, cwd: "missing" },
    four: { kind: "module", module: "./missing.mjs" },
    five: { kind: "command", command: tmpdir() },
  });
  const found = (await agentWarnings(config, "/nowhere")).map(findingText);
  expect(found).toEqual([
    "agents.list[0]: no-such-program cannot be run here: install it, or name its path",
    "agents.list[1]: /nowhere/agent cannot be run here: install it, or name its path",
    "agents.list[2]: the folder /nowhere/missing that it runs in is not there: create it",
    "agents.list[3]: its module /nowhere/missing.mjs is not there: correct the path",
    `agents.list[4]: ${tmpdir()} cannot be run here: install it, or name its path`,
  ]);
});

test("nothing is said of agents that can run, whatever their driver", async () => {
  const folder = await mkdtemp(join(tmpdir(), "earshot-check-"));
  await writeFile(join(folder, "agent.mjs"), "");
  const config = configOf({
    guide: "guide",
    model: { kind: "model", model: "x", baseUrl: "http://127.0.0.1:1/v1" },
    command: { kind: "command", command: process.execPath },
    acp: { kind: "acp", command: "sh" },
    webhook: { kind: "webhook", url: "http://127.0.0.1:1/", secret: "a-secret-of-some-length" },
    module: { kind: "module", module: "./agent.mjs" },
    package: { kind: "module", module: "some-package" },
    auto: "auto",
  });
  expect(await agentWarnings(config, folder)).toEqual([]);
});

test("a judge that cannot run is named with its place, in a room too", async () => {
  const judge = { kind: "command", command: "no-such-judge" };
  const key = "agent:main:irc:group:kitchen";
  const config = parseConfig(
    { engagement: { judge }, conversations: { [key]: { engagement: { judge } } } },
    { drivers },
  );
  const found = (await agentWarnings(config, "/nowhere")).map(findingText);
  expect(found).toEqual([
    "engagement.judge: no-such-judge cannot be run here: install it, or name its path",
    `conversations["${key}"].engagement.judge: no-such-judge cannot be run here: install it, or name its path`,
  ]);
});
