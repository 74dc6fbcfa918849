/**
 * What a config hardly means
 * ==========================
 * A config that is fine may still name somebody who can never come: a person by a name where the
 * platform knows numbers, a channel that is not there. Such an entry lets nobody in and says nothing
 * when they knock, so it is told beforehand, with its place and the fix. It is no mistake that stops
 * the daemon: a channel may be written down later.
 */
import { type EarshotConfig, pathText } from "../../domain/config/index.ts";
import { accessWarnings } from "../../machines/access/admission.ts";
import { commandNamed } from "../../machines/commands/table.ts";
import { routingWarnings } from "../../machines/routing/routing.ts";

type Path = readonly (string | number)[];
interface Named {
  readonly path: Path;
  readonly channel: string;
  readonly id: string;
}

const telegramId = /^(?:chat:)?-?\d{1,32}$/u;
const shownUnitsMax = 64;
const shown = (text: string) => JSON.stringify(text.slice(0, shownUnitsMax));

/** Everything that start and `earshot config check` warn about, one line each. */
export function configWarnings(config: EarshotConfig): readonly string[] {
  return [
    ...routingWarnings(config),
    ...accessWarnings(config),
    ...strangeNames(config),
    ...strangeWords(config),
  ];
}

/** Entries that can name nobody. */
export function strangeNames(config: EarshotConfig): readonly string[] {
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
      `${pathText(path)} is ${shown(id)}, and Telegram knows people and groups by numbers: ` +
        "names grant nothing; the number stands in the log when they are refused",
    ];
  });
  return [...fixed, ...people];
}

const noChannel = (path: Path, channel: string) =>
  `${pathText(path)} names the channel ${shown(channel)}, which is not under channels`;

/** Every person and group that the config lets in somewhere, or gives commands to. */
function* peopleIn({ access, channels, commands }: EarshotConfig): Generator<Named> {
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
}

type Rules = Pick<EarshotConfig["channels"][string], "allowFrom" | "groupAllowFrom" | "groups">;

function* rulesOf(rules: Rules, path: Path, channel: string): Generator<Named> {
  yield* listed(rules.allowFrom, [...path, "allowFrom"], channel);
  yield* listed(rules.groupAllowFrom, [...path, "groupAllowFrom"], channel);
  yield* grouped(rules.groups, [...path, "groups"], channel);
}

function* grouped(groups: Rules["groups"], path: Path, channel: string | null): Generator<Named> {
  for (const [name, { allowFrom }] of Object.entries(groups ?? {})) {
    const named = apart([...path, name], name, channel);
    yield named;
    yield* listed(allowFrom, [...path, name, "allowFrom"], named.channel);
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

/** An entry's channel and id; where the channel is known, it may stand in front or not. */
function apart(path: Path, entry: string, channel: string | null): Named {
  if (channel === null) {
    const colon = entry.indexOf(":");
    return { path, channel: entry.slice(0, colon), id: entry.slice(colon + 1) };
  }
  const prefix = `${channel}:`;
  return { path, channel, id: entry.startsWith(prefix) ? entry.slice(prefix.length) : entry };
}

/** Words of one's own that a command of the table has already, or that mean two things. */
function strangeWords({ commands, session }: EarshotConfig): string[] {
  const taken = (word: string, own: readonly string[]) => {
    const command = word.startsWith("/") ? commandNamed(word.slice(1)) : undefined;
    return command !== undefined && !own.includes(command);
  };
  const triggers = session.resetTriggers.flatMap((word, index) =>
    taken(word, ["new", "reset"]) ? [`session.resetTriggers[${index}] is a command: ${word}`] : [],
  );
  const stops = commands.stopWords.flatMap((word, index) => {
    if (taken(word, ["stop"])) return [`commands.stopWords[${index}] is a command: ${word}`];
    const both = session.resetTriggers.some((one) => one.toLowerCase() === word.toLowerCase());
    return both ? [`commands.stopWords[${index}] is in session.resetTriggers, too: ${word}`] : [];
  });
  return [...triggers, ...stops].map((line) => `${line}: choose another word`);
}
