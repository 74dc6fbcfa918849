/**
 * The state directory
 * ===================
 * Contains journal, token and lock. Write access there gives the rights of an owner, so it must be a
 * directory of this user that no other user may enter. A symbolic link, a foreign owner, open
 * permissions or another machine's journal stop the start instead of being repaired silently.
 */
import { lstat, mkdir, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { unwritable } from "../../adapters/stores/state-lock.ts";
import type { EarshotConfig } from "../../domain/config/index.ts";
import { EarshotError } from "../../domain/errors.ts";
import { foreignMachine, machineName, rememberMachine } from "./machine-id.ts";

/** The directory to use: the option, else EARSHOT_STATE_DIR, else `~/.earshot`; absolute. */
export function stateDirOf(option: string | undefined, env: NodeJS.ProcessEnv): string {
  const named = option ?? env.EARSHOT_STATE_DIR;
  if (named === undefined || named === "") return join(homedir(), ".earshot");
  if (named === "~" || named.startsWith("~/")) return join(homedir(), named.slice(2));
  return resolve(named);
}

/** The file of the journal: `store.path` of the config, with `<state>` for the state directory. */
export function storePathOf({ store }: EarshotConfig, stateDir: string): string {
  return store.path.replaceAll("<state>", stateDir);
}

/** The file of the copy of all nodes' conversations, beside the journal; null: in memory. */
export function mirrorFileOf(config: EarshotConfig, stateDir: string): string | null {
  if (config.store.driver === "memory") return null;
  return `${storePathOf(config, stateDir).replace(/\.db$/, "")}.mirror.db`;
}

/** The file of the search index, beside the journal; null: with a journal in memory it has none. */
export function searchFileOf(config: EarshotConfig, stateDir: string): string | null {
  if (config.store.driver === "memory") return null;
  return `${storePathOf(config, stateDir).replace(/\.db$/, "")}.search.db`;
}

/**
 * Creates the directory if it is missing and checks that only this user may enter it. `machine`: a
 * machine name for tests. @default this machine's
 * @throws EarshotError EAR_STATE_UNSAFE naming the path and the fix; EAR_STORE_FULL.
 */
export async function prepareStateDir(
  folder: string,
  machine?: Promise<string | null>,
): Promise<void> {
  try {
    await makeFolder(folder);
    const name = await (machine ?? machineName());
    await checkStateDir(folder, name);
    await rememberMachine(folder, name);
  } catch (error) {
    if (error instanceof EarshotError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOSPC" || code === "EDQUOT")
      throw unwritable(folder, error as NodeJS.ErrnoException);
    throw unsafe(folder, `it cannot be made or read (${code ?? "unknown"})`, "name another one");
  }
}

/**
 * Makes the folder and those above it that are missing, each at most once: Node's own recursive
 * mkdir never ends where a parent exists and nothing can be made in it (/proc).
 */
async function makeFolder(folder: string): Promise<void> {
  if (await exists(folder)) return;
  const above = dirname(folder);
  if (above !== folder) await makeFolder(above);
  await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
}

const exists = (path: string) =>
  lstat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return false;
      throw error;
    },
  );

/** @throws EarshotError EAR_STATE_UNSAFE; the plain file system error when there is none. */
export async function checkStateDir(folder: string, machine?: string | null): Promise<void> {
  const found = await lstat(folder);
  if (found.isSymbolicLink()) {
    const target = await realpath(folder);
    throw unsafe(folder, "it is a symbolic link", `use its target, --state-dir ${target}`);
  }
  if (!found.isDirectory()) throw unsafe(folder, "it is not a directory", "name another one");
  const me = process.getuid?.();
  if (me !== undefined && found.uid !== me)
    throw unsafe(folder, `it belongs to user ${found.uid}`, "use one that belongs to you");
  const mode = found.mode & 0o777;
  if (process.platform !== "win32" && (mode & 0o077) !== 0)
    throw unsafe(folder, `others may enter it (mode ${mode.toString(8)})`, `chmod 700 ${folder}`);
  const mark = await foreignMachine(folder, machine === undefined ? await machineName() : machine);
  if (mark !== null)
    throw unsafe(
      folder,
      "its journal was written on another machine",
      `stop the earshot there; if the folder was moved here, rm ${mark}`,
    );
}

function unsafe(folder: string, why: string, fix: string): EarshotError {
  return new EarshotError(
    "EAR_STATE_UNSAFE",
    `Cannot use the state directory ${folder}: ${why}. To fix it: ${fix}`,
  );
}
