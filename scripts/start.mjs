// `npm start`: installs and builds if needed, then becomes the daemon.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ensureBuilt, ensureInstalled, root } from "./prepare.mjs";

ensureInstalled();
ensureBuilt();
process.argv.splice(2, 0, "start");
await import(pathToFileURL(join(root, "dist", "daemon", "cli", "main.js")).href);
