/**
 * One message, several agents
 * ===========================
 * What each agent of a broadcast group is told besides the message: that it calls others by name,
 * and who answers before and after it. Worked out once, when the message is admitted, from the
 * config of that moment; it is journalled with the message and never worked out again.
 */
import { agentOf, type EarshotConfig } from "../../domain/config/index.ts";
import { hash52 } from "../../domain/key.ts";
import type { Inbound } from "../../domain/message.ts";
import { type Called, narrowTo } from "../../machines/engagement/called-agents.ts";
import type { MessageReceived } from "../../machines/events/events.ts";
import { isSequential, type ResolvedRoute } from "../../machines/routing/routing.ts";

/** What one agent is told of the others. */
export type Share = Pick<MessageReceived, "namesOnly" | "relay">;

/** The agents of these routes under their names. */
export function calledBy(
  config: EarshotConfig,
  routes: readonly Pick<ResolvedRoute, "agentId">[],
): readonly Called[] {
  return routes.map(({ agentId }) => agentOf(config, agentId));
}

/**
 * The share of each route, in order. `words` are those that are left for the agents, `identity`
 * tells the message from all others.
 */
export function sharesOf(
  message: Inbound,
  words: string,
  identity: string,
  routes: readonly ResolvedRoute[],
  { config }: { readonly config: EarshotConfig },
): readonly Share[] {
  if (routes.length < 2) return routes.map(() => ({}));
  const agents = calledBy(config, routes);
  const called = narrowTo(words, message, agents);
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
