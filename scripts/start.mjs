// `npm start`: installs and builds if needed, then becomes the daemon. Its help is said before, by itself.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ensureBuilt, ensureInstalled, root } from "./prepare.mjs";

const help = `Usage: npm start [-- <option> ...]

Installs the dependencies if needed, builds if a source is newer than the build, and runs the daemon: \`earshot start\`
with these options. Example: npm start -- --port 0 --state-dir /tmp/try

  --state-dir <dir>      state directory of the daemon       [~/.earshot, or EARSHOT_STATE_DIR]
  --config <file>        config file                         [earshot.json5 in it, or EARSHOT_CONFIG]
  --port <n>             port of the pages and the API; 0 picks a free one
  --workers <n>          number of worker threads; 0 runs everything on the main thread
  --log-level <level>    trace, debug, info, warn, error or fatal
  --log-format <format>  pretty or json
  --help                 prints this

Documentation: docs/operate/operating.md
`;

if (process.argv.slice(2).some((word) => word === "--help" || word === "-h")) {
  process.stdout.write(help);
} else {
  ensureInstalled();
  ensureBuilt();
  process.argv.splice(2, 0, "start");
  await import(pathToFileURL(join(root, "dist", "daemon", "cli", "main.js")).href);
}
