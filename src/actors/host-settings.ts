/**
 * Settings of a conversation, from its key
 * ========================================
 * A conversation's settings may depend on nothing but the config version and its key: they are
 * resolved again after every passivation and in every replay, and must come out the same. A key
 * that names no channel (the direct chats that share a session) gets what the agent and the file's
 * top level say.
 */
import type { EarshotConfig } from "../domain/config/index.ts";
// Not through the folder's door: a thread that starts again has no use for the schemas behind it.
import { resolveSettings } from "../domain/config/resolve.ts";
import { defaultAccount, parseSessionKey, type SessionKeyParts } from "../domain/key.ts";
import type { ChatKind } from "../domain/message.ts";
import type { ConversationSettings } from "../domain/settings.ts";

/** What `config` says for the conversation of `key`. @throws EarshotError EAR_KEY_INVALID */
export function settingsFor(
  config: EarshotConfig,
  key: string,
  version: number,
): ConversationSettings {
  const parts = parseSessionKey(key);
  const scope = {
    agentId: parts.agentId,
    key,
    channel: "channel" in parts ? parts.channel : "",
    account: "account" in parts ? parts.account : defaultAccount,
    chatKind: chatKindOf(parts),
  };
  return resolveSettings(config, scope, version);
}

function chatKindOf(parts: SessionKeyParts): ChatKind {
  if (parts.kind === "group" || parts.kind === "channel") return parts.kind;
  return "direct";
}
