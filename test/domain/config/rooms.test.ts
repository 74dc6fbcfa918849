/** Settings of groups and topics: the most specific level wins, and no room changes another. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { settingsFor } from "../../../src/actors/host/conversation-settings.ts";
import {
  agentIn,
  configProblems,
  type EarshotConfigInput,
  parseConfig,
  roomOrigins,
} from "../../../src/domain/config/index.ts";
import { property } from "../../support/property.ts";

type Groups = NonNullable<NonNullable<EarshotConfigInput["channels"]>[string]["groups"]>;

const keyOf = (group: string, topic?: string) =>
  `agent:main:telegram:group:${group}${topic === undefined ? "" : `:topic:${topic}`}`;
const withGroups = (groups: Groups, more: Record<string, unknown> = {}) =>
  parseConfig({
    agents: {
      list: [
        {
          id: "main",
          name: "Scout",
          system: "You are Scout.",
          model: "small",
          tools: ["channel_react", "history_search"],
          engagement: { activation: "ladder" },
        },
      ],
    },
    channels: { telegram: { groups, ...more } },
  });

describe("precedence", () => {
  const config = withGroups(
    {
      "-1": {
        system: "Be brief.",
        model: "medium",
        tools: { deny: ["history_search"] },
        aliases: ["chef"],
        engagement: { activation: "mention" },
        topics: {
          "7": {
            system: "Only soup.",
            model: "large",
            tools: { allow: ["channel_reply", "channel_react"], deny: ["channel_react"] },
            aliases: ["sous"],
            engagement: { activation: "always" },
          },
        },
      },
    },
    { system: "Metric units.", model: "tiny", aliases: ["robot"] },
  );
  const inRoom = (key: string) => {
    const { system, model, tools } = agentIn(config, "main", key);
    const { activation, aliases } = settingsFor(config, key, 1).engagement;
    return { system, model, tools, activation, aliases };
  };

  test("topic over group over channel over agent; instructions and names are added", () => {
    expect(inRoom(keyOf("-1", "7"))).toEqual({
      system: "You are Scout.\n\nMetric units.\n\nBe brief.\n\nOnly soup.",
      model: "large",
      tools: ["channel_reply"],
      activation: "always",
      aliases: ["Scout", "robot", "chef", "sous"],
    });
    const inGroup = {
      system: "You are Scout.\n\nMetric units.\n\nBe brief.",
      model: "medium",
      tools: ["channel_react"],
      activation: "mention",
      aliases: ["Scout", "robot", "chef"],
    };
    expect(inRoom(keyOf("-1"))).toEqual(inGroup);
    expect(inRoom(keyOf("-1", "8"))).toEqual(inGroup);
    expect(inRoom(keyOf("-2"))).toEqual({
      system: "You are Scout.\n\nMetric units.",
      model: "tiny",
      tools: ["channel_react", "history_search"],
      activation: "ladder",
      aliases: ["Scout", "robot"],
    });
    // Shared direct chats are of no channel.
    expect(inRoom("agent:main:main")).toMatchObject({ system: "You are Scout.", model: "small" });
  });

  test("the entry of one conversation is over its topic", () => {
    const own = parseConfig({
      channels: { telegram: { groups: { "-1": { model: "a", topics: { "7": { model: "b" } } } } } },
      conversations: { [keyOf("-1", "7")]: { model: null } },
    });
    expect(agentIn(own, "main", keyOf("-1", "7")).model).toBeNull();
    expect(agentIn(own, "main", keyOf("-1")).model).toBe("a");
  });

  test("an account's group is over the channel's, and an id may carry its channel", () => {
    const own = withGroups(
      { "telegram:-1": { model: "channel", aliases: ["chef"] } },
      { accounts: { default: { groups: { "-1": { model: "account" } } }, work: {} } },
    );
    expect(agentIn(own, "main", keyOf("-1")).model).toBe("account");
    expect(settingsFor(own, keyOf("-1"), 1).engagement.aliases).toEqual(["Scout", "chef"]);
    const work = "agent:main:telegram:account:work:group:-1";
    expect(agentIn(own, "main", work).model).toBe("channel");
  });

  test("an account's topic over its group over the account, for each of the settings", () => {
    const level = (name: string, tool: "channel_react" | "channel_reply" | "history_search") => ({
      system: name,
      model: name,
      aliases: [name],
      tools: { allow: [tool] },
    });
    const topics = { "7": level("topic", "channel_reply") };
    const groups = { "-1": { ...level("group", "channel_react"), topics } };
    const own = withGroups(
      {},
      { accounts: { work: { ...level("account", "history_search"), groups } } },
    );
    const settingsOf = (room: string) => {
      const key = `agent:main:telegram:account:work:group:${room}`;
      const { system, model, tools } = agentIn(own, "main", key);
      return { system, model, tools, aliases: settingsFor(own, key, 1).engagement.aliases };
    };
    expect(settingsOf("-1:topic:7")).toEqual({
      system: "You are Scout.\n\naccount\n\ngroup\n\ntopic",
      model: "topic",
      tools: ["channel_reply"],
      aliases: ["Scout", "account", "group", "topic"],
    });
    expect(settingsOf("-1")).toEqual({
      system: "You are Scout.\n\naccount\n\ngroup",
      model: "group",
      tools: ["channel_react"],
      aliases: ["Scout", "account", "group"],
    });
    expect(settingsOf("-2")).toEqual({
      system: "You are Scout.\n\naccount",
      model: "account",
      tools: ["history_search"],
      aliases: ["Scout", "account"],
    });
  });

  test("it can be said where each of them comes from", () => {
    expect(roomOrigins(config, keyOf("-1", "7"))).toEqual([
      { path: ["channels", "telegram"], sets: ["system", "model", "aliases"] },
      {
        path: ["channels", "telegram", "groups", "-1"],
        sets: ["system", "model", "tools", "aliases", "engagement"],
      },
      {
        path: ["channels", "telegram", "groups", "-1", "topics", "7"],
        sets: ["system", "model", "tools", "aliases", "engagement"],
      },
    ]);
  });
});

describe("what is refused", () => {
  const problems = (groups: unknown) =>
    configProblems({ channels: { telegram: { groups } } }).map(({ path }) => path.join("."));

  test("unknown keys, empty names, unknown tools, and bounds at the level that breaks them", () => {
    const at = "channels.telegram.groups.-1";
    expect(problems({ "-1": { sytem: "x" } })).toEqual([`${at}.sytem`]);
    expect(problems({ "-1": { aliases: [" "] } })).toEqual([`${at}.aliases.0`]);
    expect(problems({ "-1": { tools: { allow: ["shell"] } } })).toEqual([`${at}.tools.allow.0`]);
    expect(problems({ "-1": { stream: { minChars: 5_000 } } })).toEqual([`${at}.stream.minChars`]);
    const late = { messages: { inbound: { debounceMs: 9_000_000 } } };
    expect(problems({ "-1": { topics: { "7": late } } })).toEqual([
      `${at}.topics.7.messages.inbound.debounceMs`,
    ]);
  });
});

const words = fc.constantFrom("chef", "cook", "sous");
const level = fc.record(
  {
    enabled: fc.boolean(),
    system: words,
    model: words,
    aliases: fc.array(words, { maxLength: 2 }),
    tools: fc.record({
      deny: fc.constantFrom<("channel_react" | "channel_reply")[]>([], ["channel_react"]),
    }),
    engagement: fc.record({ activation: fc.constantFrom("mention" as const, "always" as const) }),
  },
  { requiredKeys: [] },
);
const groupSettings = fc
  .tuple(level, fc.dictionary(fc.constantFrom("1", "2"), level))
  .map(([group, topics]) => ({ ...group, topics }));

describe("isolation", () => {
  property([groupSettings, groupSettings, fc.constantFrom(undefined, "1", "3")])(
    "settings of one group never change another",
    (one, other, topic) => {
      const without = withGroups({ "-2": other });
      const both = withGroups({ "-1": one, "-2": other });
      const key = keyOf("-2", topic);
      expect(settingsFor(both, key, 1)).toEqual(settingsFor(without, key, 1));
      expect(agentIn(both, "main", key)).toEqual(agentIn(without, "main", key));
    },
  );

  property([groupSettings, level])(
    "settings of one topic never change its group or another topic",
    (group, topic) => {
      const { topics: _, ...bare } = group;
      const without = withGroups({ "-1": bare });
      const own = withGroups({ "-1": { ...bare, topics: { "7": topic } } });
      for (const key of [keyOf("-1"), keyOf("-1", "8")]) {
        expect(settingsFor(own, key, 1)).toEqual(settingsFor(without, key, 1));
        expect(agentIn(own, "main", key)).toEqual(agentIn(without, "main", key));
      }
      // And do change their own.
      const names = settingsFor(own, keyOf("-1", "7"), 1).engagement.aliases;
      for (const name of topic.aliases ?? []) expect(names).toContain(name);
    },
  );
});
