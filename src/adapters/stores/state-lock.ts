/**
 * One daemon per state directory: two writers of one journal would both send its outbox. The lock
 * is a file with the owner's pid, the start time of that process and the boot id of the machine, so
 * a pid that has been reused since does not keep the directory locked.
 *
 * To look at the lock and to replace it is one step: meanwhile a second file is held by a lock of
 * the system, which ends with the process. Otherwise a process that is held up in between would
 * remove the lock that another one has just taken.
 */
import { randomUUID } from "node:crypto";
import { closeSync, openSync, readFileSync } from "node:fs";
import { link, readFile, unlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { EarshotError } from "../../domain/errors.ts";
import { loadDriver } from "./sqlite-driver.ts";

const ownerSchema = z.object({
  pid: z.number().int().positive(),
  /** Start time of the process in the system's own unit; null where it is unknown. */
  started: z.string().nullable(),
  boot: z.string().nullable(),
  nonce: z.string(),
});
type Owner = z.infer<typeof ownerSchema>;

export interface StateLock {
  readonly path: string;
  /** Releases the directory. Leaves the lock alone if another process owns it now. */
  release(): Promise<void>;
}

const sqliteBusy = 5;
/** A step takes a few ms; a directory where it takes longer than this is in use. */
const stepMsMax = 10_000;
const pollMs = 10;

/**
 * Locks a state directory for this process. A lock of a process that is gone is taken over.
 * @throws EarshotError EAR_STATE_LOCKED naming the other daemon's pid.
 */
export async function lockStateDir(folder: string): Promise<StateLock> {
  const path = join(folder, "lock");
  const mine: Owner = {
    pid: process.pid,
    started: startOf(process.pid),
    boot: bootId(),
    nonce: randomUUID(),
  };
  const endStep = await beginStep(folder);
  if (endStep === null) throw locked(folder, (await read(path))?.pid ?? 0);
  try {
    const owner = await read(path);
    if (owner !== null && isAlive(owner)) throw locked(folder, owner.pid);
    await unlink(path).catch(unlessGone);
    if (!(await create(path, mine))) throw locked(folder, (await read(path))?.pid ?? 0);
    return { path, release: () => free(path, mine) };
  } finally {
    endStep();
  }
}

/** Waits until no other process takes this lock. Null: one does, for too long. */
async function beginStep(folder: string): Promise<(() => void) | null> {
  const path = join(folder, "lock.db");
  const { DatabaseSync } = loadDriver();
  try {
    // Only once: closing it again would end the locks that this process has on it (fcntl(2)).
    closeSync(openSync(path, "ax", 0o600));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EEXIST") throw unwritable(folder, error as NodeJS.ErrnoException);
  }
  // SQLite's own lock on the file; nothing is ever written into it.
  const database = opened(() => new DatabaseSync(path), path);
  for (let waitedMs = 0; waitedMs < stepMsMax; waitedMs += pollMs) {
    try {
      database.exec("BEGIN EXCLUSIVE");
      return () => database.close();
    } catch (error) {
      if (((error as { errcode?: number }).errcode ?? 0) % 256 !== sqliteBusy) {
        database.close();
        throw unusable(path, error);
      }
    }
    await sleep(pollMs);
  }
  database.close();
  return null;
}

function opened<Opened>(open: () => Opened, path: string): Opened {
  try {
    return open();
  } catch (error) {
    throw unusable(path, error);
  }
}

const unusable = (path: string, cause: unknown) =>
  new EarshotError(
    "EAR_STORE_FAILED",
    `Cannot lock the state directory with ${path}: ${(cause as Error).message}. It must be a file that this user ` +
      "may write; it has no content, and may be removed while no earshot runs here",
    { cause },
  );

function locked(folder: string, pid: number): EarshotError {
  return new EarshotError(
    "EAR_STATE_LOCKED",
    `Cannot use ${folder}: another earshot is running on it (pid ${pid}). Stop that one, or give ` +
      "this one a directory of its own with --state-dir.",
  );
}

/** Why nothing can be made in a state directory. */
export function unwritable(folder: string, cause: NodeJS.ErrnoException): EarshotError {
  const full = cause.code === "ENOSPC" || cause.code === "EDQUOT";
  return new EarshotError(
    full ? "EAR_STORE_FULL" : "EAR_STORE_FAILED",
    full
      ? `Cannot write into ${folder}: the disk is full. Free some space, then start again.`
      : `Cannot write into ${folder}: the system refuses it (${cause.code ?? cause.name}). Make it ` +
          "writable, or use another state directory.",
    { cause },
  );
}

/** Created whole or not at all: a half-written lock would look like one after a crash. */
async function create(path: string, owner: Owner): Promise<boolean> {
  const draft = `${path}.${owner.nonce}`;
  try {
    await writeFile(draft, JSON.stringify(owner), { mode: 0o600, flag: "wx" });
  } catch (error) {
    // On a full disk the file is created, but stays empty.
    await unlink(draft).catch(() => undefined);
    throw unwritable(dirname(path), error as NodeJS.ErrnoException);
  }
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    await unlink(draft);
  }
}

/** Null: gone, or unreadable, as after a crash during the write. */
async function read(path: string): Promise<Owner | null> {
  try {
    return ownerSchema.parse(JSON.parse(await readFile(path, "utf8")));
  } catch {
    return null;
  }
}

async function free(path: string, mine: Owner): Promise<void> {
  if ((await read(path))?.nonce === mine.nonce) await unlink(path).catch(unlessGone);
}

function unlessGone(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}

function isAlive(owner: Owner): boolean {
  if (owner.boot !== bootId()) return false;
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  return owner.started === null || startOf(owner.pid) === owner.started;
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

const bootId = (): string | null => readText("/proc/sys/kernel/random/boot_id")?.trim() ?? null;

/** Field 22 of /proc/<pid>/stat (proc(5)); the name in field 2 may itself hold spaces. */
function startOf(pid: number): string | null {
  const stat = readText(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
}
