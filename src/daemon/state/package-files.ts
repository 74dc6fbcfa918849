/**
 * Files that ship beside the code and are found at run time: the version, worker entries, the built
 * pages. The package's root is searched upwards, because bundled code is in another folder than its
 * source.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** Whether the sources run directly, through a loader. */
const isSource = import.meta.url.endsWith(".ts");

const root = packageRoot(dirname(fileURLToPath(import.meta.url)));

function packageRoot(folder: string): string {
  const parent = dirname(folder);
  if (parent === folder || existsSync(join(folder, "package.json"))) return folder;
  return packageRoot(parent);
}

/** The address of code that is started by itself: its source below src, and what it is in dist. */
export const codeFile = (source: string, built: string): URL =>
  pathToFileURL(join(root, ...(isSource ? ["src", source] : ["dist", built])));

/** From package.json. */
export const version: string = (
  JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string }
).version;

/** The built pages. */
export const builtPages = join(root, "dist", "web");
