// `node scripts/schema.mjs`: writes from the code schema/, the tables of commands.md and
// config.md, and the whole of metrics.md and logs.md, all four in docs/reference/.
// `--check`: only compares, and fails with the command to run when a file is stale.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tsImport } from "tsx/esm/api";
import { root } from "./prepare.mjs";

const made = (name) => tsImport(`./reference/${name}.ts`, import.meta.url);
const { schemaFiles } = await made("schemas");
const { metricsPage } = await made("metrics");
const { logsPage } = await made("logs");
const { withDocsTable } = await made("commands");
const { withConfigReference } = await made("config");
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
