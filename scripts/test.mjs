// `npm test`: installs and builds if needed, then runs the whole suite (or what the arguments name).
// `npm run test:busy` does the same beside two endless loops for each core, as on a machine that others
// use.
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { ensureBuilt, ensureInstalled, root, run } from "./prepare.mjs";

const isBusy = process.argv[2] === "--busy";
const named = process.argv.slice(isBusy ? 3 : 2);

ensureInstalled();
ensureBuilt();
/** It ends by itself when this process is gone, however that ended. */
const endless = "const parent = process.ppid; while (process.ppid === parent);";
const loops = Array.from({ length: isBusy ? 2 * availableParallelism() : 0 }, () =>
  spawn(process.execPath, ["-e", endless], { stdio: "ignore" }),
);
process.exitCode = run(
  process.execPath,
  [join(root, "node_modules", "vitest", "vitest.mjs"), "run", ...named],
  { stdio: "inherit" },
);
for (const loop of loops) loop.kill("SIGKILL");
