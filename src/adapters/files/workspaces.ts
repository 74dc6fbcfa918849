/**
 * Agents' folders
 * ===============
 * Reads a file of an agent's folder on demand, so a change takes effect immediately. Links are not
 * followed, and only a plain file of bounded size is read: the agent may write here, and what it
 * writes must not redirect the daemon or fill its memory.
 */
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { EarshotError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import type { Workspaces } from "../../domain/ports/index.ts";

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** Relative folders start at `base`; `<state>` is the state directory. */
export function createWorkspaces(base: string, stateDir: string): Workspaces {
  const folder = (workspace: string) =>
    resolve(
      base,
      workspace.replace(/^~(?=$|\/)/, homedir).replace("<state>", () => stateDir),
    );
  return {
    folder,
    async read(workspace, file) {
      const path = join(folder(workspace), file);
      try {
        // O_NONBLOCK, because opening a pipe would wait for a writer.
        const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
        return await readWhole(handle, path).finally(() => handle.close());
      } catch (error) {
        if (error instanceof EarshotError) throw error;
        const { code } = error as NodeJS.ErrnoException;
        if (code === "ENOENT" || code === "ENOTDIR") return null;
        if (code === "ELOOP") throw unsafe(path, "it is a symbolic link");
        throw new EarshotError(
          "EAR_STORE_FAILED",
          `Cannot read ${path}: the file system failed (${code ?? "unknown error"})`,
          { cause: error },
        );
      }
    },
  };
}

async function readWhole(handle: FileHandle, path: string): Promise<string> {
  if (!(await handle.stat()).isFile()) throw unsafe(path, "it is not a plain file");
  const most = limits.heartbeatBytesMax;
  // One byte more than allowed, so that a file that grows meanwhile is detected.
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
  new EarshotError("EAR_STATE_UNSAFE", `Cannot read ${path}: ${why}. Replace it by a plain file`);
