/**
 * Several people may share a session: a group, or the direct chats of one agent. What one of them
 * stops, interrupts or adds to a turn is a turn of their own, so nobody loses an answer to somebody
 * else.
 */
import { type AuthorId, type Route, sameRoute } from "../../domain/message.ts";
import type { PendingMessage } from "../batching/inbox.ts";
import type { AbortOrder } from "../events/events.ts";
import type { Run } from "./context.ts";

/** Messages that wait, or those of a turn, and where they are answered. */
interface Asked {
  readonly route: Route;
  readonly messages: readonly Pick<PendingMessage, "author">[];
}

/** Whether the author has asked one of these; ids of different channels are different people. */
function isOf({ route, messages }: Asked, author: AuthorId, channel: string): boolean {
  return route.channel === channel && messages.some((message) => message.author === author);
}

/** Whether two batches have an author in common. */
export function samePerson(one: Asked, other: Asked): boolean {
  return other.messages.some(({ author }) => isOf(one, author, other.route.channel));
}

/** What a turn answers. */
export const askedBy = ({ batch, order }: Run): Asked => ({ route: order.route, messages: batch });

/**
 * Whether an order to stop reaches these: they are of the person who gives it, or in the same chat
 * as an owner who gives it. Without a person it reaches everything, as do turns that nobody asked
 * for.
 */
export function reaches(from: AbortOrder | undefined, asked: Asked): boolean {
  if (from === undefined || asked.messages.length === 0) return true;
  if (from.owner && sameRoute(from.route, asked.route)) return true;
  return isOf(asked, from.author, from.route.channel);
}
