/**
 * One message, several agents
 * ===========================
 * What each agent of a broadcast group gets with the message: the names of the agents that it
 * calls, and who answers before and after. It is computed once, at admission, from the config of
 * that moment, and is journalled with the message.
 */
import { agentOf, type EarshotConfig } from "../../domain/config/index.ts";
import { hash52 } from "../../domain/key.ts";
import type { Inbound } from "../../domain/message.ts";
import { type Called, narrowTo } from "../../machines/engagement/called-agents.ts";
import type { MessageReceived } from "../../machines/events/events.ts";
import { isSequential, type ResolvedRoute } from "../../machines/routing/routing.ts";

/** What one agent learns about the others. */
export type Share = Pick<MessageReceived, "namesOnly" | "relay">;

const none: readonly Share[] = [];

/** The agents of these routes, by name. */
export function calledBy(
  config: EarshotConfig,
  routes: readonly Pick<ResolvedRoute, "agentId">[],
): readonly Called[] {
  return routes.map(({ agentId }) => agentOf(config, agentId));
}

/**
 * The share of each route, in order; none where one agent hears it. `text` is what is left for the agents after commands are taken
 * out; `identity` is the same for every delivery of the message.
 */
export function sharesOf(
  message: Inbound,
  text: string,
  identity: string,
  routes: readonly ResolvedRoute[],
  { config }: { readonly config: EarshotConfig },
): readonly Share[] {
  if (routes.length < 2) return none;
  const agents = calledBy(config, routes);
  const called = narrowTo(text, message, agents);
  const answering = called ?? routes.map((_, place) => place);
  const inTurn = isSequential(config) && answering.length > 1;
  const keys = answering.map((place) => routes[place]?.sessionKey ?? "");
  const names = answering.map((place) => agents[place]?.name ?? "");
  const token = String(hash52(identity));
  return routes.map((_, at) => {
    const place = answering.indexOf(at);
    if (place === -1) return { namesOnly: names };
    return inTurn ? { relay: { token, place, keys } } : {};
  });
}
