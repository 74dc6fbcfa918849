/**
 * Every journalled event names the config that was current when it was admitted, so a conversation
 * replays to the same state later. A version is stored once, without secrets; the running version
 * has them in memory. Settings are resolved once per version and conversation, in a bounded cache.
 */
import { LRUCache } from "lru-cache";
import { type EarshotConfig, parseConfig, withoutSecrets } from "../../domain/config/index.ts";
import { EarshotError } from "../../domain/errors.ts";
import { hash52 } from "../../domain/key.ts";
import { atMost } from "../../domain/limits.ts";
import type { ConfigWrite, Store } from "../../domain/ports/index.ts";
import type { ConversationSettings } from "../../domain/settings.ts";
import { settingsFor } from "../host/conversation-settings.ts";

/** Settings of conversations under the config versions that journal rows name. */
export interface ConfigHistory {
  /** Reads versions before `settingsAt` asks for them. */
  load(versions: Iterable<number>): Promise<void>;
  settingsAt(key: string, version: number): ConversationSettings;
}

export interface Configs extends ConfigHistory {
  /** The config for everything admitted now. */
  current(): EarshotConfig;
  version(): number;
  /** A version that was loaded. @throws EarshotError EAR_ASSERT */
  get(version: number): EarshotConfig;
  /** Settings of a conversation under the current config. */
  settings(key: string): ConversationSettings;
  /**
   * Makes a config current. Returns what must be stored before the first event that names the new
   * version, or null when nothing but secrets changed.
   */
  next(config: EarshotConfig): ConfigWrite | null;
}

const settingsCachedMax = 10_000;
/** Versions that a reader besides the runtime caches. */
const versionsCachedMax = 16;

/** The versions of a store, for a reader; `current` replaces an unreadable one. */
export function createConfigHistory(
  store: Pick<Store, "config">,
  current: () => EarshotConfig,
): ConfigHistory {
  const known = new LRUCache<number, EarshotConfig>({ max: versionsCachedMax });
  return {
    async load(versions) {
      for (const version of new Set(versions))
        if (!known.has(version))
          known.set(version, parsedOr(current(), await store.config(version)));
    },
    settingsAt: (key, version) => settingsFor(known.get(version) ?? current(), key, version),
  };
}

/**
 * Finds the version of `config` in the store, or the next free one (then `pending` is to be
 * stored). `isShared`: other nodes have versions, too, and the same one means the same config.
 */
export async function openConfigs(
  store: Store,
  config: EarshotConfig,
  { isShared = false }: { readonly isShared?: boolean } = {},
): Promise<{ configs: Configs; pending: ConfigWrite | null }> {
  const latest = await store.latestConfig();
  const next = isShared ? hash52 : (_json: string, last: number) => last + 1;
  const configs = createConfigs(store, latest, config, next);
  return { configs, pending: configs.next(config) };
}

function createConfigs(
  store: Store,
  latest: { readonly version: number; readonly json: string } | null,
  first: EarshotConfig,
  versionOf: (json: string, last: number) => number,
): Configs {
  const known = new Map<number, EarshotConfig>();
  const cache = new LRUCache<string, ConversationSettings>(atMost(settingsCachedMax));
  let version = latest?.version ?? 0;
  let json = latest?.json ?? "";
  let current = first;
  // The last version of an earlier process was made of another config than `first`.
  let holdsLast = false;

  function get(wanted: number): EarshotConfig {
    const config = wanted === version ? current : known.get(wanted);
    if (config === undefined) {
      throw new EarshotError(
        "EAR_ASSERT",
        `Cannot use a config version that was not loaded: received ${wanted}`,
      );
    }
    return config;
  }

  return {
    current: () => current,
    version: () => version,
    get,
    settingsAt: (key, wanted) => settingsFor(get(wanted), key, wanted),
    async load(versions) {
      for (const wanted of new Set(versions)) {
        if (wanted === version || known.has(wanted)) continue;
        known.set(wanted, parsedOr(current, await store.config(wanted)));
      }
    },
    settings(key) {
      const cached = cache.get(key);
      if (cached?.version === version) return cached;
      const settings = settingsFor(current, key, version);
      cache.set(key, settings);
      return settings;
    },
    next(config) {
      const written = JSON.stringify(withoutSecrets(config));
      const held = holdsLast;
      holdsLast = true;
      if (written === json) {
        current = config;
        cache.clear();
        return null;
      }
      if (held) known.set(version, current);
      version = versionOf(written, version);
      json = written;
      current = config;
      return { kind: "config", version, json };
    },
  };
}

/**
 * A stored version, or `current` if this earshot cannot read it: its events are then decided by
 * today's rules.
 */
function parsedOr(current: EarshotConfig, stored: string | null): EarshotConfig {
  try {
    return stored === null ? current : parseConfig(JSON.parse(stored));
  } catch {
    return current;
  }
}
