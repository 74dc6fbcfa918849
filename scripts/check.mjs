// `npm run check`: everything that is not a test, each step named, all of them run before it fails.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { commandLine } from "./command-line.mjs";
import { ensureBuilt, root, run } from "./prepare.mjs";

const help = `Usage: npm run check

Checks everything that is not a test: format and lint, types, unused code, the package, and that generated files are
current. Names each step, and exits with 1 when one failed. Example, to repair format and lint: npm run format

`;
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

async function check() {
  ensureBuilt();
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
  return failed === 0;
}

await commandLine({ name: "check", help, docs: "CONTRIBUTING.md", run: check });
