/**
 * Routing of the web chat: its agents and sessions, by the same rules as for every other message.
 */
import { webChatId } from "../../adapters/channels/webchat/channel.ts";
import { agentOf, type EarshotConfig } from "../../domain/config/index.ts";
import { inboundSchema } from "../../domain/message.ts";
import { resolveRoute } from "../../machines/routing/routing.ts";

const anyMessage = inboundSchema.parse({
  channel: "webchat",
  chat: { id: webChatId, kind: "direct" },
  id: "any",
  author: { id: "owner" },
});

export interface WebchatRoute {
  readonly keys: readonly string[];
  readonly agent: { readonly id: string; readonly name: string };
}

const known = new WeakMap<EarshotConfig, WebchatRoute>();

/** The route under a config, computed once for each config. */
export function webchatRoute(config: EarshotConfig): WebchatRoute {
  let route = known.get(config);
  if (route === undefined) {
    const routes = resolveRoute(config, anyMessage);
    const { id, name } = agentOf(config, routes[0]?.agentId ?? "main");
    route = { keys: routes.map(({ sessionKey }) => sessionKey), agent: { id, name } };
    known.set(config, route);
  }
  return route;
}
