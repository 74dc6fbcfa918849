/**
 * Reactions that wait
 * ===================
 * A reaction that is removed before it was added is never added. One that may have been added, by
 * this process or the one before, is always removed, however long the platform was unreachable.
 */
import type { Delivery, ReactionBody } from "./row-body.ts";
import type { QueuedDelivery } from "./send-queues.ts";

export interface WaitingReactions {
  /** A row joins its queue. `found`: at start; the process before may have tried it. */
  added(item: QueuedDelivery, found: boolean): void;
  ended(item: QueuedDelivery): void;
  /**
   * The waiting reaction that a row removes. `unseen`: it was never tried, so there is nothing to
   * remove.
   */
  undoneBy(delivery: Delivery): { readonly item: QueuedDelivery; readonly unseen: boolean } | null;
}

const placeOf = (body: ReactionBody) => {
  const { route, message, emoji } = body;
  return JSON.stringify([route.channel, route.account, route.chat.id, message, emoji]);
};

export function createWaitingReactions(): WaitingReactions {
  const waiting = new Map<string, QueuedDelivery>();
  const found = new WeakSet<QueuedDelivery>();
  return {
    added(item, wasFound) {
      const { row, body } = item.delivery;
      if (row.kind !== "react") return;
      waiting.set(placeOf(body as ReactionBody), item);
      if (wasFound) found.add(item);
    },
    ended(item) {
      const { row, body } = item.delivery;
      if (row.kind !== "react") return;
      const place = placeOf(body as ReactionBody);
      if (waiting.get(place) === item) waiting.delete(place);
    },
    undoneBy({ row, body }) {
      if (row.kind !== "unreact") return null;
      const item = waiting.get(placeOf(body as ReactionBody));
      if (item === undefined || item.delivery.row.state === "sending") return null;
      return { item, unseen: item.delivery.row.attempts === 0 && !found.has(item) };
    },
  };
}
