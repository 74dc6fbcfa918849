/**
 * Config versions, for reading along
 * ==================================
 * The settings a conversation had when a journalled event came, by the version the event names. A
 * version that this earshot cannot read any more counts as the config in force, as it does for the
 * conversation itself.
 */
import { settingsFor } from "../../actors/host/conversation-settings.ts";
import { type EarshotConfig, parseConfig } from "../../domain/config/index.ts";
import type { Store } from "../../domain/ports/index.ts";
import type { ConversationSettings } from "../../domain/settings.ts";

export interface RoomConfigs {
  /** Reads versions before `settings` asks for them. */
  load(versions: Iterable<number>): Promise<void>;
  settings(key: string, version: number): ConversationSettings;
}

const versionsKept = 16;

export function createRoomConfigs(
  store: Pick<Store, "config">,
  current: () => EarshotConfig,
): RoomConfigs {
  const known = new Map<number, EarshotConfig | null>();
  const read = async (version: number): Promise<EarshotConfig | null> => {
    const json = await store.config(version);
    try {
      return json === null ? null : parseConfig(JSON.parse(json));
    } catch {
      return null;
    }
  };
  return {
    async load(versions) {
      for (const version of new Set(versions)) {
        if (known.has(version)) continue;
        const config = await read(version);
        if (known.size >= versionsKept) known.delete(known.keys().next().value as number);
        known.set(version, config);
      }
    },
    settings: (key, version) => settingsFor(known.get(version) ?? current(), key, version),
  };
}
