/**
 * The store of a daemon, as configured. The time of the process goes on from the newest event in it,
 * if somebody has set the machine's clock back since: what is due there waits no longer than before.
 */
import { newestTime } from "../../actors/journal/newest-time.ts";
import { openMirrorStore } from "../../adapters/stores/mirror-store.ts";
import { openSqliteStore, openTemporaryStore } from "../../adapters/stores/sqlite-store.ts";
import { goOnFromStored } from "../../adapters/system/clock.ts";
import type { EarshotConfig } from "../../domain/config/index.ts";
import type { MirrorStore, Store } from "../../domain/ports/index.ts";
import { mirrorFileOf, storePathOf } from "./state-dir.ts";

/** @throws EarshotError EAR_STORE_VERSION, EAR_STATE_UNSAFE, EAR_STORE_FAILED. */
export async function openStore(config: EarshotConfig, stateDir: string): Promise<Store> {
  if (config.store.driver === "memory") return openTemporaryStore();
  const store = await openSqliteStore({ path: storePathOf(config, stateDir) });
  goOnFromStored(await newestTime(store));
  return store;
}

/** The copy of the conversations of all nodes; null: this daemon keeps none. @throws EarshotError as `openStore` */
export function openMirror(config: EarshotConfig, stateDir: string): MirrorStore | null {
  const { kind, mirror } = config.engine;
  return kind === "pool" || !mirror ? null : openMirrorStore(mirrorFileOf(config, stateDir));
}
