// What `npm run mutation` does: which files it measures, their scores, and the record in
// test/mutation.json, by which a run of a part answers for the whole.
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { Stryker } from "@stryker-mutator/core";
import { root } from "../prepare.mjs";
import { digest, readRecord, score, sum, wanted, writeRecord } from "./record.mjs";

const machines = join(root, "src", "machines");

/** Tests that play so much that one mutant would take minutes; the others say the same in less. */
const tooLong = [
  "test/machines/conversation/purity.test.ts",
  "test/machines/conversation/reachability.test.ts",
  "test/machines/conversation/states.test.ts",
];

const tests = ["test/machines", "test/testing"]
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, name)),
  )
  .filter((name) => name.endsWith(".test.ts") && !tooLong.includes(name))
  .toSorted();

/** Files whose text is not the one that was measured, then the others, each from where the day says. */
function inTurn(files, count, record) {
  const day = Math.floor(Date.now() / 86_400_000);
  const turned = (list) => {
    const start = list.length === 0 ? 0 : (day * count) % list.length;
    return [...list.slice(start), ...list.slice(0, start)];
  };
  const isStale = (file) => record[file]?.source !== digest(file);
  const current = files.filter((file) => !isStale(file));
  return [...turned(files.filter(isStale)), ...turned(current)].slice(0, count);
}

function printScores(measured) {
  const folders = new Map(Object.keys(measured).map((file) => [dirname(file), []]));
  for (const file of Object.keys(measured)) folders.get(dirname(file)).push(file);
  process.stdout.write(`${"".padEnd(36)}noticed   missed    score\n`);
  const line = (name, part) =>
    process.stdout.write(
      `${name.padEnd(36)}${String(part.noticed).padStart(7)}${String(part.missed).padStart(9)}${score(part).toFixed(1).padStart(8)}%\n`,
    );
  for (const [folder, files] of folders) {
    line(folder === "." ? "(top)" : folder, sum(files.map((file) => measured[file])));
    for (const file of files) line(`  ${file}`, measured[file]);
  }
  line("all of these", sum(Object.values(measured)));
}

function printSurvivors(mutants) {
  for (const { fileName, location, status, replacement, mutatorName } of mutants) {
    const { start, end } = location;
    const lines = readFileSync(fileName, "utf8")
      .split("\n")
      .slice(start.line - 1, end.line);
    const last = lines.length - 1;
    const text = lines
      .map((line, at) =>
        line.slice(at === 0 ? start.column - 1 : 0, at === last ? end.column - 1 : line.length),
      )
      .join("\n");
    const short = (one) => one.replaceAll(/\s+/gu, " ").slice(0, 110);
    process.stdout.write(
      `${relative(root, fileName)}:${start.line}:${start.column} ${mutatorName}${status === "NoCoverage" ? " (no test comes here)" : ""}\n    - ${short(text)}\n    + ${short(replacement ?? "")}\n`,
    );
  }
}

export async function measure({ files: named, next, quick, survivors, record: isRecorded }) {
  const record = readRecord();
  const files = next === undefined ? named : inTurn(named, Number(next), record);
  const sources = Object.fromEntries(files.map((file) => [file, digest(file)]));
  process.env.EARSHOT_SEED ??= "20261121";
  process.env.CI ??= "true";
  process.env.EARSHOT_ROUNDS ??= "full";
  const results = await new Stryker({
    mutate: files.map((file) => `src/machines/${file}`),
    testRunner: "earshot-tests-kept-loaded",
    plugins: [new URL("./runner.mjs", import.meta.url).href],
    earshotTests: tests,
    earshotQuick: quick,
    earshotFolders: [...new Set(files.map((file) => basename(dirname(join(machines, file)))))],
    coverageAnalysis: "perTest",
    // What runs once while a module loads: a mutant of it would need all modules loaded again.
    ignoreStatic: true,
    tsconfigFile: "none",
    ignorePatterns: ["dist", "bench", "examples", "web"],
    tempDirName: "node_modules/.cache/mutation",
    concurrency: 1,
    // The runner counts processor time; this is for what it would not see.
    timeoutMS: 1_800_000,
    // The same for the first run without a mutant: on a busy machine it takes longer than the usual five.
    dryRunTimeoutMinutes: 30,
    reporters: ["earshot-progress"],
    logLevel: "warn",
    warnings: false,
    allowEmpty: true,
  }).runMutationTest();

  const measured = {};
  for (const file of files) {
    const mutants = results.filter(({ fileName }) => relative(machines, fileName) === file);
    const count = (...statuses) => mutants.filter(({ status }) => statuses.includes(status)).length;
    measured[file] = {
      source: sources[file],
      noticed: count("Killed", "Timeout"),
      missed: count("Survived", "NoCoverage"),
    };
  }
  if (survivors)
    printSurvivors(results.filter(({ status }) => ["Survived", "NoCoverage"].includes(status)));
  printScores(measured);
  // Read again, as another run may have recorded other files meanwhile.
  const whole = Object.fromEntries(
    Object.entries({ ...readRecord(), ...measured }).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
  if (isRecorded) writeRecord(whole);
  // In turn, a file that nobody has recorded yet is only shown: who changed something else did not choose it.
  const isCounted = (file) => next === undefined || isRecorded || file in record;
  const total = sum(
    Object.keys(whole)
      .filter(isCounted)
      .map((file) => whole[file]),
  );
  process.stdout.write(
    `src/machines with what test/mutation.json has of the other files: ${score(total).toFixed(1)}% of ${total.noticed + total.missed} changes are noticed (${wanted}% wanted)\n`,
  );
  return score(total) >= wanted;
}
