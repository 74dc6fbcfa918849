/**
 * An agent in a room
 * ==================
 * The configured agent with what the levels of a room change: instructions are added, the model and
 * the list of tools are replaced.
 */
import { parseSessionKey } from "../../key.ts";
import { agentTools } from "../daemon/agents.ts";
import type { RoomLevel } from "../daemon/rooms.ts";
import type { EarshotConfig } from "../daemon/schema.ts";
import { agentOf, type ConfiguredAgent } from "./agent.ts";
import { roomLevels, scopeOfKey } from "./rooms.ts";

/**
 * The agent as it is in the room of a key.
 * @throws EarshotError EAR_ASSERT when the config has no such agent.
 */
export function agentIn(config: EarshotConfig, agentId: string, key: string): ConfiguredAgent {
  const agent = agentOf(config, agentId);
  const levels = roomLevels(config, scopeOfKey(parseSessionKey(key), key));
  let { model, tools } = agent;
  for (const { level } of levels) {
    if (level.model !== undefined) model = level.model;
    tools = toolsOf(tools, level.tools);
  }
  const system = [agent.system, ...levels.map(({ level }) => level.system ?? "")]
    .filter((text) => text !== "")
    .join("\n\n");
  return { ...agent, system, model, tools };
}

/** A level's list replaces the one above it; what a level denies stays away below it. */
function toolsOf(above: ConfiguredAgent["tools"], own: RoomLevel["tools"]): typeof above {
  if (own === undefined) return above;
  const offered = own.allow ?? above ?? agentTools;
  const denied: readonly string[] = own.deny ?? [];
  return offered.filter((name) => !denied.includes(name));
}
