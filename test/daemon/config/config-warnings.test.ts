/** What start, `config check` and the doctor say of entries that can name nobody. */
import { describe, expect, test } from "vitest";
import { configWarnings, strangeNames } from "../../../src/daemon/config/config-warnings.ts";
import { parseConfig } from "../../../src/domain/config/index.ts";

const telegram = (more: object) => ({ channels: { telegram: { accounts: {}, ...more } } });

describe("an entry that can name nobody is told with its place", () => {
  test.each([
    [
      "a username",
      telegram({ allowFrom: ["7", "@ann"] }),
      'channels.telegram.allowFrom[1] is "@ann"',
    ],
    [
      "a group's title",
      telegram({ groups: { kitchen: {} } }),
      "channels.telegram.groups.kitchen is",
    ],
    [
      "a name in one group's list",
      telegram({ groups: { "-1": { allowFrom: ["telegram:bo"] } } }),
      'allowFrom[0] is "bo", and Telegram knows people and groups by numbers',
    ],
    [
      "an owner by name",
      { ...telegram({}), commands: { ownerAllowFrom: ["telegram:@ann"] } },
      'commands.ownerAllowFrom[0] is "@ann"',
    ],
    [
      "a list of an account",
      telegram({ accounts: { work: { allowFrom: ["Ann"] } } }),
      'channels.telegram.accounts.work.allowFrom[0] is "Ann"',
    ],
    [
      "a channel that is not there",
      { access: { allowFrom: ["telegrm:7"] } },
      'access.allowFrom[0] names the channel "telegrm", which is not under channels',
    ],
    [
      "a list of commands for one",
      { commands: { allowFrom: { telegrm: ["7"] } } },
      'commands.allowFrom.telegrm[0] names the channel "telegrm"',
    ],
    [
      "a binding to one",
      { bindings: [{ match: { channel: "telegrm" }, agentId: "main" }] },
      'bindings[0].match.channel names the channel "telegrm"',
    ],
  ])("%s", (_, config, line) => {
    const told = strangeNames(parseConfig(config));
    expect(told).toHaveLength(1);
    expect(told[0]).toContain(line);
    expect(configWarnings(parseConfig(config)).join("\n")).toContain(line);
  });

  test("and ids are not: people, groups, chats, and whatever another channel takes for one", () => {
    const config = {
      channels: {
        telegram: { allowFrom: ["7", "telegram:8", "chat:-100"], groups: { "-1001": {} } },
        matrix: { allowFrom: ["@ann:example.org"] },
      },
      access: { groupAllowFrom: ["telegram:9"] },
      commands: { ownerAllowFrom: ["telegram:7"], allowFrom: { "*": ["matrix:@ann:x"] } },
      bindings: [{ match: { channel: "matrix" }, agentId: "main" }],
    };
    expect(strangeNames(parseConfig(config))).toEqual([]);
  });
});

test.each([
  [{ commands: { stopWords: ["/help"] } }, "commands.stopWords[0] is a command: /help"],
  [{ session: { resetTriggers: ["/stop"] } }, "session.resetTriggers[0] is a command: /stop"],
  [
    { commands: { stopWords: ["Fresh"] }, session: { resetTriggers: ["fresh"] } },
    "commands.stopWords[0] is in session.resetTriggers, too: Fresh",
  ],
])("a word that is taken is told: %j", (config, line) => {
  expect(configWarnings(parseConfig(config)).join("\n")).toContain(line);
  expect(configWarnings(parseConfig({})).join("\n")).not.toContain("choose another");
});

test("bindings that hear nothing and names that call two are among them, with place and fix", () => {
  const told = configWarnings(
    parseConfig({
      agents: { list: [{ id: "scout" }, { id: "rover", aliases: ["old scout"] }] },
      broadcast: { "webhook:kitchen": ["scout", "rover"] },
      channels: { webhook: {} },
      bindings: [
        { match: { channel: "webhook", peer: { kind: "group", id: "kitchen" } }, agentId: "rover" },
        { match: { channel: "webhook" }, agentId: "rover" },
        { match: { channel: "webhook", accountId: "*" }, agentId: "scout" },
      ],
    }),
  );
  expect(told).toHaveLength(3);
  for (const [index, line] of [
    /^bindings\[2\] can never match: .*; put it before that one or remove it$/u,
    /^bindings\[0\] hears nothing there: broadcast\["webhook:kitchen"\] .* remove one of the two$/u,
    /^broadcast\["webhook:kitchen"\]: .*"old scout".* give agents\.list\[1\] other names$/u,
  ].entries())
    expect(told[index]).toMatch(line);
});
