/**
 * Agents of one earshot in one room see each other's answers and never trigger each other. An
 * answer of one is sent to the conversations of the others as an event of its own: a line with its
 * name for their next turn, without a decision, and not counted by a loop guard. The event is
 * journalled in the commit that marks the delivery as sent, with an identity made of the delivery's
 * id, so it is stored exactly once, also after a crash. An answer that did not reach the room is
 * not passed on.
 *
 * Where the agents speak through accounts of their own, the platform delivers the messages of one
 * to the others: they are recognised by the author's id and handled the same way.
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

/** The events for the other agents of the chat after a delivery. */
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

/** An answer of an agent in its final form: no notice of the runtime, no growing draft. */
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
