/**
 * Transcripts on disk
 * ===================
 * One folder per agent, one JSON Lines file per session, one index. Names are generated ids, and
 * other names are refused, so no text from a room becomes part of a path. Folders and files are
 * accessible only to their owner, and links are not followed.
 *
 * Writes are not synced: the store is, and lines lost in a crash are added again from it.
 */
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from "node:fs";
import { lstat, mkdir, open, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { EarshotError } from "../../domain/errors.ts";
import type { SessionFile, SessionFiles } from "../../domain/ports/index.ts";

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDONLY, O_RDWR, O_TRUNC, O_WRONLY } = constants;
const agentIdForm = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/u;
const sessionIdForm = /^[0-9A-Za-z]{1,64}$/u;
/** Bytes read from a file's end; doubled until they hold a whole line. */
const tailBytes = 65_536;
const headBytes = 512;

/** `folderOf` returns an agent's folder, which may change with the config. */
export function createSessionFiles(folderOf: (agentId: string) => string): SessionFiles {
  const made = new Set<string>();

  async function folder(agentId: string): Promise<string> {
    if (!agentIdForm.test(agentId)) throw unsafe("an agent's id", "it is malformed");
    const path = folderOf(agentId);
    if (made.has(path)) return path;
    await makeFolder(path);
    made.add(path);
    return path;
  }
  /** Somebody may have removed the folder since it was made: then it is made again. */
  async function making<Answer>(agentId: string, make: () => Promise<Answer>): Promise<Answer> {
    try {
      return await make();
    } catch (error) {
      if (!isMissing(error)) throw error;
      made.delete(folderOf(agentId));
      return make();
    }
  }
  async function pathOf({ agentId, sessionId }: SessionFile): Promise<string> {
    if (!sessionIdForm.test(sessionId)) throw unsafe("a session's id", "it is malformed");
    return join(await folder(agentId), `${sessionId}.jsonl`);
  }

  return {
    lastLine: (file, most) => withStoreErrors(async () => lastLineOf(await pathOf(file), most)),
    append: (file, lines) =>
      withStoreErrors(() =>
        making(file.agentId, async () => appendTo(await pathOf(file), `${lines.join("\n")}\n`)),
      ),
    writeIndex: (agentId, parts) =>
      withStoreErrors(async () => {
        const path = join(await folder(agentId), "index.json");
        const fresh = `${path}.new`;
        const handle = await making(agentId, async () => {
          await folder(agentId);
          return open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600);
        });
        try {
          checkOwn(fresh, await handle.stat(), 0o600);
          for await (const part of parts) await handle.appendFile(part);
        } finally {
          await handle.close();
        }
        await rename(fresh, path);
      }),
    indexHead: (agentId) =>
      withStoreErrors(async () => {
        const path = join(await folder(agentId), "index.json");
        try {
          return withFile(path, O_RDONLY, headOf);
        } catch (error) {
          if (isMissing(error)) return null;
          throw error;
        }
      }),
  };
}

function headOf(file: number): string {
  const buffer = Buffer.alloc(headBytes);
  const read = readSync(file, buffer, 0, headBytes, 0);
  return buffer.toString("utf8", 0, read).split("\n")[0] ?? "";
}

function appendTo(path: string, text: string): void {
  withFile(path, O_WRONLY | O_CREAT | O_APPEND, (file, size) => {
    const bytes = Buffer.from(text);
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
    } catch (error) {
      ftruncateSync(file, size);
      throw error;
    }
  });
}

/** The number of the last whole line up to `most`; what follows it is cut off. */
function lastLineOf(path: string, most = Number.POSITIVE_INFINITY): number {
  const find = (file: number, size: number): number => {
    let end = size;
    for (;;) {
      const { from, line } = lineBefore(file, end);
      const id = line === null ? 0 : numberIn(line);
      if (line === null || (id !== null && id <= most)) {
        if (end < size) ftruncateSync(file, end);
        return id ?? 0;
      }
      end = from;
    }
  };
  try {
    return withFile(path, O_RDWR, find);
  } catch (error) {
    if (isMissing(error)) return 0;
    throw error;
  }
}

/** The last line that ends before `end`, or a torn one; null at the file's beginning. */
function lineBefore(
  file: number,
  end: number,
): { readonly from: number; readonly line: string | null } {
  if (end === 0) return { from: 0, line: null };
  for (let bytes = tailBytes; ; bytes *= 2) {
    const start = Math.max(0, end - bytes);
    const buffer = Buffer.alloc(end - start);
    readSync(file, buffer, 0, end - start, start);
    const whole = buffer[buffer.length - 1] === 0x0a;
    const before = buffer.lastIndexOf(0x0a, buffer.length - (whole ? 2 : 1));
    if (before === -1 && start > 0) continue;
    const from = start + before + 1;
    // A line without its end is torn, whatever it contains.
    const line = whole ? buffer.toString("utf8", before + 1, buffer.length - 1) : "";
    return { from, line };
  }
}

function numberIn(line: string): number | null {
  try {
    const { id } = JSON.parse(line) as { id?: unknown };
    return typeof id === "number" && Number.isSafeInteger(id) ? id : null;
  } catch {
    return null;
  }
}

/**
 * Opens a file briefly, on this thread: a write to the system's cache takes less time than handing
 * it to another thread.
 */
function withFile<Answer>(
  path: string,
  flags: number,
  work: (file: number, size: number) => Answer,
): Answer {
  const file = openSync(path, flags | O_NOFOLLOW, 0o600);
  try {
    const found = fstatSync(file);
    checkOwn(path, found, 0o600);
    return work(file, found.size);
  } finally {
    closeSync(file);
  }
}

/**
 * Creates the folder and its missing parents, each at most once (Node's recursive mkdir may never
 * return where nothing can be created), and checks that only this user can enter it.
 */
async function makeFolder(path: string): Promise<void> {
  await makeMissing(path);
  const found = await lstat(path);
  if (!found.isDirectory()) throw unsafe(path, "it is not a folder");
  checkOwn(path, found, 0o700);
}

async function makeMissing(path: string): Promise<void> {
  const there = await lstat(path).then(
    () => true,
    (error: unknown) => {
      if (isMissing(error)) return false;
      throw error;
    },
  );
  if (there) return;
  const above = dirname(path);
  if (above !== path) await makeMissing(above);
  await mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
}

function checkOwn(
  path: string,
  { uid, mode }: { readonly uid: number; readonly mode: number },
  most: number,
): void {
  const me = process.getuid?.();
  if (me !== undefined && uid !== me) throw unsafe(path, `it belongs to user ${uid}`);
  if (process.platform !== "win32" && (mode & 0o777 & ~most) !== 0)
    throw unsafe(path, `others may use it (mode ${(mode & 0o777).toString(8)})`);
}

function unsafe(what: string, why: string): EarshotError {
  return new EarshotError(
    "EAR_STATE_UNSAFE",
    `Cannot write a transcript to ${what}: ${why}. Fix it; earshot then continues by itself`,
  );
}

const isMissing = (error: unknown) => (error as NodeJS.ErrnoException).code === "ENOENT";

/** Converts file system errors to an EarshotError with a fix. */
async function withStoreErrors<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof EarshotError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    const full = code === "ENOSPC" || code === "EDQUOT";
    throw new EarshotError(
      full ? "EAR_STORE_FULL" : "EAR_STORE_FAILED",
      full
        ? "Cannot write a transcript: the disk is full. Free some space; earshot then continues by itself"
        : `Cannot write a transcript: the file system failed (${code ?? message})`,
      { cause: error },
    );
  }
}
