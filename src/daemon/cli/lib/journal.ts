/** The journal of a state directory where no daemon is running, read under the directory's lock. */
import { access } from "node:fs/promises";
import { readConfigSections } from "../../../adapters/files/config-file.ts";
import { openMirrorStore } from "../../../adapters/stores/mirror-store.ts";
import { openSqliteStore } from "../../../adapters/stores/sqlite-store.ts";
import { lockStateDir } from "../../../adapters/stores/state-lock.ts";
import { defaultConfig } from "../../../domain/config/index.ts";
import { EarshotError } from "../../../domain/errors.ts";
import type { Store } from "../../../domain/ports/index.ts";
import { configPathOf } from "../../config/config-source.ts";
import { mirrorFileOf, storePathOf } from "../../state/state-dir.ts";
import { type StateOptions, stateDirFor } from "./command.ts";

/**
 * Opens the journal for as long as `read` runs.
 * @param purpose What the command cannot do without it, as "explain a message".
 * @throws EarshotError EAR_USAGE when there is none; EAR_STATE_LOCKED.
 */
export async function withJournal<Result>(
  options: StateOptions & { readonly config?: string },
  purpose: string,
  read: (store: Store) => Promise<Result>,
): Promise<Result> {
  const stateDir = stateDirFor(options);
  const file = configPathOf(options.config, process.env, stateDir);
  const where = file === null ? defaultConfig : await readConfigSections(file, ["store", "engine"]);
  // With an engine, the journal of a node has nothing of a conversation.
  const copy = where.engine.kind === "pool" ? null : mirrorFileOf(where, stateDir);
  const path = copy ?? storePathOf(where, stateDir);
  const exists = await access(path).then(
    () => true,
    () => false,
  );
  if (!exists)
    throw new EarshotError(
      "EAR_USAGE",
      `Cannot ${purpose}: there is no journal at ${path}. Name another state directory with ` +
        "--state-dir, or the config with --config",
    );
  const lock = await lockStateDir(stateDir);
  try {
    const store = copy === null ? await openSqliteStore({ path }) : openMirrorStore(copy);
    try {
      return await read(store);
    } finally {
      await store.close();
    }
  } finally {
    await lock.release();
  }
}
