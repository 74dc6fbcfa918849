/** What people read about commands, word for word. */
import { describe, expect, test } from "vitest";
import type { ExtraCommand } from "../../../src/machines/commands/extension-commands.ts";
import {
  commandsText,
  helpText,
  menuCommands,
  offeredCommands,
  usageOf,
} from "../../../src/machines/commands/help.ts";
import { commandList } from "../../../src/machines/commands/table.ts";

const extra = (name: `${string}:${string}`, over: Partial<ExtraCommand> = {}): ExtraCommand => ({
  name,
  who: "authorised",
  usage: "",
  help: `About ${name}`,
  menu: true,
  agentId: null,
  ...over,
});

describe("about one command", () => {
  test.each([
    [
      "why",
      "`/why [message id]`\nWhy a message was answered or not: the one you reply to, or the latest.\nExample: `/why`",
    ],
    [
      "/T",
      "`/think [off|minimal|low|medium|high|xhigh|max]`\nHow much the agent thinks before it answers.\nAlso: /thinking, /t.\nBeside other words it counts for that message.\nExample: `/think high`",
    ],
    [
      "status",
      "`/status`\nAgent, model, session, queue, engagement and usage.\nBeside other words it is answered, too.\nExample: `/status`",
    ],
    [
      "export",
      "`/export [lines]`\nThe latest messages of the session as text.\nAlso: /export-session.\nFor owners.\nExample: `/export 20`",
    ],
  ])("%s", (name, text) => expect(helpText(name)).toBe(text));

  const feed = extra("pigeon:feed", { usage: "[what]" });
  const others = [extra("owl:hoot"), extra("pigeon:hoot", { who: "owner" })];
  test.each([
    ["feed", "`/feed [what]`\nAbout pigeon:feed.\nA plugin answers it.\nIn full: /pigeon:feed."],
    ["owl:hoot", "`/owl:hoot`\nAbout owl:hoot.\nA plugin answers it."],
    ["/pigeon:hoot", "`/pigeon:hoot`\nAbout pigeon:hoot.\nA plugin answers it.\nFor owners."],
  ])("of a plugin: %s", (name, text) => expect(helpText(name, [feed, ...others])).toBe(text));

  test("of an agent", () => {
    expect(helpText("review", [extra("skill:review", { agentId: "main" })])).toBe(
      "`/review`\nAbout skill:review.\nA skill of the agent.\nIn full: /skill:review.",
    );
  });
});

describe("about all of them", () => {
  const lines = commandList.map(([name, { help }]) => `\`${usageOf(name)}\` ${help}`);
  const shown = lines.filter((_, at) => commandList[at]?.[1].menu);
  const end = ["", "All of them: /commands. More about one: /help queue."];
  const mine = "`/feed` About pigeon:feed";

  test("those of the menu, further ones, and where the rest is", () => {
    expect(helpText(undefined, [extra("pigeon:feed")])).toBe([...shown, mine, ...end].join("\n"));
    expect(helpText("")).toBe([...shown, ...end].join("\n"));
    expect(shown.length).toBeLessThan(lines.length);
  });

  test("the same under a line about a name that is none; one slash is part of no name", () => {
    const text = ["There is no command of that name.", "", ...shown, ...end].join("\n");
    expect(helpText("sta/tus")).toBe(text);
    expect(helpText("//status")).toBe(text);
  });

  test("every one", () => {
    expect(commandsText([extra("pigeon:feed")])).toBe([...lines, mine].join("\n"));
  });
});

test("a page is offered the full name where the short one is another's", () => {
  const offered = offeredCommands([extra("pigeon:status"), extra("pigeon:feed")]);
  expect(offered.slice(commandList.length)).toEqual([
    {
      name: "pigeon:status",
      aliases: [],
      usage: "",
      help: "About pigeon:status",
      who: "authorised",
    },
    {
      name: "feed",
      aliases: ["pigeon:feed"],
      usage: "",
      help: "About pigeon:feed",
      who: "authorised",
    },
  ]);
});

test("a menu has at most a hundred entries, the table's first", () => {
  const many = Array.from({ length: 120 }, (_, at) => extra(`pigeon:feed${at}`));
  const menu = menuCommands(many);
  expect(menu).toHaveLength(100);
  expect(menu.slice(0, menuCommands().length)).toEqual(menuCommands());
});
