/**
 * Each case of real rooms has a test on each channel, or the reason why that platform has no such thing.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { platformChannels } from "../../../../src/adapters/channels/index.ts";
import { type Case, type Cell, type Column, cases } from "./case.ts";
import { discord } from "./discord.ts";
import { blueBubbles, imsg } from "./imessage.ts";
import { irc } from "./irc.ts";
import { matrix } from "./matrix.ts";
import { signal } from "./signal.ts";
import { slack } from "./slack.ts";
import { telegram } from "./telegram.ts";
import { webhook } from "./webhook.ts";
import { whatsapp } from "./whatsapp.ts";
import { whatsappLinked } from "./whatsapp-linked.ts";
import { xmpp } from "./xmpp.ts";

const columns: readonly (readonly [name: string, channel: string, column: Column])[] = [
  ["telegram", "telegram", telegram],
  ["discord", "discord", discord],
  ["slack", "slack", slack],
  ["whatsapp", "whatsapp", whatsapp],
  ["whatsapp-linked", "whatsapp-linked", whatsappLinked],
  ["signal", "signal", signal],
  ["imessage, imsg", "imessage", imsg],
  ["imessage, BlueBubbles", "imessage", blueBubbles],
  ["irc", "irc", irc],
  ["matrix", "matrix", matrix],
  ["xmpp", "xmpp", xmpp],
  ["webhook", "webhook", webhook],
];

const channelsDir = new URL("..", import.meta.url).pathname;
const contractSource = readFileSync("src/testing/channel-contract.ts", "utf8");

/** What is wrong with a cell; null: nothing. */
function faultOf(cell: Cell, channel: string): string | null {
  if ("absent" in cell) {
    if (cell.absent.length < 30) return "its reason says too little";
    const isThere = /^https:\/\/\S+$/.test(cell.page) || existsSync(cell.page);
    return isThere ? null : "there is no such page";
  }
  if ("contract" in cell) {
    const { contract } = cell;
    const source = readFileSync(join(channelsDir, channel, "contract.test.ts"), "utf8");
    if (contract === "always") return null;
    if (contract === "longest")
      return /\blongest[:,]/.test(source) ? null : "its contract has no longest message";
    if (!contractSource.includes(`able("${contract}"`)) return `the contract has no ${contract}`;
    return source.includes(`"${contract}"`) ? null : `its contract does not have ${contract}`;
  }
  for (const one of cell.tests) {
    const [file = "", name = ""] = one.split(" > ");
    const path = file.includes("/") ? join("test", file) : join(channelsDir, channel, file);
    if (!existsSync(path)) return `there is no file ${path}`;
    const source = readFileSync(path, "utf8");
    const at = source.indexOf(JSON.stringify(name));
    // The name of a test is the first thing that is passed.
    if (at < 0 || !/\(\s*$/.test(source.slice(0, at)))
      return `${path} has no test ${JSON.stringify(name)}`;
  }
  return null;
}

test("every channel of a platform has its column", () => {
  const known = new Set(columns.map(([, channel]) => channel));
  const platforms = platformChannels.map(({ id }) => id).filter((id) => id !== "webhook");
  expect(platforms.filter((id) => !known.has(id))).toEqual([]);
});

describe.each(columns)("%s", (_name, channel, column) => {
  test.each(Object.entries(cases) as [Case, string][])("%s: %s", (name) => {
    expect(faultOf(column[name], channel)).toBeNull();
  });
});
