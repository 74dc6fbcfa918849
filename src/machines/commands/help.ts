/**
 * What people read about commands, in a room, in a platform's menu and in the docs: all of it from
 * the table.
 */
import type { MenuCommand } from "../../domain/ports/index.ts";
import { type ExtraCommand, extraNamed, hasShort, shortOf } from "./extension-commands.ts";
import { type CommandName, commandList, commandNamed, specOf } from "./table.ts";

/** Telegram takes no more. */
const menuCountMax = 100;

/** A command with its arguments, as it is typed. */
export const usageOf = (name: CommandName): string => {
  const { usage } = specOf(name);
  return usage === "" ? `/${name}` : `/${name} ${usage}`;
};

/** What `/help` says: the commands of the menu and further ones, or everything about one. */
export function helpText(word?: string, extras: readonly ExtraCommand[] = []): string {
  const asked = word?.replace(/^\//u, "") ?? "";
  const name = commandNamed(asked);
  if (name !== undefined) return aboutOne(name);
  const extra = extraNamed(extras, asked);
  if (extra !== undefined) return aboutExtra(extras, extra);
  const shown = commandList.filter(([, { menu }]) => menu);
  const more = extras.map((one) => extraLine(extras, one));
  return [
    ...(asked === "" ? [] : ["There is no command of that name.", ""]),
    ...shown.map(line),
    ...more,
    ...["", "All of them: /commands. More about one: /help queue."],
  ].join("\n");
}

/** What `/commands` says. */
export function commandsText(extras: readonly ExtraCommand[] = []): string {
  const more = extras.map((one) => extraLine(extras, one));
  return [...commandList.map(line), ...more].join("\n");
}

/** As it is said: the short name where that is enough. */
function extraWritten(extras: readonly ExtraCommand[], extra: ExtraCommand): string {
  const name = hasShort(extras, extra) ? shortOf(extra) : extra.name;
  return extra.usage === "" ? `/${name}` : `/${name} ${extra.usage}`;
}

const extraLine = (extras: readonly ExtraCommand[], extra: ExtraCommand) =>
  `\`${extraWritten(extras, extra)}\` ${extra.help}`;

function aboutExtra(extras: readonly ExtraCommand[], extra: ExtraCommand): string {
  return [
    `\`${extraWritten(extras, extra)}\``,
    `${extra.help}.`,
    extra.agentId === null ? "A plugin answers it." : "A skill of the agent.",
    ...(hasShort(extras, extra) ? [`In full: /${extra.name}.`] : []),
    ...(extra.who === "owner" ? ["For owners."] : []),
  ].join("\n");
}

/** A command as a page offers it while somebody types. */
export interface OfferedCommand {
  /** Without the slash. */
  readonly name: string;
  readonly aliases: readonly string[];
  readonly usage: string;
  readonly help: string;
  readonly who: "authorised" | "owner";
}

/** Everything that may be typed, in the order of help. */
export function offeredCommands(extras: readonly ExtraCommand[] = []): readonly OfferedCommand[] {
  return [
    ...commandList.map(([name, { aliases, usage, help, who }]) => ({
      name,
      aliases,
      usage,
      help,
      who,
    })),
    ...extras.map((extra) => {
      const { name, usage, help, who } = extra;
      const short = hasShort(extras, extra);
      return {
        name: short ? shortOf(extra) : name,
        aliases: short ? [name] : [],
        usage,
        help,
        who,
      };
    }),
  ];
}

const line = ([name, { help }]: readonly [CommandName, { readonly help: string }]) =>
  `\`${usageOf(name)}\` ${help}`;

/** What those do among other words that do not count for the one message. */
const besideWords: Partial<Record<CommandName, string>> = {
  status: "Beside other words it is answered, too.",
  model: "Beside other words it stays, too.",
  queue: "Beside other words it stays, too.",
};

function aboutOne(name: CommandName): string {
  const { aliases, help, example, who, form } = specOf(name);
  return [
    `\`${usageOf(name)}\``,
    `${help}.`,
    ...(aliases.length === 0 ? [] : [`Also: ${aliases.map((one) => `/${one}`).join(", ")}.`]),
    ...(form === "inline"
      ? [besideWords[name] ?? "Beside other words it counts for that message."]
      : []),
    ...(who === "owner" ? ["For owners."] : []),
    `Example: \`${example}\``,
  ].join("\n");
}

/** The entries for a platform's own menu, in the order of the table. */
export function menuCommands(extras: readonly ExtraCommand[] = []): readonly MenuCommand[] {
  const own = commandList.flatMap(([name, { menu, help }]) =>
    menu ? [{ name, description: help }] : [],
  );
  // Platforms take short names only.
  const more = extras.flatMap((extra) => {
    const name = shortOf(extra);
    if (!extra.menu || !/^[a-z0-9_]{1,32}$/u.test(name) || !hasShort(extras, extra)) return [];
    return [{ name, description: extra.help }];
  });
  return [...own, ...more].slice(0, menuCountMax);
}
