/**
 * What tests leave in the temporary folder lies in a folder of its own, which goes with the run. Its
 * name is short, so that paths still fit into lines of 80 columns.
 *
 * It is in memory where there is room: a store syncs each commit, and on a disk the tests of a run wait for some
 * hundred thousand of them. That bytes reach a disk shows only when its power goes, which no test here does. The full
 * rounds stay on the disk, and so does a run with a TMPDIR of its own.
 */
import { spawnSync } from "node:child_process";
import {
  accessSync,
  constants,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { running } from "./agents/alive.ts";

const memory = "/dev/shm";
/** Many times what a run keeps there at once (a tenth of a gigabyte), in bytes. */
const roomMin = 2e9;

/** Whether files can be kept in memory, and run from there. */
function fitsInMemory(): boolean {
  let probe = "";
  try {
    const { bavail, bsize } = statfsSync(memory);
    if (bavail * bsize < roomMin) return false;
    probe = mkdtempSync(join(memory, "es-"));
    const program = join(probe, "program");
    writeFileSync(program, "", { mode: 0o700 });
    accessSync(program, constants.X_OK);
    return true;
  } catch {
    // Not there, full, or not for programs: the disk does.
    return false;
  } finally {
    if (probe !== "") rmSync(probe, { recursive: true, force: true });
  }
}

/** Removes a folder with all that is in it, also where a run that was killed has left a disk mounted. */
function remove(folder: string): void {
  const all = { recursive: true, force: true, maxRetries: 3 } as const;
  try {
    rmSync(folder, all);
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    if (code !== "EBUSY" || path === undefined) throw error;
    spawnSync("umount", ["-l", path]);
    rmSync(folder, all);
  }
}

/** A folder named by this process. What runs that were killed have left there would hold memory for ever: it goes. */
function memoryFolder(): string {
  for (const name of readdirSync(memory)) {
    const [, pid] = /^es-(\d+)$/u.exec(name) ?? [];
    if (pid !== undefined && (Number(pid) === process.pid || !running(Number(pid))))
      remove(join(memory, name));
  }
  const folder = join(memory, `es-${process.pid}`);
  mkdirSync(folder, { mode: 0o700 });
  return folder;
}

export function setup(): () => void {
  const { TMPDIR: before, EARSHOT_ROUNDS: asked } = process.env;
  const inMemory = before === undefined && asked !== "full" && fitsInMemory();
  const folder = inMemory ? memoryFolder() : mkdtempSync(join(tmpdir(), "es-"));
  // The processes of the tests, and theirs, are started with it.
  process.env.TMPDIR = folder;
  return () => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    remove(folder);
  };
}
