// What the entry scripts share: install when needed, build when stale. Plain JavaScript on purpose: it
// runs before anything is installed.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** Runs a command, its output going to stderr so that stdout stays the program's own. */
export function run(command, args, options = {}) {
  const done = spawnSync(command, args, {
    cwd: root,
    stdio: ["ignore", 2, 2],
    ...options,
  });
  if (done.error) throw done.error;
  return done.status ?? 1;
}

const modified = (path) => (existsSync(path) ? statSync(path).mtimeMs : 0);

function newest(folder) {
  let latest = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    latest = Math.max(latest, entry.isDirectory() ? newest(path) : modified(path));
  }
  return latest;
}

/** Installs exactly what package-lock.json says, if that has not been done yet. */
export function ensureInstalled() {
  const mark = join(root, "node_modules", ".package-lock.json");
  if (modified(mark) >= modified(join(root, "package-lock.json")) && existsSync(mark)) return;
  process.stderr.write("earshot: installing dependencies (npm ci)\n");
  const status = run(process.platform === "win32" ? "npm.cmd" : "npm", ["ci", "--ignore-scripts"]);
  if (status !== 0) {
    process.stderr.write("earshot: npm ci failed; see above. Is the npm registry reachable?\n");
    process.exit(status);
  }
}

/** Builds dist/ if a source is newer than it. */
export function ensureBuilt() {
  const built = modified(join(root, "dist", ".built"));
  const sources = Math.max(
    newest(join(root, "src")),
    newest(join(root, "web")),
    modified(join(root, "tsconfig.json")),
    modified(join(root, "scripts", "bundle.mjs")),
    modified(join(root, "package-lock.json")),
  );
  if (built >= sources) return;
  process.stderr.write("earshot: building\n");
  const status = run(process.execPath, [join(root, "scripts", "build.mjs")]);
  if (status !== 0) {
    process.stderr.write("earshot: the build failed; see above\n");
    process.exit(status);
  }
}
