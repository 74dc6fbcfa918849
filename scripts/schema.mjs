// `node scripts/schema.mjs`: writes from the code schema/, the tables of commands.md and
// config.md, and the whole of metrics.md and logs.md, all four in docs/reference/; and the table of
// docs/channels/README.md and that of the promises in README.md.
// `--check`: only compares, and fails with the command to run when a file is stale.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tsImport } from "tsx/esm/api";
import { root } from "./prepare.mjs";
import { withPromises } from "./promises.mjs";

const made = (name) => tsImport(`./reference/${name}.ts`, import.meta.url);
const { schemaFiles } = await made("schemas");
const { metricsPage } = await made("metrics");
const { logsPage } = await made("logs");
const { withDocsTable } = await made("commands");
const { withConfigReference } = await made("config");
const { withCapabilityTable } = await made("channels");
const check = process.argv.includes("--check");
mkdirSync(join(root, "schema"), { recursive: true });
const page = (name) => readFileSync(join(root, "docs", name), "utf8");
const files = [
  ...schemaFiles().map(([name, text]) => [`schema/${name}`, text]),
  ["docs/reference/commands.md", withDocsTable(page("reference/commands.md"))],
  ["docs/reference/config.md", withConfigReference(page("reference/config.md"))],
  [
    "docs/channels/README.md",
    withCapabilityTable(page("channels/README.md"), join(root, "docs/channels")),
  ],
  ["docs/reference/metrics.md", metricsPage()],
  ["docs/reference/logs.md", logsPage()],
  ["README.md", withPromises(readFileSync(join(root, "README.md"), "utf8"))],
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
