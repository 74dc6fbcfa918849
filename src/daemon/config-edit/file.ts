/**
 * Writes a config file
 * ====================
 * The one way in which the program changes a file that a person wrote: in one step, so that a crash
 * leaves the old file or the new one; with the old one beside it; and never over a change that
 * another program made meanwhile.
 */
import { randomUUID } from "node:crypto";
import { constants, existsSync } from "node:fs";
import { copyFile, open, realpath, rename, rm, stat } from "node:fs/promises";
import { readConfigText } from "../../adapters/files/config-file.ts";
import { EarshotError } from "../../domain/errors.ts";

/** The content of a file that is not there yet. */
export const emptyConfig = "{\n}\n";

/**
 * Replaces the text of a config file, which is created if it is missing. Links are followed and the
 * mode is kept. Returns the path of the copy of the old file; null: nothing was copied.
 * @throws EarshotError EAR_CONFIG_* when it cannot be read; EAR_USAGE when it changed meanwhile.
 */
export async function changeConfigFile(
  path: string,
  change: (text: string) => string | Promise<string>,
): Promise<string | null> {
  const found = existsSync(path);
  const file = found ? await realpath(path) : path;
  const before = found ? await readConfigText(file) : null;
  const after = await change(before ?? emptyConfig);
  if (after === before) return null;
  const fresh = `${file}.${randomUUID()}.new`;
  try {
    await writeDurably(fresh, after, found ? await stat(file) : null);
    const now = existsSync(file) ? await readConfigText(file) : null;
    if (now !== before)
      throw new EarshotError(
        "EAR_USAGE",
        `Cannot change ${path}: another program changed it meanwhile. Try again`,
      );
    const kept = found ? await copyBeside(file) : null;
    await rename(fresh, file);
    return kept;
  } finally {
    await rm(fresh, { force: true });
  }
}

interface Owned {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

async function writeDurably(path: string, text: string, like: Owned | null): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(text);
    if (like !== null) {
      // Only root may give a file away; it must not lock the owner out of the config.
      if (process.getuid?.() === 0) await file.chown(like.uid, like.gid);
      await file.chmod(like.mode & 0o777);
    }
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Copies the file to a free name, so that no earlier copy is lost. */
async function copyBeside(file: string): Promise<string> {
  for (let count = 1; ; count += 1) {
    const copy = count === 1 ? `${file}.bak` : `${file}.bak${count}`;
    try {
      await copyFile(file, copy, constants.COPYFILE_EXCL);
      return copy;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    }
  }
}
