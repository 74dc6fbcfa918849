/**
 * Syncing the write-ahead log
 * ===========================
 * A commit appends to the log, and a sync of the log makes it and every commit before it durable
 * (sqlite.org/wal.html, "Performance Considerations"). SQLite would sync in each commit, on the main
 * thread. Here it does so in the first one only, with the folder's entry of the new file; from then on
 * the log is synced through a descriptor of our own in a thread of the pool, once for all commits that
 * wait. Checkpoints remain with SQLite, which syncs the log before them and the database after them
 * (`synchronous = NORMAL`).
 *
 * After a failed sync the system may call a page clean that never reached the disk, so another sync
 * proves nothing. A checkpoint does: it writes every page of the log to the database and syncs that.
 */
import { close, fdatasync, openSync } from "node:fs";
import { promisify } from "node:util";
import { EarshotError } from "../../domain/errors.ts";
import type { Database } from "./sqlite-driver.ts";

export interface WalSync {
  /** A commit was written. */
  written(): void;
  /** Resolves when all that was written before is durable. */
  sync(): Promise<void>;
  /** Repairs what a failed sync left. @throws when it cannot. */
  repaired(): void;
  close(): Promise<void>;
}

interface Checkpoint {
  /** 1: somebody reads an older state of the database. */
  readonly busy: number;
}

const closeFile = promisify(close);

/** @throws from `sync` and `repaired`: the errors of the file system and of SQLite. */
export function createWalSync(
  database: Database,
  path: string,
  syncFile: (file: number) => Promise<void> = promisify(fdatasync),
): WalSync {
  // It is there as soon as the database has been read.
  const file = openSync(`${path}-wal`, "r+");
  /** SQLite has synced one commit by itself, with the entry of the new file. */
  let isMade = false;
  let isDirty = false;
  let isDoubtful = false;
  /** A sync under way, which may not cover what is written now. */
  let current: Promise<void> | null = null;

  function repaired(): void {
    if (!isDoubtful) return;
    const { busy } = database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get() as Checkpoint;
    if (busy !== 0)
      throw new EarshotError(
        "EAR_STORE_FAILED",
        "Cannot write the journal: its log could not be synced, and another program reads it",
      );
    isDoubtful = false;
    isDirty = false;
  }

  async function syncOnce(): Promise<void> {
    isDirty = false;
    try {
      await syncFile(file);
    } catch (error) {
      isDoubtful = true;
      throw error;
    }
  }

  async function sync(): Promise<void> {
    while (current !== null) await current.catch(() => undefined);
    repaired();
    if (!isDirty) return;
    current = syncOnce();
    try {
      await current;
    } finally {
      current = null;
    }
  }

  return {
    written() {
      isDirty = isMade;
      if (isMade) return;
      isMade = true;
      database.exec("PRAGMA synchronous = NORMAL");
    },
    sync,
    repaired,
    async close() {
      try {
        // Closing the database syncs it only where nobody else has it open.
        await sync();
      } finally {
        await closeFile(file);
      }
    },
  };
}
