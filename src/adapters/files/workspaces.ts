/**
 * Agents' folders
 * ===============
 * Reads a file of an agent's folder when it is asked for, so a change counts at once. A link is not
 * followed and only a plain file of a bounded size is read: the agent may write here, and what it
 * writes must not lead the daemon elsewhere or fill its memory.
 */
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { EarshotError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import type { Workspaces } from "../../domain/ports/index.ts";

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** `base` is where relative folders start. */
export function createWorkspaces(base: string): Workspaces {
  return {
    async read(workspace, file) {
      const folder = resolve(base, workspace.replace(/^~(?=$|\/)/, homedir()));
      const path = join(folder, file);
      try {
        // Opening a pipe would wait for a writer.
        const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
        return await readWhole(handle, path).finally(() => handle.close());
      } catch (error) {
        if (error instanceof EarshotError) throw error;
        const { code } = error as NodeJS.ErrnoException;
        if (code === "ENOENT" || code === "ENOTDIR") return null;
        if (code === "ELOOP") throw unsafe(path, "it is a symbolic link");
        throw new EarshotError(
          "EAR_STORE_FAILED",
          `Cannot read ${path} as the file system said: ${code ?? "unknown error"}`,
          { cause: error },
        );
      }
    },
  };
}

async function readWhole(handle: FileHandle, path: string): Promise<string> {
  if (!(await handle.stat()).isFile()) throw unsafe(path, "it is no plain file");
  const most = limits.heartbeatBytesMax;
  // One more than is allowed: a file that grows meanwhile is noticed, too.
  const buffer = Buffer.alloc(most + 1);
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  if (length > most) throw unsafe(path, `it has more than ${most} bytes`);
  return buffer.toString("utf8", 0, length).replace(/^\ufeff/, "");
}

const unsafe = (path: string, why: string) =>
  new EarshotError("EAR_STATE_UNSAFE", `Cannot read ${path} as ${why}: put a plain file there`);
