// What the entry scripts share: install when needed, build when stale. Plain JavaScript on purpose: it
// runs before anything is installed.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
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

const lock = join(root, ".preparing");

function isRunning(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === "EPERM";
  }
}

/** Takes the lock, if nobody has it, and answers how to give it back. */
function tryLock() {
  try {
    writeFileSync(lock, String(process.pid), { flag: "wx" });
    const unlock = () => rmSync(lock, { force: true });
    process.once("exit", unlock);
    return () => {
      process.off("exit", unlock);
      unlock();
    };
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
  }
  const owner = ownerOfLock();
  // The command that started this one has it: `npm start`, which builds.
  if ([process.pid, process.ppid].includes(owner)) return () => undefined;
  // One that was killed left it. An owner that has not written its number yet is there.
  if (owner !== 0 && !isRunning(owner)) rmSync(lock, { force: true });
  return null;
}

function ownerOfLock() {
  try {
    return Number(readFileSync(lock, "utf8"));
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
    return 0;
  }
}

/**
 * Commands that start in one checkout at the same time, such as two daemons on one machine, would install or
 * build into each other's files: each waits here until the one before it is done, and answers how to go on.
 */
export function waitForTurn() {
  for (let waits = 0; ; waits += 1) {
    const unlock = tryLock();
    if (unlock !== null) return unlock;
    if (waits === 5) {
      const who = `process ${ownerOfLock()}, which installs or builds here`;
      process.stderr.write(`earshot: waits for ${who} (if it does not: delete ${lock})\n`);
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  }
}

function once(isDone, work) {
  if (isDone()) return;
  const unlock = waitForTurn();
  if (!isDone()) work();
  unlock();
}

/** Installs exactly what package-lock.json says, if that has not been done yet. */
export function ensureInstalled() {
  once(isInstalled, install);
}

function isInstalled() {
  const mark = join(root, "node_modules", ".package-lock.json");
  return existsSync(mark) && modified(mark) >= modified(join(root, "package-lock.json"));
}

function install() {
  process.stderr.write("earshot: installing dependencies (npm ci)\n");
  const status = run(process.platform === "win32" ? "npm.cmd" : "npm", ["ci", "--ignore-scripts"]);
  if (status !== 0) {
    process.stderr.write("earshot: npm ci failed; see above. Is the npm registry reachable?\n");
    process.exit(status);
  }
}

/** Builds dist/ if a source is newer than it. */
export function ensureBuilt() {
  once(isBuilt, build);
}

function isBuilt() {
  const built = modified(join(root, "dist", ".built"));
  const sources = Math.max(
    newest(join(root, "src")),
    newest(join(root, "web")),
    modified(join(root, "tsconfig.json")),
    modified(join(root, "scripts", "bundle.mjs")),
    modified(join(root, "package-lock.json")),
  );
  return built >= sources;
}

function build() {
  process.stderr.write("earshot: building\n");
  const status = run(process.execPath, [join(root, "scripts", "build.mjs")]);
  if (status !== 0) {
    process.stderr.write("earshot: the build failed; see above\n");
    process.exit(status);
  }
}
