/**
 * Heartbeat settings
 * ==================
 * Which conversations have heartbeats, how often, and with which model. Read where heartbeats are
 * scheduled and composed, never by a conversation: the schedule does not affect decisions.
 */
import { formatSessionKey } from "../../key.ts";
import type { HeartbeatSettings } from "../conversation/heartbeat.ts";
import { ownValue } from "../conversation/section.ts";
import type { EarshotConfig } from "../daemon/schema.ts";
import { placesOf, type SettingsScope } from "./resolve.ts";

/** The most specific place wins, field by field. */
export function resolveHeartbeat(
  config: EarshotConfig,
  scope: Omit<SettingsScope, "chatKind">,
): HeartbeatSettings {
  const overrides = placesOf(config, scope).flatMap(({ heartbeat }) =>
    Object.entries(heartbeat ?? {}),
  );
  const defined = overrides.filter(([, value]) => value !== undefined);
  return { ...config.heartbeat, ...Object.fromEntries(defined) };
}

/** The key of an agent's main session, which its direct chats share. */
function mainSessionKey({ session }: EarshotConfig, agentId: string): string {
  const mainKey = session.scope === "global" ? "global" : session.mainKey;
  return formatSessionKey({ agentId, kind: "main", mainKey, thread: null });
}

/**
 * The conversations that may have heartbeats: each agent's main session, and those whose own entry
 * sets `everyMs`.
 */
export function heartbeatKeys(config: EarshotConfig): readonly string[] {
  const main = config.agents.list.map(({ id }) => mainSessionKey(config, id));
  const named = Object.keys(config.conversations).filter(
    (key) => ownValue(config.conversations, key)?.heartbeat?.everyMs !== undefined,
  );
  return [...new Set([...main, ...named])];
}
