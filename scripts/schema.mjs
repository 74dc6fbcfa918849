// `node scripts/schema.mjs`: writes from the built code schema/, the tables of commands.md and
// config.md, and the whole of metrics.md and logs.md, all four in docs/reference/.
// `--check`: only compares, and fails with the command to run when a file is stale.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ensureBuilt, ensureInstalled, root } from "./prepare.mjs";

ensureInstalled();
ensureBuilt();
const { schemaFiles } = await import("../dist/daemon/config/schemas.js");
const { metricsPage } = await import("../dist/daemon/observability/metrics-page.js");
const { logsPage } = await import("../dist/daemon/observability/log-events.js");
const { withDocsTable } = await import("../dist/machines/commands/help.js");
const { withConfigReference } = await import("../dist/domain/config/docs/reference.js");
const check = process.argv.includes("--check");
mkdirSync(join(root, "schema"), { recursive: true });
const page = (name) => readFileSync(join(root, "docs", name), "utf8");
const files = [
  ...schemaFiles().map(([name, text]) => [`schema/${name}`, text]),
  ["docs/reference/commands.md", withDocsTable(page("reference/commands.md"))],
  ["docs/reference/config.md", withConfigReference(page("reference/config.md"))],
  ["docs/reference/metrics.md", metricsPage()],
  ["docs/reference/logs.md", logsPage()],
];
for (const [name, text] of files) {
  const path = join(root, name);
  if (!check) writeFileSync(path, text);
  else {
    let now = "";
    try {
      now = readFileSync(path, "utf8");
    } catch (error) {
      if (error.code !== "ENOENT") throw error;
    }
    if (now !== text) {
      process.stderr.write(`${name} is stale: run node scripts/schema.mjs\n`);
      process.exitCode = 1;
    }
  }
}
