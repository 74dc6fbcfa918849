/**
 * Files that ship beside the code and are found at run time: the version, worker entries, the built
 * pages. The package's root is searched upwards, because bundled code is in another folder than its
 * source.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** Whether the sources run directly, through a loader. */
export const isSource = import.meta.url.endsWith(".ts");

const root = packageRoot(dirname(fileURLToPath(import.meta.url)));

function packageRoot(folder: string): string {
  const parent = dirname(folder);
  if (parent === folder || existsSync(join(folder, "package.json"))) return folder;
  return packageRoot(parent);
}

const entry = (source: string, built: string) =>
  pathToFileURL(join(root, ...(isSource ? ["src", source] : ["dist", built])));

/** From package.json. */
export const version: string = (
  JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string }
).version;

/** The process that tries other rules on a recording. */
export const whatIfWorker = entry("daemon/what-if/worker.ts", "daemon/what-if-worker.js");

/** The thread that scores a labelled room. */
export const qualityWorker = entry("daemon/quality/worker.ts", "daemon/quality-worker.js");

/** The built pages. */
export const builtPages = join(root, "dist", "web");
