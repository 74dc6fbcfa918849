/**
 * Who is woken, how often, and with which model
 * =============================================
 * Read where heartbeats are timed and composed, never by a conversation: when the next one falls due
 * changes nothing that was said.
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
  const said = placesOf(config, scope).flatMap(({ heartbeat }) => Object.entries(heartbeat ?? {}));
  const given = said.filter(([, value]) => value !== undefined);
  return { ...config.heartbeat, ...Object.fromEntries(given) };
}

/** The key of the session in which an agent is woken: the one its direct chats share. */
function mainSessionKey({ session }: EarshotConfig, agentId: string): string {
  const mainKey = session.scope === "global" ? "global" : session.mainKey;
  return formatSessionKey({ agentId, kind: "main", mainKey, thread: null });
}

/**
 * The conversations in which the config may wake an agent: each agent's main session, and those
 * whose own entry says how often.
 */
export function heartbeatKeys(config: EarshotConfig): readonly string[] {
  const main = config.agents.list.map(({ id }) => mainSessionKey(config, id));
  const named = Object.keys(config.conversations).filter(
    (key) => ownValue(config.conversations, key)?.heartbeat?.everyMs !== undefined,
  );
  return [...new Set([...main, ...named])];
}
