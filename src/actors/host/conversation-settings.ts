/**
 * A conversation's settings depend on the config version and its key only: they are resolved again
 * after every passivation and in every replay, with the same result. A key that names no channel
 * (direct chats that share a session) gets the settings of the agent and of the file's top level.
 */
import type { EarshotConfig } from "../../domain/config/index.ts";
// Not through the folder's index: a restarted thread does not need its schemas.
import { resolveSettings, type SettingsScope } from "../../domain/config/resolve/resolve.ts";
import { hasOwnSettings, scopeOfKey } from "../../domain/config/resolve/rooms.ts";
import { parseSessionKey, type SessionKeyParts } from "../../domain/key.ts";
import type { ChatKind } from "../../domain/message.ts";
import type { ConversationSettings } from "../../domain/settings.ts";

/** The settings of `config` for the conversation of `key`. @throws EarshotError EAR_KEY_INVALID */
export function settingsFor(
  config: EarshotConfig,
  key: string,
  version: number,
): ConversationSettings {
  const parts = parseSessionKey(key);
  const scope: SettingsScope = {
    agentId: parts.agentId,
    ...scopeOfKey(parts, key),
    chatKind: chatKindOf(parts),
  };
  return dependOnKey(config, scope)
    ? resolveSettings(config, scope, version)
    : shared(config, scope, version);
}

/** Whether the config names this conversation: its group, its topic, its key or a prefix of it. */
function dependOnKey(config: EarshotConfig, scope: SettingsScope): boolean {
  if (hasOwnSettings(config, scope)) return true;
  return config.session.sendPolicy.rules.some(({ match }) => match.keyPrefix !== undefined);
}

const known = new WeakMap<EarshotConfig, Map<string, ConversationSettings>>();
const knownMax = 1_000;

/**
 * All rooms of an account share one object: one per room would cost as much as a step, and 1 kB.
 */
function shared(
  config: EarshotConfig,
  scope: SettingsScope,
  version: number,
): ConversationSettings {
  let settings = known.get(config);
  if (settings === undefined || settings.size >= knownMax) {
    settings = new Map();
    known.set(config, settings);
  }
  const { agentId, channel, account, chatKind } = scope;
  const name = JSON.stringify([version, agentId, channel, account, chatKind]);
  let found = settings.get(name);
  if (found === undefined) {
    found = resolveSettings(config, scope, version);
    settings.set(name, found);
  }
  return found;
}

function chatKindOf(parts: SessionKeyParts): ChatKind {
  if (parts.kind === "group" || parts.kind === "channel") return parts.kind;
  return "direct";
}
