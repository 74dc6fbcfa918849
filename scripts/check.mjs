// `npm run check`: everything that is not a test, each step named, all of them run before it fails.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ensureBuilt, ensureInstalled, root, run } from "./prepare.mjs";

ensureInstalled();
ensureBuilt();
const bin = (...path) => join(root, "node_modules", ...path);
const steps = [
  ["format and lint", bin("@biomejs", "biome", "bin", "biome"), ["ci", "--error-on-warnings", "."]],
  ["types of src, test, bench", bin("typescript", "bin", "tsc"), ["-p", "tsconfig.test.json"]],
  ["types of web", bin("typescript", "bin", "tsc"), ["-p", "web/tsconfig.json", "--noEmit"]],
  ["unused files, exports, dependencies", bin("knip", "bin", "knip.js"), []],
  ["package", bin("publint", "src", "cli.js"), ["--strict"]],
  ["schema up to date", join(root, "scripts", "schema.mjs"), ["--check"]],
  ["statecharts up to date", join(root, "scripts", "charts.mjs"), ["--check"]],
];
let failed = 0;
for (const [name, script, args] of steps) {
  if (!existsSync(script)) {
    process.stderr.write(`check: ${name}: ${script} is missing\n`);
    failed += 1;
    continue;
  }
  const status = run(process.execPath, [script, ...args]);
  process.stderr.write(`check: ${name}: ${status === 0 ? "ok" : "failed"}\n`);
  if (status !== 0) failed += 1;
}
process.exitCode = failed === 0 ? 0 : 1;
