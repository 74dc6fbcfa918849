/**
 * Files of this daemon
 * ====================
 * Uploads of the web chat and copies of what agents send, each in a folder of the state directory. Where an engine shares
 * conversations between nodes, it shares these files as well.
 */
import { join } from "node:path";
import { createWorkspaces } from "../adapters/files/workspaces.ts";
import { openOutgoingFiles } from "../adapters/media/outgoing-files.ts";
import { openUploads, type Uploads } from "../adapters/media/uploads.ts";
import type { EarshotConfig } from "../domain/config/index.ts";
import type { Clock, Ids, Log, OutgoingFiles } from "../domain/ports/index.ts";
import type { EngineModules } from "./engine/load.ts";
import { sessionFolderOf } from "./state/transcript-dir.ts";

export interface StoredFilesPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly ids: Ids;
  readonly config: () => EarshotConfig;
  readonly stateDir: string;
  /** Where relative folders of agents begin. */
  readonly baseDir: string;
  /** Null: no other node has conversations of this daemon. */
  readonly engine: EngineModules | null;
}

/** Opens both; nothing is read or created before it is needed. */
export function openStoredFiles(ports: StoredFilesPorts): {
  readonly uploads: Uploads;
  readonly outgoing: OutgoingFiles;
} {
  const { clock, ids, config, stateDir, engine } = ports;
  const now = () => clock.now();
  const unique = () => ids.next();
  const shared = engine?.createNodeFiles({ ...ports, unique }) ?? null;
  const uploads = openUploads({
    folder: join(stateDir, "uploads"),
    now,
    unique,
    elsewhere: shared?.elsewhere,
  });
  const outgoing = openOutgoingFiles({
    folder: join(stateDir, "outgoing"),
    stateDir,
    closed: () => config().agents.list.map(({ id }) => sessionFolderOf(config(), stateDir, id)),
    now,
    unique,
    folderOf: createWorkspaces(ports.baseDir, stateDir).folder,
    onDeleted: shared?.outgoingDeleted,
  });
  if (shared === null) return { uploads, outgoing };
  return { uploads: shared.uploads(uploads), outgoing: shared.outgoing(outgoing) };
}
