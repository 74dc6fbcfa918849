/** The table of commands in docs/reference/commands.md. */
import { usageOf } from "../../src/machines/commands/help.ts";
import { commandList } from "../../src/machines/commands/table.ts";

/** The page of docs/reference/commands.md with its table generated again. */
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
    const command = `\`${cell(usageOf(name))}\``;
    const place = form === "inline" ? "anywhere" : "alone";
    return `| ${command} | ${also} | ${who} | ${place} | ${help} | \`${example}\` |`;
  });
  return [
    "| Command | Also | Who | Where | What it does | Example |",
    "|---|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}
