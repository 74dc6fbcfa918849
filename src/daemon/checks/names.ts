/**
 * Names and words that cannot work
 * ================================
 * A valid config may contain an entry that never matches: a person by name on a platform with
 * numeric ids, or a channel that is not configured. Such an entry admits nobody, and no error appears
 * when the person writes. It does not stop the daemon, because the channel may be added later.
 */

import { accountsOf, type EarshotConfig, pathText } from "../../domain/config/index.ts";
import type { ConfigFinding } from "../../domain/config-finding.ts";
import { commandNamed } from "../../machines/commands/table.ts";

type Path = readonly (string | number)[];
interface Named {
  readonly path: Path;
  readonly channel: string;
  readonly id: string;
}

const telegramId = /^(?:chat:)?-?\d{1,32}$/u;
const shownUnitsMax = 64;
const shown = (text: string) => JSON.stringify(text.slice(0, shownUnitsMax));

/** Entries that match nobody. */
export function unknownNames(config: EarshotConfig): readonly ConfigFinding[] {
  const known = (channel: string) => Object.hasOwn(config.channels, channel);
  const fixed = config.bindings.flatMap(({ match: { channel } }, index) =>
    channel === undefined || known(channel)
      ? []
      : [noChannel(["bindings", index, "match", "channel"], channel)],
  );
  const people = [...peopleIn(config)].flatMap(({ path, channel, id }) => {
    if (!known(channel)) return [noChannel(path, channel)];
    if (channel !== "telegram" || telegramId.test(id)) return [];
    return [
      {
        at: pathText(path),
        wrong: `this is ${shown(id)}, but Telegram identifies people and groups by numbers, not names`,
        fix: "use the number; `earshot needs` shows it",
      },
    ];
  });
  return [...fixed, ...places(config), ...people];
}

/** Where the schedule says something and nothing can be said. */
function places({ channels, schedule }: EarshotConfig): readonly ConfigFinding[] {
  return schedule.flatMap(({ to: { channel, account } }, index): readonly ConfigFinding[] => {
    const section = channels[channel];
    const path = ["schedule", index, "to"];
    if (section === undefined) return [noChannel([...path, "channel"], channel)];
    if (accountsOf(section).some(([id]) => id === account)) return [];
    const accounts = pathText(["channels", channel, "accounts"]);
    return [
      {
        at: pathText([...path, "account"]),
        wrong: `the account ${shown(account)} is not under ${accounts}, or is disabled`,
        fix: "add or enable it there, or correct its name",
      },
    ];
  });
}

const noChannel = (path: Path, channel: string): ConfigFinding => ({
  at: pathText(path),
  wrong: `the channel ${shown(channel)} is not under channels`,
  fix: "add it there, or correct its name",
});

/** Every person and group that the config admits, allows commands or says something to. */
function* peopleIn({ access, channels, commands, schedule }: EarshotConfig): Generator<Named> {
  yield* listed(access.allowFrom, ["access", "allowFrom"], null);
  yield* listed(access.groupAllowFrom, ["access", "groupAllowFrom"], null);
  yield* grouped(access.groups, ["access", "groups"], null);
  yield* listed(commands.ownerAllowFrom, ["commands", "ownerAllowFrom"], null);
  for (const [name, list] of Object.entries(commands.allowFrom))
    yield* listed(list, ["commands", "allowFrom", name], name === "*" ? null : name);
  for (const [channel, section] of Object.entries(channels)) {
    yield* rulesOf(section, ["channels", channel], channel);
    for (const [account, own] of Object.entries(section.accounts ?? {}))
      yield* rulesOf(own, ["channels", channel, "accounts", account], channel);
  }
  for (const [index, { to }] of schedule.entries())
    if (Object.hasOwn(channels, to.channel))
      yield { path: ["schedule", index, "to", "chat", "id"], channel: to.channel, id: to.chat.id };
}

type Rules = Pick<EarshotConfig["channels"][string], "allowFrom" | "groupAllowFrom" | "groups">;
interface Listed {
  readonly allowFrom?: readonly string[] | undefined;
  readonly topics?: Readonly<Record<string, Listed>> | undefined;
}

function* rulesOf(rules: Rules, path: Path, channel: string): Generator<Named> {
  yield* listed(rules.allowFrom, [...path, "allowFrom"], channel);
  yield* listed(rules.groupAllowFrom, [...path, "groupAllowFrom"], channel);
  yield* grouped(rules.groups, [...path, "groups"], channel);
}

function* grouped(
  groups: Readonly<Record<string, Listed>> | undefined,
  path: Path,
  channel: string | null,
): Generator<Named> {
  for (const [name, { allowFrom, topics }] of Object.entries(groups ?? {})) {
    const named = apart([...path, name], name, channel);
    yield named;
    yield* listed(allowFrom, [...path, name, "allowFrom"], named.channel);
    for (const [id, topic] of Object.entries(topics ?? {}))
      yield* listed(topic.allowFrom, [...path, name, "topics", id, "allowFrom"], named.channel);
  }
}

function* listed(
  list: readonly string[] | undefined,
  path: Path,
  channel: string | null,
): Generator<Named> {
  for (const [index, entry] of (list ?? []).entries())
    yield apart([...path, index], entry, channel);
}

/** The channel and id of an entry. Where the channel is known, its prefix is optional. */
function apart(path: Path, entry: string, channel: string | null): Named {
  if (channel === null) {
    const colon = entry.indexOf(":");
    return { path, channel: entry.slice(0, colon), id: entry.slice(colon + 1) };
  }
  const prefix = `${channel}:`;
  return { path, channel, id: entry.startsWith(prefix) ? entry.slice(prefix.length) : entry };
}

/** Reset and stop words that are commands, or that have two meanings. */
export function reservedWords({ commands, session }: EarshotConfig): readonly ConfigFinding[] {
  const taken = (word: string, own: readonly string[]) => {
    const command = word.startsWith("/") ? commandNamed(word.slice(1)) : undefined;
    return command !== undefined && !own.includes(command);
  };
  const fix = "choose another word";
  const triggers = session.resetTriggers.flatMap((word, index) =>
    taken(word, ["new", "reset"])
      ? [{ at: `session.resetTriggers[${index}]`, wrong: `${word} is a command`, fix }]
      : [],
  );
  const stops = commands.stopWords.flatMap((word, index) => {
    const at = `commands.stopWords[${index}]`;
    if (taken(word, ["stop"])) return [{ at, wrong: `${word} is a command`, fix }];
    const both = session.resetTriggers.some((other) => other.toLowerCase() === word.toLowerCase());
    return both ? [{ at, wrong: `${word} is in session.resetTriggers too`, fix }] : [];
  });
  return [...triggers, ...stops];
}
