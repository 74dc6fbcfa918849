/** The table of docs/channels/README.md: what each channel can do, from its definition. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createRegistry } from "../../src/daemon/config/registry.ts";
import { capabilityColumns } from "../../src/domain/config/docs/capability-table.ts";

/** The page with its table generated again. `folder`: the one that the page is in. */
export function withCapabilityTable(page: string, folder: string): string {
  const begin = "<!-- made by `node scripts/schema.mjs` -->\n";
  const from = page.indexOf(begin) + begin.length;
  const to = page.indexOf("<!-- end -->", from);
  return `${page.slice(0, from)}${capabilityTable(folder)}\n${page.slice(to)}`;
}

function capabilityTable(folder: string): string {
  const channels = [...createRegistry().channels.values()];
  const rows = channels.map((channel) => {
    const page = `${channel.id}.md`;
    const name = existsSync(join(folder, page))
      ? `[${channel.meta.name}](${page})`
      : channel.meta.name;
    return [name, ...capabilityColumns.map(({ cell }) => cell(channel))];
  });
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [
    line(["channel", ...capabilityColumns.map(({ title }) => title)]),
    `|${"---|".repeat(capabilityColumns.length + 1)}`,
    ...rows.map(line),
    "",
    ...capabilityColumns.map(({ title, about }) => `- **${title}**: ${about}.`),
  ].join("\n");
}
