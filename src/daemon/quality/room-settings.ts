/** What a config says for a labelled room. */
import { defaultAgentId, type EarshotConfig, resolveSettings } from "../../domain/config/index.ts";
import { formatSessionKey } from "../../domain/key.ts";
import type { LabelledRoom } from "../../domain/quality/labelled-room.ts";
import type { ConversationSettings } from "../../domain/settings.ts";

/**
 * The settings that apply in a room; its name is the chat's id. The names that the config adds to the
 * agent's belong to the only agent of a room: where several play in turn, each has its name alone.
 */
export function settingsIn(room: LabelledRoom, config: EarshotConfig): ConversationSettings {
  const agentId = defaultAgentId(config);
  const place = { channel: "labelled", account: "default" };
  const { room: id } = room;
  const key = formatSessionKey({ agentId, kind: "group", ...place, id, thread: null });
  const settings = resolveSettings(config, { agentId, key, ...place, chatKind: "group" }, 0);
  const aliases = room.agents.length === 1 ? addedNames(config) : [];
  return { ...settings, engagement: { ...settings.engagement, aliases } };
}

/** The names that the config adds to the name of the agent that answers by default. */
export function addedNames(config: EarshotConfig): readonly string[] {
  const agentId = defaultAgentId(config);
  return config.agents.list.find(({ id }) => id === agentId)?.aliases ?? [];
}
