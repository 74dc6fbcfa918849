/**
 * Watches files by looking at them again and again, which sees every way in which editors, mounts and
 * deployments replace a file; events of the file system do not. What a file is at the first look counts
 * as a change: between that look and an earlier read, a change would have no other sign.
 */
import type { BigIntStats } from "node:fs";
import { stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

export interface FileWatchOptions {
  /** Between two looks, in ms. */
  readonly intervalMs: number;
  /** How long the files must stay the same before `changed` is called, in ms. */
  readonly settleMs: number;
  /** Reads the files. One call at a time; it also finds out that a file cannot be read. */
  readonly changed: () => Promise<void>;
}

export interface FileWatch {
  /** Resolves when the last call of `changed` has ended. */
  close(): Promise<void>;
}

/** Follows links. A file that is missing changes nothing until there is one again. */
export function watchFiles(
  paths: readonly string[],
  { intervalMs, settleMs, changed }: FileWatchOptions,
): FileWatch {
  const stop = new AbortController();
  const { signal } = stop;
  const pause = async (ms: number) => {
    try {
      await sleep(ms, undefined, { signal });
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  };
  const follow = async () => {
    let found = paths.map(() => "");
    let taken = found;
    while (!signal.aborted) {
      const before = found;
      found = await Promise.all(
        paths.map(async (path, n) => (await markOf(path)) ?? before[n] ?? ""),
      );
      if (isSame(found, before) && !isSame(found, taken)) {
        taken = found;
        await changed();
      }
      await pause(isSame(found, taken) ? intervalMs : settleMs);
    }
  };
  const following = follow();
  return {
    async close() {
      stop.abort();
      await following;
    },
  };
}

const isSame = (some: readonly string[], others: readonly string[]) =>
  some.every((one, n) => one === others[n]);

/** What differs when a file was changed or replaced; null: there is none. */
async function markOf(path: string): Promise<string | null> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs }: BigIntStats = await stat(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(" ");
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? null : code;
  }
}
