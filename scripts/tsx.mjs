// Runs a script of package.json that is written in TypeScript, as it is: installs if needed, then becomes it.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ensureInstalled, root } from "./prepare.mjs";

ensureInstalled();
const [path] = process.argv.splice(2, 1);
const { register } = await import("tsx/esm/api");
register();
await import(pathToFileURL(join(root, path)).href);
