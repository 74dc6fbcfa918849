/** Commands of agents and plugins: named, found and offered, and never in the place of another. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createExtensionCommands } from "../../../src/actors/commands/extension-commands.ts";
import { inboundSchema } from "../../../src/domain/message.ts";
import {
  type ExtraCommand,
  extraNamed,
  extrasFor,
  hasShort,
} from "../../../src/machines/commands/extension-commands.ts";
import {
  commandsText,
  helpText,
  menuCommands,
  offeredCommands,
} from "../../../src/machines/commands/help.ts";
import { noOrders, readOrders } from "../../../src/machines/commands/parse-command.ts";
import { commandList, commandNamed } from "../../../src/machines/commands/table.ts";
import { property } from "../../support/property.ts";

const owner = { commandAuthorized: true, owner: true };
const member = { commandAuthorized: true, owner: false };
const nobody = { commandAuthorized: false, owner: false };
const extra = (name: `${string}:${string}`, over: Partial<ExtraCommand> = {}): ExtraCommand => ({
  name,
  who: "authorised",
  usage: "[what]",
  help: `About ${name}`,
  menu: true,
  agentId: null,
  ...over,
});
const feed = extra("pigeon:feed");
const secret = extra("pigeon:secret", { who: "owner", menu: false });
const review = extra("skill:review", { agentId: "main" });
const extras = [
  feed,
  secret,
  review,
  extra("pigeon:status"),
  extra("owl:hoot"),
  extra("pigeon:hoot"),
];

function read(text: string, authority = owner, more: object = {}) {
  const message = inboundSchema.parse({
    channel: "telegram",
    chat: { id: "ann", kind: "direct" },
    id: "m1",
    author: { id: "ann" },
    text,
    ...more,
  });
  const rules = { authority, resetTriggers: ["/new"], stopWords: ["stop"], extras };
  return readOrders(message, rules);
}
const word = fc.stringMatching(/^[a-z][a-z0-9_-]{0,8}$/);
const anyWord = fc.oneof(word, fc.constantFrom(...commandList.map(([name]) => name)));

describe("a further command", () => {
  test("of a plugin ends the message, with its words", () => {
    for (const text of ["/feed two  crumbs ", "/FEED two  crumbs", "/pigeon:feed two  crumbs"])
      expect(read(text)).toMatchObject({
        calls: [{ command: "pigeon:feed", args: ["two  crumbs"] }],
        ended: true,
        skill: null,
      });
    expect(read("/feed")).toMatchObject({ calls: [{ command: "pigeon:feed", args: [] }] });
  });

  test("of an agent leaves the message as it is for the agent, directives taken out", () => {
    expect(read("/review src /think high")).toMatchObject({
      calls: [],
      ended: false,
      skill: "skill:review",
      text: "/review src",
      levels: { thinking: "high" },
    });
  });

  test("is text where the author may not, where it is elsewhere, or is said to another bot", () => {
    for (const text of ["/feed x", "/review x", "/secret"])
      expect(read(text, nobody)).toEqual(noOrders(text));
    expect(read("/secret", member)).toEqual(noOrders("/secret"));
    expect(read("/secret").ended).toBe(true);
    for (const text of ["please /feed", "> /feed", "`/feed`", "/feeder", "/pigeon:other", "/owl:"])
      expect(read(text)).toEqual(noOrders(text));
    expect(read("/feed@other x")).toEqual(noOrders("/feed@other x"));
    const us = { mentions: [{ id: "us", isSelf: true }] };
    expect(read("/feed@us x", owner, us).ended).toBe(true);
    expect(read("/feed", owner, { forwarded: true })).toEqual(noOrders("/feed"));
  });

  test("never shadows a built-in, and a word that two want belongs to neither", () => {
    expect(read("/status").calls).toEqual([{ command: "status", args: [] }]);
    expect(read("/pigeon:status").calls).toEqual([{ command: "pigeon:status", args: [] }]);
    expect(read("/hoot")).toEqual(noOrders("/hoot"));
    expect(read("/owl:hoot").calls).toEqual([{ command: "owl:hoot", args: [] }]);
  });

  property([fc.array(fc.tuple(word, anyWord), { maxLength: 6 }), anyWord])(
    "is found by a short name only where no built-in and nobody else has it",
    (pairs, asked) => {
      const all = pairs.map(([from, name]) => extra(`${from}:${name}`));
      const found = extraNamed(all, asked);
      const wanting = new Set(all.map(({ name }) => name).filter((n) => n.endsWith(`:${asked}`)));
      const free = commandNamed(asked) === undefined && wanting.size === 1;
      expect(found !== undefined).toBe(free);
      for (const one of all) expect(extraNamed(all, one.name)?.name).toBe(one.name);
    },
  );

  test("is in the help, the list, what a page offers, and in menus by its short name", () => {
    expect(commandsText(extras)).toContain("`/feed [what]` About pigeon:feed");
    expect(commandsText(extras)).toContain("`/owl:hoot [what]` About owl:hoot");
    expect(helpText("feed", extras)).toContain("In full: /pigeon:feed.");
    expect(helpText("pigeon:secret", extras)).toContain("For owners.");
    expect(helpText("skill:review", extras)).toContain("A skill of the agent.");
    const names = menuCommands(extras).map(({ name }) => name);
    expect(names).toEqual([...menuCommands().map(({ name }) => name), "feed", "review"]);
    expect(menuCommands([extra("a:two-words")]).map(({ name }) => name)).not.toContain("two-words");
    const offered = offeredCommands(extras);
    expect(offered.find(({ name }) => name === "feed")?.aliases).toEqual(["pigeon:feed"]);
    expect(offered.map(({ name }) => name)).toContain("owl:hoot");
    expect(offered.map(({ name }) => name).filter((name) => name === "status")).toHaveLength(1);
  });

  test("of another agent is none here", () => {
    const other = extra("skill:review", { agentId: "other" });
    expect(extrasFor([review, other, feed], new Set(["main"]))).toEqual([review, feed]);
    expect(hasShort([review, other], review)).toBe(true);
  });

  test("of a plugin whose names are none is left out", () => {
    const run = () => "";
    const made = createExtensionCommands({
      plugins: [
        { name: "Big Bird", commands: { feed: { help: "x", run } } },
        { name: "skill", commands: { feed: { help: "x", run } } },
        { name: "pigeon", commands: { "two words": { help: "x", run }, ok: { help: "x", run } } },
      ],
    });
    expect(made.list().map(({ name, who }) => [name, who])).toEqual([["pigeon:ok", "owner"]]);
  });
});
