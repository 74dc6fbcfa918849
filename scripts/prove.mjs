// `npm run prove [-- P1 P5 ...]`: runs the tests that show each promise of the README, and prints what
// came of them. Exits with 1 when one is not shown, with 2 for a promise that does not exist.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { commandLine } from "./command-line.mjs";
import { ensureBuilt, root, run } from "./prepare.mjs";
import { promises } from "./promises.mjs";

const help = `Usage: npm run prove [-- <promise> ...] [--list] [--json]

Runs the tests that show the promises of the README, all or those named (P1 to ${promises.at(-1).id}), and exits with 1
when one is not shown. Example: npm run prove -- P1 P5

  --list   only prints the promises and their tests
  --json   prints one JSON object for each promise
`;
const options = /** @type {const} */ ({
  list: { type: "boolean", default: false },
  json: { type: "boolean", default: false },
});

function check(values, positionals) {
  const names = positionals.map((name) => name.toUpperCase());
  const unknown = names.filter((name) => !promises.some(({ id }) => id === name));
  if (unknown.length > 0) throw new Error(`there is no promise ${unknown.join(", ")}`);
  const chosen = promises.filter(({ id }) => names.length === 0 || names.includes(id));
  return { ...values, chosen };
}

async function prove({ chosen, list, json }) {
  let isAllShown = true;
  const results = list ? new Map() : runTests([...new Set(chosen.flatMap(({ tests }) => tests))]);
  const isColoured = process.stdout.isTTY && !process.env.NO_COLOR;
  const colour = (code, text) => (isColoured ? `\u001b[${code}m${text}\u001b[0m` : text);
  for (const { id, promise, limits, tests } of chosen) {
    const shown = tests.map((test) => ({ test, ...results.get(test) }));
    const isShown = shown.every(({ failed, passed }) => failed === 0 && passed > 0);
    if (json) {
      process.stdout.write(
        `${JSON.stringify({ id, promise, limits, shown: list ? null : isShown, tests: shown })}\n`,
      );
    } else {
      const mark = list ? " " : isShown ? colour(32, "✓") : colour(31, "✗");
      process.stdout.write(`${mark} ${id.padEnd(4)}${promise.replace(/[`*]/gu, "")}\n`);
      for (const { test, passed, failed } of shown)
        process.stdout.write(
          `       ${test}${list ? "" : `: ${passed} passed${failed === 0 ? "" : colour(31, `, ${failed} failed`)}`}\n`,
        );
    }
    if (!list && !isShown) isAllShown = false;
  }
  return isAllShown;
}

/** Runs test files. Returns how many tests passed and failed in each; a file that broke has failed. */
function runTests(files) {
  const missing = files.filter((file) => !existsSync(join(root, file)));
  if (missing.length > 0) throw new Error(`there is no ${missing.join(", ")}`);
  ensureBuilt();
  const folder = mkdtempSync(join(tmpdir(), "earshot-prove-"));
  const report = join(folder, "report.json");
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  run(process.execPath, [vitest, "run", ...reporters, ...files]);
  const { testResults } = JSON.parse(readFileSync(report, "utf8"));
  rmSync(folder, { recursive: true });
  const results = new Map(files.map((file) => [file, { passed: 0, failed: 1 }]));
  for (const { name, status, assertionResults } of testResults) {
    const count = (state) => assertionResults.filter((one) => one.status === state).length;
    const failed = count("failed");
    results.set(relative(root, name), {
      passed: count("passed"),
      failed: status === "failed" ? Math.max(1, failed) : failed,
    });
  }
  return results;
}

await commandLine({
  name: "prove",
  help,
  docs: "README.md, Promises",
  options,
  allowPositionals: true,
  check,
  run: prove,
});
