/** What start, `config check` and the doctor say of entries that can name nobody. */
import { describe, expect, test } from "vitest";
import { noFacts } from "../../../src/daemon/checks/check.ts";
import { checkConfig } from "../../../src/daemon/checks/config-checks.ts";
import { unknownNames } from "../../../src/daemon/checks/names.ts";
import { parseConfig } from "../../../src/domain/config/index.ts";
import { findingText } from "../../../src/domain/config-finding.ts";

/** What the start, `config check` and the doctor print about mistakes. */
const mistakesOf = async (config: Parameters<typeof parseConfig>[0]) =>
  (await checkConfig(parseConfig(config), ["mistake"], noFacts)).map(findingText);

const tea = { name: "tea", cron: "0 9 * * *", text: "Tea?" };
const telegram = (more: object) => ({ channels: { telegram: { accounts: {}, ...more } } });

describe("an entry that can name nobody is told with its place", () => {
  test.each([
    [
      "a username",
      telegram({ allowFrom: ["7", "@ann"] }),
      'channels.telegram.allowFrom[1]: this is "@ann"',
    ],
    [
      "a group's title",
      telegram({ groups: { kitchen: {} } }),
      "channels.telegram.groups.kitchen: this is",
    ],
    [
      "a name in one group's list",
      telegram({ groups: { "-1": { allowFrom: ["telegram:bo"] } } }),
      'allowFrom[0]: this is "bo", but Telegram identifies people and groups by numbers',
    ],
    [
      "an owner by name",
      { ...telegram({}), commands: { ownerAllowFrom: ["telegram:@ann"] } },
      'commands.ownerAllowFrom[0]: this is "@ann"',
    ],
    [
      "a list of an account",
      telegram({ accounts: { work: { allowFrom: ["Ann"] } } }),
      'channels.telegram.accounts.work.allowFrom[0]: this is "Ann"',
    ],
    [
      "a channel that is not there",
      { access: { allowFrom: ["telegrm:7"] } },
      'access.allowFrom[0]: the channel "telegrm" is not under channels',
    ],
    [
      "a list of commands for one",
      { commands: { allowFrom: { telegrm: ["7"] } } },
      'commands.allowFrom.telegrm[0]: the channel "telegrm"',
    ],
    [
      "a binding to one",
      { bindings: [{ match: { channel: "telegrm" }, agentId: "main" }] },
      'bindings[0].match.channel: the channel "telegrm"',
    ],
    [
      "an entry of the schedule for one",
      { schedule: [{ ...tea, to: { channel: "telegrm", chat: { id: "7" } } }] },
      'schedule[0].to.channel: the channel "telegrm" is not under channels',
    ],
    [
      "one for an account that is not there",
      {
        ...telegram({ accounts: { work: {} } }),
        schedule: [{ ...tea, to: { channel: "telegram", chat: { id: "7" } } }],
      },
      'schedule[0].to.account: the account "default" is not under channels.telegram.accounts, or is disabled',
    ],
    [
      "one for a group by its title",
      {
        ...telegram({ accounts: { default: {} } }),
        schedule: [{ ...tea, to: { channel: "telegram", chat: { id: "@garden" } } }],
      },
      'schedule[0].to.chat.id: this is "@garden"',
    ],
  ])("%s", async (_, config, line) => {
    const found = unknownNames(parseConfig(config)).map(findingText);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(line);
    expect((await mistakesOf(config)).join("\n")).toContain(line);
  });

  test("and ids are not: people, groups, chats, and whatever another channel takes for one", () => {
    const config = {
      channels: {
        telegram: {
          accounts: { work: {} },
          allowFrom: ["7", "telegram:8", "chat:-100"],
          groups: { "-1001": {} },
        },
        matrix: { allowFrom: ["@ann:example.org"] },
      },
      access: { groupAllowFrom: ["telegram:9"] },
      commands: { ownerAllowFrom: ["telegram:7"], allowFrom: { "*": ["matrix:@ann:x"] } },
      bindings: [{ match: { channel: "matrix" }, agentId: "main" }],
      schedule: [
        { ...tea, to: { channel: "telegram", account: "work", chat: { id: "-1001" } } },
        { ...tea, name: "other", to: { channel: "webchat", chat: { id: "main" } } },
      ],
    };
    expect(unknownNames(parseConfig(config))).toEqual([]);
  });
});

test.each([
  [{ commands: { stopWords: ["/help"] } }, "commands.stopWords[0]: /help is a command"],
  [{ session: { resetTriggers: ["/stop"] } }, "session.resetTriggers[0]: /stop is a command"],
  [
    { commands: { stopWords: ["Fresh"] }, session: { resetTriggers: ["fresh"] } },
    "commands.stopWords[0]: Fresh is in session.resetTriggers too",
  ],
])("a word that is taken is told: %j", async (config, line) => {
  expect((await mistakesOf(config)).join("\n")).toContain(line);
  expect((await mistakesOf({})).join("\n")).not.toContain("choose another");
});

test("bindings that hear nothing and names that call two are among them, with place and fix", async () => {
  const found = await mistakesOf({
    agents: { list: [{ id: "scout" }, { id: "rover", aliases: ["old scout"] }] },
    broadcast: { "webhook:kitchen": ["scout", "rover"] },
    channels: { webhook: {} },
    bindings: [
      { match: { channel: "webhook", peer: { kind: "group", id: "kitchen" } }, agentId: "rover" },
      { match: { channel: "webhook" }, agentId: "rover" },
      { match: { channel: "webhook", accountId: "*" }, agentId: "scout" },
    ],
  });
  expect(found).toHaveLength(3);
  for (const [index, line] of [
    /^bindings\[2\]: it can never match, .*: put it before that one or remove it$/u,
    /^bindings\[0\]: it hears nothing there, because broadcast\["webhook:kitchen"\] .*: remove one of the two$/u,
    /^broadcast\["webhook:kitchen"\]: .*"old scout".* give agents\.list\[1\] other names$/u,
  ].entries())
    expect(found[index]).toMatch(line);
});
