// `npm test`: installs and builds if needed, then runs the whole suite (or what the arguments name).
import { join } from "node:path";
import { ensureBuilt, ensureInstalled, root, run } from "./prepare.mjs";

ensureInstalled();
ensureBuilt();
process.exitCode = run(
  process.execPath,
  [join(root, "node_modules", "vitest", "vitest.mjs"), "run", ...process.argv.slice(2)],
  { stdio: "inherit" },
);
