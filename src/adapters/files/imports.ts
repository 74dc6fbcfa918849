/**
 * Modules of one's own
 * ====================
 * Loads what a config names: a path, taken relative to the config's folder, or an installed
 * package. A file is known by its time of change as well, because Node remembers a module that
 * failed for as long as the process lives: once it is mended, the next try loads it.
 */
import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** Frames of our own are not where a module is wrong. */
const ownFolder = fileURLToPath(new URL(".", import.meta.url));
/** File and line of a frame of a stack; a query behind the file is left out. */
const frame = /(file:\/\/[^\s?()]+?|\/[^\s?()]+?)(?:\?[^\s:()]*)?:(\d+):\d+/g;

/** The path that a name stands for; null: it is a package's. */
export function modulePath(name: string, baseDir: string): string | null {
  const isPath = /^(\.{0,2}\/|~\/|[A-Za-z]:\\)/.test(name);
  return isPath ? resolve(baseDir, name.replace(/^~(?=\/)/, homedir())) : null;
}

/** The module's default export. @throws whatever the module throws; `whyNot` says it. */
export async function importDefault(name: string, baseDir: string): Promise<unknown> {
  const path = modulePath(name, baseDir);
  const target =
    path === null ? name : `${pathToFileURL(path).href}?changed=${(await stat(path)).mtimeMs}`;
  return ((await import(target)) as { default?: unknown }).default;
}

/** The first line of what went wrong, and where. */
export function importProblem(cause: unknown, path: string | null): string {
  if (!(cause instanceof Error)) return String(cause);
  const { code, path: missing } = cause as NodeJS.ErrnoException;
  if (code === "ENOENT" && missing === path) return "there is no such file";
  const why = `${cause.name === "Error" ? "" : `${cause.name}: `}${cause.message.split("\n")[0]}`;
  // Node does not tell where the syntax is wrong; its own check does.
  if (cause instanceof SyntaxError) return `${why} (\`node --check ${path}\` shows where)`;
  const frames = [...(cause.stack ?? "").matchAll(frame)].map(([, file = "", line = ""]) => ({
    file: file.startsWith("file:") ? fileURLToPath(file) : file,
    line,
  }));
  const place =
    frames.find(({ file }) => file === path) ??
    frames.find(({ file }) => !file.startsWith(ownFolder) && !file.includes("/node_modules/"));
  return place === undefined ? why : `${why} (${place.file}:${place.line})`;
}
