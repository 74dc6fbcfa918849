// `npm test`: installs and builds if needed, then runs the whole suite (or what the arguments name).
// `npm run test:busy` does the same beside two endless loops for each core, as on a machine that others
// use.
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { commandLine } from "./command-line.mjs";
import { ensureBuilt, root, run as runProgram } from "./prepare.mjs";

const help = `Usage: npm test [-- <part of a path> ...] [options]
       npm run test:busy [-- <part of a path> ...] [options]

Runs the whole suite, or the test files whose path contains one of the arguments. test:busy runs them beside two
endless loops for each core. The other options of Vitest: npx vitest run --help.
Example: npm test -- test/machines -t "quiet hours"

  -t, --testNamePattern X  only tests whose name matches X
  --bail N                 ends after N failed tests
  --retry N                runs a failed test up to N times more
  --reporter X             how results are printed, as Vitest has it; may be given several times
  --outputFile FILE        where it writes; --outputFile.json with several reporters
  -u, --update             writes snapshots again
  --run, --silent, --project X, --shard X, --maxWorkers N, --testTimeout MS: as Vitest has them
  --busy                   what test:busy adds
`;
const options = /** @type {const} */ ({
  testNamePattern: { type: "string", short: "t" },
  bail: { type: "string" },
  retry: { type: "string" },
  reporter: { type: "string", multiple: true },
  outputFile: { type: "string" },
  "outputFile.json": { type: "string" },
  update: { type: "boolean", short: "u" },
  run: { type: "boolean" },
  silent: { type: "boolean" },
  project: { type: "string", multiple: true },
  shard: { type: "string" },
  maxWorkers: { type: "string" },
  testTimeout: { type: "string" },
  busy: { type: "boolean", default: false },
});

async function run({ busy }) {
  ensureBuilt();
  /** It ends by itself when this process is gone, however that ended. */
  const endless = "const parent = process.ppid; while (process.ppid === parent);";
  const loops = Array.from({ length: busy ? 2 * availableParallelism() : 0 }, () =>
    spawn(process.execPath, ["-e", endless], { stdio: "ignore" }),
  );
  const named = process.argv.slice(2).filter((arg) => arg !== "--busy");
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
  const status = runProgram(process.execPath, [vitest, "run", ...named], { stdio: "inherit" });
  for (const loop of loops) loop.kill("SIGKILL");
  return status === 0;
}

await commandLine({
  name: "test",
  help,
  docs: "test/README.md",
  options,
  allowPositionals: true,
  run,
});
