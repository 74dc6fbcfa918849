/**
 * Fellows
 * =======
 * Agents of one earshot in one room hear each other, and never trigger each other. What one of them
 * has said is told to the conversations of the others as an event of its own: a line with its name
 * for their next turn, without a decision, and nothing that a loop guard counts. It is journalled in
 * the commit that marks the words as delivered, under the name of that delivery, so it comes once,
 * whatever dies; words that never reached the room are told to nobody.
 *
 * Where the agents speak through accounts of their own, the platform shows the words of one to the
 * other: those are known by the author's id and go the same way.
 */

import type { EarshotConfig } from "../../domain/config/index.ts";
import { agentOf } from "../../domain/config/index.ts";
import type { Inbound, Millis } from "../../domain/message.ts";
import type { OutboxRow } from "../../domain/ports/index.ts";
import { hasSharedPlaces, resolveRoute } from "../../machines/routing/routing.ts";
import { type Delivery, isText, type TextBody } from "../outbox/row-body.ts";
import { conversationOf, type NewEvent, newEvent } from "../protocol/event-codec.ts";

export interface SiblingContext {
  readonly config: EarshotConfig;
  readonly cfg: number;
  readonly now: Millis;
}

/** What the other agents of the place are told of words that were delivered. */
export function forSiblings(
  delivery: Delivery,
  agentId: string,
  context: SiblingContext,
): NewEvent[] {
  const { row, body } = delivery;
  if (!isText(delivery) || !isAnswer(row, delivery.body)) return [];
  const { config, cfg, now } = context;
  if (!hasSharedPlaces(config)) return [];
  const routes = resolveRoute(config, body.route);
  if (routes.length < 2) return [];
  const message = messageOf(row, delivery.body, agentId, config);
  const event = { type: "fellow.spoke", at: now, seq: 0, message } as const;
  return routes.flatMap(({ sessionKey }) =>
    sessionKey === row.key
      ? []
      : [newEvent(conversationOf(sessionKey), cfg, event, { identity: `fellow|${row.id}` })],
  );
}

/** Words of an agent that stay as they are: no line of the runtime, nothing that still grows. */
const isAnswer = ({ state, kind }: OutboxRow, { draft, aside }: TextBody): boolean =>
  state === "sent" && kind !== "notice" && draft === undefined && aside === undefined;

function messageOf(
  row: OutboxRow,
  { route, text, replyTo }: TextBody,
  agentId: string,
  config: EarshotConfig,
): Inbound {
  const [id = row.id] = JSON.parse(row.messageIds ?? "[]") as string[];
  const isListed = config.agents.list.some((agent) => agent.id === agentId);
  const name = isListed ? agentOf(config, agentId).name : agentId;
  return {
    ...route,
    id,
    author: { id: `agent:${agentId}`, name, isBot: true, isSelf: false },
    text,
    mentions: [],
    mentionsEveryone: false,
    replyTo: replyTo === null ? null : { id: replyTo },
    attachments: [],
    explicitOnly: false,
  };
}
