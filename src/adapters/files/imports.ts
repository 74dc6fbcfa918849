/**
 * Importing configured modules
 * ============================
 * Loads what a config names: a path, relative to the config's folder, or an installed package. A
 * file's URL includes its modification time, because Node caches a failed module for the life of
 * the process: once the file is fixed, the next attempt loads it.
 */
import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** Frames of this folder are not the cause of a module's error. */
const ownFolder = fileURLToPath(new URL(".", import.meta.url));
/** File and line of a stack frame, without the query of the URL. */
const frame = /(file:\/\/[^\s?()]+?|\/[^\s?()]+?)(?:\?[^\s:()]*)?:(\d+):\d+/g;

/** The path of a module name; null for a package. */
export function modulePath(name: string, baseDir: string): string | null {
  const isPath = /^(\.{0,2}\/|~\/|[A-Za-z]:\\)/.test(name);
  return isPath ? resolve(baseDir, name.replace(/^~(?=\/)/, homedir())) : null;
}

/**
 * Imports a module's default export.
 * @throws whatever the module throws; `importProblem` describes it.
 */
export async function importDefault(name: string, baseDir: string): Promise<unknown> {
  const path = modulePath(name, baseDir);
  const target =
    path === null ? name : `${pathToFileURL(path).href}?changed=${(await stat(path)).mtimeMs}`;
  return ((await import(target)) as { default?: unknown }).default;
}

/** The first line of an import error, and its place. */
export function importProblem(cause: unknown, path: string | null): string {
  if (!(cause instanceof Error)) return String(cause);
  const { code, path: missing } = cause as NodeJS.ErrnoException;
  if (code === "ENOENT" && missing === path) return "there is no such file";
  const why = `${cause.name === "Error" ? "" : `${cause.name}: `}${cause.message.split("\n")[0]}`;
  // Node does not report the position of a syntax error; its own check does.
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
