/** What may be said over the config from a room, and what is refused from any author. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { overrideFields } from "../../../src/domain/config/conversation/overrides.ts";
import {
  assertMayOverride,
  overridePath,
  refusalOf,
  withChatOverrides,
} from "../../../src/domain/config/parse/chat-overrides.ts";
import { property } from "../../support/property.ts";

const refused = [
  ...["access", "access.dmPolicy", "access.allowFrom", "commands.ownerAllowFrom", "commands.text"],
  ...["server.port", "server.exposed", "store.driver", "engine.kind", "workers.count", "plugins"],
  ...["channels", "channels.telegram", "channels.telegram.accounts.default.botToken"],
  ...["channels.telegram.allowFrom", "channels.telegram.enforceOwner", "channels.telegram.media"],
  ...["agents", "agents.list", "agents.list.0", "agents.list.0.driver", "agents.defaults.driver"],
  ...["agents.list.0.driver.command", "agents.list.0.workspace", "agents.list.0.media.audio"],
  ...["media", "media.speech.command", "conversations.agent:main:main.media.audio"],
  ...["session", "session.store", "session.identityLinks", "$schema", "", "log..level"],
  ...["engagement.__proto__.x", "log.constructor"],
];
const allowed = [
  ...["log.level", "engagement.activation", "messages", "agents.list.0.name", "session.dmScope"],
  ...["agents.defaults.thinking", "channels.telegram.engagement.activation", "stream.maxChars"],
  ...["channels.telegram.enabled", "conversations.agent:main:main.engagement", "bindings"],
];

describe("a value from a room", () => {
  test.each(refused)("is not taken for %j, with the reason", (path) => {
    expect(refusalOf(overridePath(path))).toMatch(/\w{4}/);
    expect(() => assertMayOverride(overridePath(path), 1)).toThrow(/from a room: /);
  });

  test.each(allowed)("is taken for %j", (path) => {
    expect(refusalOf(overridePath(path))).toBeNull();
    expect(() => assertMayOverride(overridePath(path), 1)).not.toThrow();
  });

  test.each([
    ["conversations", { "agent:main:main": { media: { audio: "sh" } } }],
    ["channels.telegram.messages", { media: {} }],
    ["conversations.x", JSON.parse('{"__proto__": {"y": 1}}')],
    ["session.reset", { identityLinks: {}, media: 1 }],
  ])("is refused for what is inside it: %s", (path, value) => {
    expect(() => assertMayOverride(overridePath(path), value)).toThrow(/from a room: /);
  });

  property([fc.constantFrom(...refused.filter((path) => !/[.]$|^$|\.\./.test(path))), fc.string()])(
    "is refused below what is refused, too",
    (path, more) => {
      fc.pre(!["enabled", ...Object.keys(overrideFields)].includes(more));
      const agent = ["agents", "agents.list", "agents.list.0", "channels", "channels.telegram"];
      fc.pre(!agent.includes(path) && path !== "session");
      expect(refusalOf([...overridePath(path), more])).not.toBeNull();
    },
  );
});

describe("what was said", () => {
  test("lies over the file, the later over the earlier, and changes nothing in place", () => {
    const raw = { log: { level: "info" }, agents: { list: [{ id: "a" }, { id: "b" }] } };
    const before = structuredClone(raw);
    const said = [
      { path: "log.level", value: "debug" },
      { path: "engagement.activation", value: "mention" },
      { path: "agents.list.1.name", value: "Bee" },
      { path: "log.level", value: "warn" },
    ];
    expect(withChatOverrides(raw, said)).toEqual({
      log: { level: "warn" },
      engagement: { activation: "mention" },
      agents: { list: [{ id: "a" }, { id: "b", name: "Bee" }] },
    });
    expect(raw).toEqual(before);
    expect(withChatOverrides(raw, [])).toBe(raw);
  });

  test("sets a field of the agent that a config without a list has, and of no other", () => {
    const value = ["bot"];
    const agents = { list: [{ id: "main", name: "earshot", default: true, aliases: value }] };
    const set = (path: string) => withChatOverrides({}, [{ path, value }]);
    expect(set("agents.list.0.aliases")).toEqual({ agents });
    expect(() => set("agents.list.1.aliases")).toThrow(/no such entry/);
  });

  test.each(["agents.list.2.name", "agents.list.x.name", "log.level.deeper", "bindings.0.agent"])(
    "cannot make an entry that the file does not have: %s",
    (path) => {
      const raw = { log: { level: "info" }, agents: { list: [{ id: "a" }] } };
      expect(() => withChatOverrides(raw, [{ path, value: 1 }])).toThrow(/no such entry/);
    },
  );
});
