// `node scripts/schema.mjs`: writes schema/ from the built schemas. `--check`: only compares, and fails
// with the command to run when a file is stale.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ensureBuilt, ensureInstalled, root } from "./prepare.mjs";

ensureInstalled();
ensureBuilt();
const { schemaFiles } = await import("../dist/daemon/schemas.js");
const check = process.argv.includes("--check");
mkdirSync(join(root, "schema"), { recursive: true });
for (const [name, text] of schemaFiles()) {
  const path = join(root, "schema", name);
  if (!check) writeFileSync(path, text);
  else {
    let now = "";
    try {
      now = readFileSync(path, "utf8");
    } catch (error) {
      if (error.code !== "ENOENT") throw error;
    }
    if (now !== text) {
      process.stderr.write(`schema/${name} is stale: run node scripts/schema.mjs\n`);
      process.exitCode = 1;
    }
  }
}
