/**
 * Transcripts on disk
 * ===================
 * One folder an agent, one JSON Lines file a session, one index. Names are made from ids of ours;
 * what is not of their form is refused, so no word from a room can become a part of a path. Folders
 * are entered and files read by their owner alone, and a link that somebody laid in the way is not
 * followed.
 *
 * Writes are not synced: the store is, and what a file lost in a crash is added again from there.
 */
import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { EarshotError } from "../domain/errors.ts";
import type { SessionFile, SessionFiles } from "../domain/ports.ts";

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDONLY, O_RDWR, O_TRUNC, O_WRONLY } = constants;
const agentIdForm = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/u;
const sessionIdForm = /^[0-9A-Za-z]{1,64}$/u;
/** How much of a file's end is read at once; doubled while it holds no whole line. */
const tailBytes = 65_536;
const headBytes = 512;

/** `folderOf` names an agent's folder; it may change with the config. */
export function createSessionFiles(folderOf: (agentId: string) => string): SessionFiles {
  const made = new Set<string>();

  async function folder(agentId: string): Promise<string> {
    if (!agentIdForm.test(agentId)) throw unsafe("an agent's id", "it is not of the usual form");
    const path = folderOf(agentId);
    if (!made.has(path)) await makeFolder(path);
    made.add(path);
    return path;
  }
  async function pathOf({ agentId, sessionId }: SessionFile): Promise<string> {
    if (!sessionIdForm.test(sessionId))
      throw unsafe("a session's id", "it is not of the usual form");
    return join(await folder(agentId), `${sessionId}.jsonl`);
  }

  return {
    lastLine: (file) => told(async () => lastLineOf(await pathOf(file))),
    append: (file, lines) =>
      told(async () => appendTo(await pathOf(file), `${lines.join("\n")}\n`)),
    writeIndex: (agentId, parts) =>
      told(async () => {
        const path = join(await folder(agentId), "index.json");
        const fresh = `${path}.new`;
        await withFile(fresh, O_WRONLY | O_CREAT | O_TRUNC, async (handle) => {
          for await (const part of parts) await handle.appendFile(part);
        });
        await rename(fresh, path);
      }),
    indexHead: (agentId) =>
      told(async () => {
        const path = join(await folder(agentId), "index.json");
        return withFile(path, O_RDONLY, headOf).catch((error: unknown) => {
          if (isMissing(error)) return null;
          throw error;
        });
      }),
  };
}

async function headOf(handle: FileHandle): Promise<string> {
  const { bytesRead, buffer } = await handle.read(Buffer.alloc(headBytes), 0, headBytes, 0);
  return buffer.toString("utf8", 0, bytesRead).split("\n")[0] ?? "";
}

async function appendTo(path: string, text: string): Promise<void> {
  await withFile(path, O_WRONLY | O_CREAT | O_APPEND, async (handle) => {
    const { size } = await handle.stat();
    try {
      await handle.appendFile(text);
    } catch (error) {
      await handle.truncate(size);
      throw error;
    }
  });
}

/** The number in the last line that is whole; what follows it is cut off. */
async function lastLineOf(path: string): Promise<number> {
  const find = async (handle: FileHandle): Promise<number> => {
    const { size } = await handle.stat();
    let end = size;
    for (;;) {
      const { from, line } = await lineBefore(handle, end);
      const id = line === null ? 0 : numberIn(line);
      if (line === null || id !== null) {
        if (end < size) await handle.truncate(end);
        return id ?? 0;
      }
      end = from;
    }
  };
  return withFile(path, O_RDWR, find).catch((error: unknown) => {
    if (isMissing(error)) return 0;
    throw error;
  });
}

/** The last line that ends before `end`, or what is torn there; null at the file's beginning. */
async function lineBefore(
  handle: FileHandle,
  end: number,
): Promise<{ readonly from: number; readonly line: string | null }> {
  if (end === 0) return { from: 0, line: null };
  for (let bytes = tailBytes; ; bytes *= 2) {
    const start = Math.max(0, end - bytes);
    const { buffer } = await handle.read(Buffer.alloc(end - start), 0, end - start, start);
    const whole = buffer[buffer.length - 1] === 0x0a;
    const before = buffer.lastIndexOf(0x0a, buffer.length - (whole ? 2 : 1));
    if (before === -1 && start > 0) continue;
    const from = start + before + 1;
    // A line without its end is torn, whatever it says.
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

async function withFile<Answer>(
  path: string,
  flags: number,
  work: (handle: FileHandle) => Promise<Answer>,
): Promise<Answer> {
  const handle = await open(path, flags | O_NOFOLLOW, 0o600);
  try {
    await checkOwn(path, await handle.stat(), 0o600);
    return await work(handle);
  } finally {
    await handle.close();
  }
}

/**
 * Makes the folder and those above it that are missing, each at most once (Node's own recursive
 * mkdir never ends where nothing can be made), and checks that it is ours alone.
 */
async function makeFolder(path: string): Promise<void> {
  await makeMissing(path);
  const found = await lstat(path);
  if (!found.isDirectory()) throw unsafe(path, "it is a link or no folder");
  await checkOwn(path, found, 0o700);
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

async function checkOwn(
  path: string,
  { uid, mode }: { readonly uid: number; readonly mode: number },
  most: number,
): Promise<void> {
  const me = process.getuid?.();
  if (me !== undefined && uid !== me) throw unsafe(path, `it belongs to user ${uid}`);
  if (process.platform !== "win32" && (mode & 0o777 & ~most) !== 0)
    throw unsafe(path, `others may use it (mode ${(mode & 0o777).toString(8)})`);
}

function unsafe(what: string, why: string): EarshotError {
  return new EarshotError(
    "EAR_STATE_UNSAFE",
    `Cannot keep a transcript in ${what} as ${why}: mend it, earshot goes on by itself`,
  );
}

const isMissing = (error: unknown) => (error as NodeJS.ErrnoException).code === "ENOENT";

/** Gives whatever the file system says a code that says what to do. */
async function told<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof EarshotError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    const full = code === "ENOSPC" || code === "EDQUOT";
    throw new EarshotError(
      full ? "EAR_STORE_FULL" : "EAR_STORE_FAILED",
      full
        ? "Cannot write a transcript as the disk is full: free some space, earshot goes on by itself"
        : `Cannot write a transcript as the file system said: ${code ?? message}`,
      { cause: error },
    );
  }
}
