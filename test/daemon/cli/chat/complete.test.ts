/** Tab in `earshot chat`: the daemon's own table, plugins and skills included. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createCompleter } from "../../../../src/daemon/cli/chat/complete.ts";
import { callApi } from "../../../../src/daemon/cli/lib/api-client.ts";
import { type Daemon, startDaemon } from "../../../../src/daemon/daemon.ts";
import { commandList } from "../../../../src/machines/commands/table.ts";
import { newFolder } from "../../../support/daemon/folder.ts";

let daemon: Daemon;
beforeAll(async () => {
  const stateDir = newFolder();
  const skill = join(stateDir, "scout", "skills", "review");
  mkdirSync(skill, { recursive: true });
  const manifest = { help: "Reviews", usage: "[file]", prompt: "Look twice." };
  writeFileSync(join(skill, "skill.json"), JSON.stringify(manifest));
  const config = { agents: { list: [{ id: "main", default: true, workspace: "scout" }] } };
  writeFileSync(join(stateDir, "earshot.json5"), JSON.stringify(config), { mode: 0o600 });
  const feed = { help: "Feeds", run: () => "fed" };
  const plugins = [{ name: "pigeon", commands: { feed, status: feed } }];
  const quiet = { port: 0, workers: 0, env: {}, writeLog: () => undefined };
  daemon = await startDaemon({ stateDir, plugins, ...quiet });
});
afterAll(() => daemon.stop());

const complete = (line: string, find = async () => daemon as Pick<Daemon, "base" | "token">) =>
  new Promise((done) => {
    createCompleter(find)(line, (_, result) => done(result));
  });

test("completes names, then other words, and leaves room for words behind them", async () => {
  expect(await complete("/sta")).toEqual([["/status"], "/sta"]);
  expect(await complete("/RES")).toEqual([["/reset ", "/restart"], "/RES"]);
  expect(await complete("/abo")).toEqual([["/abort"], "/abo"]);
  expect(await complete("/rev")).toEqual([["/review "], "/rev"]);
  expect(await complete("/fee")).toEqual([["/feed"], "/fee"]);
  expect(await complete("/pigeon:s")).toEqual([["/pigeon:status"], "/pigeon:s"]);
  expect(await complete("/att")).toEqual([["/attach "], "/att"]);
});

test("completes nothing but a command at the start of the line", async () => {
  for (const line of ["", "hello /st", "/status x", " /st", "/none-such"])
    expect(await complete(line)).toEqual([[], line]);
});

test("completes nothing where no daemon answers, and says nothing of it", async () => {
  expect(await complete("/st", async () => null as never)).toEqual([[], "/st"]);
  const gone = { base: "http://127.0.0.1:9", token: "x" };
  expect(await complete("/st", async () => gone)).toEqual([[], "/st"]);
});

test("is given the whole table by the API, which wants the token", async () => {
  const { commands } = (await callApi(daemon, "/api/commands")) as { commands: { name: string }[] };
  const names = commands.map(({ name }) => name);
  expect(names).toEqual([
    ...commandList.map(([name]) => name),
    ...["feed", "pigeon:status", "review"],
  ]);
  expect((await fetch(`${daemon.base}/api/commands`)).status).toBe(401);
});
