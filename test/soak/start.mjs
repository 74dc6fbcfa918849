// `npm run soak [-- --minutes N]`: installs and builds if needed, then becomes test/soak/main.ts.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ensureBuilt, ensureInstalled, root } from "../../scripts/prepare.mjs";

ensureInstalled();
ensureBuilt();
// Ctrl-C ends the samples, not the report of them.
process.on("SIGINT", () => undefined);
const args = ["--import", "tsx", join(root, "test/soak/main.ts"), ...process.argv.slice(2)];
const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" });
process.exitCode = status ?? 1;
