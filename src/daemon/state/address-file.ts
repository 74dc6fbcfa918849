/**
 * The address of the running daemon, for commands of the same user: a file beside the token,
 * present while the daemon listens.
 */
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

const addressFileOf = (stateDir: string): string => join(stateDir, "address");

/** `base` is for example http://127.0.0.1:4747. */
export async function writeAddress(stateDir: string, base: string): Promise<void> {
  await writeFile(addressFileOf(stateDir), `${base}\n`, { mode: 0o600 });
}

/** Null where no daemon listens; one that was killed may have left its address. */
export async function readAddress(stateDir: string): Promise<string | null> {
  const base = (await readFile(addressFileOf(stateDir), "utf8").catch(() => "")).trim();
  return /^http:\/\/[^\s/]+$/.test(base) ? base : null;
}

export async function removeAddress(stateDir: string): Promise<void> {
  await rm(addressFileOf(stateDir), { force: true });
}
