/** What a config says for a labelled room. */
import { defaultAgentId, type EarshotConfig, resolveSettings } from "../../domain/config/index.ts";
import { formatSessionKey } from "../../domain/key.ts";
import type { LabelledRoom } from "../../domain/quality/labelled-room.ts";
import type { ConversationSettings } from "../../domain/settings.ts";

/** The settings that apply in a room; its name is the chat's id. */
export function settingsIn({ room }: LabelledRoom, config: EarshotConfig): ConversationSettings {
  const agentId = defaultAgentId(config);
  const place = { channel: "labelled", account: "default" };
  const key = formatSessionKey({ agentId, kind: "group", ...place, id: room, thread: null });
  return resolveSettings(config, { agentId, key, ...place, chatKind: "group" }, 0);
}
