/** The native menu of a Telegram bot, from the whole table: built-in commands, a plugin's, a skill's. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startDaemon } from "../../../../src/daemon/daemon.ts";
import { commandList } from "../../../../src/machines/commands/table.ts";
import { newFolder } from "../../../support/daemon/folder.ts";
import { sampleToken, startTelegramServer } from "../../../support/servers/telegram.ts";

test("a bot's menu has what the table, plugins and the agent's skills put into it", async () => {
  const server = await startTelegramServer();
  const stateDir = newFolder();
  const skills = join(stateDir, "scout", "skills");
  for (const [name, menu] of [
    ["review", true],
    ["two-words", true],
    ["quiet", false],
  ] as const) {
    mkdirSync(join(skills, name), { recursive: true });
    const manifest = { help: `Does ${name}`, prompt: "Do it.", menu };
    writeFileSync(join(skills, name, "skill.json"), JSON.stringify(manifest));
  }
  const account = { botToken: sampleToken, apiRoot: server.apiRoot, pollSeconds: 1 };
  const config = {
    agents: { list: [{ id: "main", default: true, workspace: "scout" }] },
    channels: { telegram: { accounts: { default: account } } },
  };
  writeFileSync(join(stateDir, "earshot.json5"), JSON.stringify(config), { mode: 0o600 });
  const feed = { help: "Feeds the pigeons", menu: true, run: () => "fed" };
  const plugins = [{ name: "pigeon", commands: { feed, status: feed } }];
  const quiet = { port: 0, workers: 0, env: {}, writeLog: () => undefined };
  const daemon = await startDaemon({ stateDir, plugins, ...quiet });
  onTestFinished(async () => {
    await daemon.stop({ drainMs: 0 });
    await server.close();
  });
  await server.until(() => server.calls("setMyCommands").length > 0, "a menu");
  const [call] = server.calls("setMyCommands");
  const menu = call?.commands as { command: string; description: string }[];
  const own = commandList.filter(([, spec]) => spec.menu).map(([name]) => name);
  expect(menu.map(({ command }) => command)).toEqual([...own, "feed", "review"]);
  expect(menu.at(-1)).toEqual({ command: "review", description: "Does review" });
});
