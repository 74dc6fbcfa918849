/** The system message of an agent where a route leads. */
import type { ConfiguredAgent } from "../../domain/config/index.ts";
import type { Route } from "../../domain/message.ts";
import type { ConversationSettings } from "../../domain/settings.ts";
import { composeSystem } from "../../machines/prompt/system.ts";

/** The same for the turns of a chat, their summaries and their side questions. */
export function systemMessage(
  agent: ConfiguredAgent,
  { channel, chat }: Pick<Route, "channel" | "chat">,
  { silent, promptHeadings, promptSystem }: ConversationSettings,
): string {
  return composeSystem({
    agent,
    kind: chat.kind,
    channel,
    silentToken: silent.token,
    headings: promptHeadings,
    mode: promptSystem,
  });
}
