/**
 * Help for commands
 * =================
 * What people read about commands, in a room, in a platform's menu and in the docs: all of it from
 * the table.
 */
import type { MenuCommand } from "../../domain/ports.ts";
import { type CommandName, commandList, commandNamed, specOf } from "./table.ts";

const written = (name: CommandName) => {
  const { usage } = specOf(name);
  return usage === "" ? `/${name}` : `/${name} ${usage}`;
};

/** What `/help` says: the commands of the menu, or everything about one. */
export function helpText(word?: string): string {
  const name = word === undefined ? undefined : commandNamed(word.replace(/^\//u, ""));
  if (name !== undefined) return aboutOne(name);
  const shown = commandList.filter(([, { menu }]) => menu);
  return [...shown.map(line), "", "All of them: /commands. More about one: /help queue."].join(
    "\n",
  );
}

/** What `/commands` says. */
export function commandsText(): string {
  return commandList.map(line).join("\n");
}

const line = ([name, { help }]: readonly [CommandName, { readonly help: string }]) =>
  `\`${written(name)}\` ${help}`;

function aboutOne(name: CommandName): string {
  const { aliases, help, example, who, form } = specOf(name);
  return [
    `\`${written(name)}\``,
    `${help}.`,
    ...(aliases.length === 0 ? [] : [`Also: ${aliases.map((one) => `/${one}`).join(", ")}.`]),
    ...(form === "inline" ? ["Beside other words it counts for that message."] : []),
    ...(who === "owner" ? ["For owners."] : []),
    `Example: \`${example}\``,
  ].join("\n");
}

/** The entries for a platform's own menu, in the order of the table. */
export function menuCommands(): readonly MenuCommand[] {
  return commandList.flatMap(([name, { menu, help }]) =>
    menu ? [{ name, description: help }] : [],
  );
}

/** The page of docs/commands.md with its table made anew. */
export function withDocsTable(page: string): string {
  const begin = "<!-- made by `node scripts/schema.mjs` -->\n";
  const from = page.indexOf(begin) + begin.length;
  const to = page.indexOf("<!-- end -->", from);
  return `${page.slice(0, from)}${docsTable()}\n${page.slice(to)}`;
}

function docsTable(): string {
  const cell = (text: string) => text.replaceAll("|", "\\|");
  const rows = commandList.map(([name, { aliases, who, form, help, example }]) => {
    const also = aliases.map((one) => `\`/${one}\``).join(" ");
    const command = `\`${cell(written(name))}\``;
    const place = form === "inline" ? "anywhere" : "alone";
    return `| ${command} | ${also} | ${who} | ${place} | ${help} | \`${example}\` |`;
  });
  return [
    "| Command | Also | Who | Where | What it does | Example |",
    "|---|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}
