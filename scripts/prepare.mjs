// What the entry scripts share: install when needed, build when stale. Plain JavaScript on purpose: it
// runs before anything is installed.
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
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

/**
 * A folder with one file, which is named after who has it. It comes into place with its file by a rename, which
 * fails where a folder with a file is. Of an owner that was killed, that file is deleted and then the empty folder:
 * one that does that late, when another has taken its place, deletes nothing of the other.
 */
const lock = join(root, ".preparing.lock");
const ownName = `${process.pid}-${Date.now()}`;
let isOurs = false;

function isRunning(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === "EPERM";
  }
}

/** Does it; false if it fails with one of these codes, which is expected where several want the lock. */
function attempt(codes, change) {
  try {
    change();
    return true;
  } catch (error) {
    if (!codes.includes(error.code)) throw error;
    return false;
  }
}

/** The name of who has the lock, or null. */
function ownerOfLock() {
  let owner = null;
  attempt(["ENOENT"], () => {
    [owner = null] = readdirSync(lock);
  });
  return owner;
}

/** Takes the lock away from this owner, if it still has it; with null the empty folder. */
function release(owner) {
  if (owner !== null) attempt(["ENOENT"], () => unlinkSync(join(lock, owner)));
  attempt(["ENOENT", "ENOTEMPTY", "EEXIST"], () => rmdirSync(lock));
}

function unlock() {
  isOurs = false;
  process.off("exit", unlock);
  release(ownName);
}

/** Takes the lock, if nobody has it, and answers how to give it back. */
function tryLock() {
  const owner = ownerOfLock();
  if (owner !== null) {
    const pid = Number.parseInt(owner, 10);
    // This command has it already, or the one that started it: `npm start`, which builds.
    if (isOurs || pid === process.ppid) return () => undefined;
    if (pid !== process.pid && isRunning(pid)) return null;
  }
  release(owner);
  const staged = `${lock}.${ownName}`;
  mkdirSync(staged);
  writeFileSync(join(staged, ownName), "");
  const isThere = process.platform === "win32" ? ["EPERM", "EEXIST"] : ["ENOTEMPTY", "EEXIST"];
  isOurs = attempt(isThere, () => renameSync(staged, lock));
  if (isOurs) {
    process.once("exit", unlock);
    return unlock;
  }
  rmSync(staged, { recursive: true });
  return null;
}

/**
 * Commands that start in one checkout at the same time, such as two daemons on one machine, would install or
 * build into each other's files: each waits here until the one before it is done, and answers how to go on.
 */
export function waitForTurn() {
  for (let waits = 0; ; waits += 1) {
    const unlock = tryLock();
    if (unlock !== null) return unlock;
    const owner = waits === 5 ? ownerOfLock() : null;
    if (owner !== null) {
      const who = `process ${Number.parseInt(owner, 10)}, which installs or builds here`;
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
    modified(join(root, "scripts", "build.mjs")),
    newest(join(root, "scripts", "build")),
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
