// `npm test` as CI runs it: files that failed are run once more, alone, and named either way. On a
// shared machine a browser or an IRC server may miss a limit; what fails twice, what fails in many
// files and what fails outside a test fails the run. `--busy`: as `npm run test:busy`; other
// arguments name what to run.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { root, run } from "./prepare.mjs";

const manyFiles = 4;
const folder = mkdtempSync(join(tmpdir(), "earshot-ci-"));
const report = join(folder, "report.json");
const named = process.argv.slice(2).filter((name) => name !== "--busy");
const script = process.argv.includes("--busy") ? "test:busy" : "test";
const npmTest = (...args) =>
  run("npm", ["run", "--silent", script, "--", ...args], {
    stdio: ["ignore", "inherit", "inherit"],
  });

/** Files with a failed test, or null when nothing can be said of them. */
function failedFiles() {
  try {
    const { testResults } = JSON.parse(readFileSync(report, "utf8"));
    const failed = testResults.filter(({ status }) => status === "failed");
    return failed.map(({ name }) => relative(root, name));
  } catch (error) {
    process.stderr.write(`ci: no report of the tests: ${error.message}\n`);
    return null;
  }
}

let status = npmTest(
  ...named,
  "--reporter=default",
  "--reporter=json",
  `--outputFile.json=${report}`,
);
const files = status === 0 ? [] : failedFiles();
rmSync(folder, { recursive: true });
if (files !== null && files.length > 0 && files.length <= manyFiles) {
  process.stderr.write(`\nci: failed, run once more alone: ${files.join(", ")}\n`);
  status = npmTest(...files);
  const end = status === 0 ? "passed alone: not reliable beside the others" : "failed twice";
  process.stderr.write(`ci: ${end}: ${files.join(", ")}\n`);
}
process.exitCode = status;
