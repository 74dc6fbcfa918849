/**
 * Reactions that wait
 * ===================
 * A reaction that is removed before it was added is never added. One that may have been added, by
 * this process or the one before, is always removed, however long the platform was unreachable.
 *
 * Several agents may react to one message through one account, which shows that once: it stays
 * until the last of them removes it.
 */
import { LRUCache } from "lru-cache";
import { atMost, limits } from "../../domain/limits.ts";
import type { OutboxRow } from "../../domain/ports/index.ts";
import type { Delivery, ReactionBody } from "./row-body.ts";
import type { QueuedDelivery } from "./send-queues.ts";

const reactionTriesMax = 3;
/** A missing reaction does no harm; one that stays suggests that an answer is on its way. */
export const isTiring = ({ kind, attempts }: OutboxRow): boolean =>
  kind === "react" && attempts >= reactionTriesMax;

export interface WaitingReactions {
  /** A row joins its queue. `found`: at start; the process before may have tried it. */
  added(item: QueuedDelivery, found: boolean): void;
  ended(item: QueuedDelivery): void;
  /** What a row removes without a call of the platform; null: nothing. */
  undoneBy(delivery: Delivery): Undone | null;
}

interface Undone {
  /** The waiting reaction that is not added any more. */
  readonly item: QueuedDelivery | null;
  /** Why there is nothing to remove; null: there is. */
  readonly why: string | null;
}

export const unseen = "taken off before it was put";
const shared = "another agent has put it, too";

const placeOf = (body: ReactionBody) => {
  const { route, message, emoji } = body;
  return JSON.stringify([route.channel, route.account, route.chat.id, message, emoji]);
};
const nameOf = ({ row, body }: Delivery) => `${row.conv} ${placeOf(body as ReactionBody)}`;

/** Whose reaction is there or on its way. */
interface Held {
  readonly convs: Set<number>;
  /** One of them has left it to the others to remove it. */
  isOwed: boolean;
}

export function createWaitingReactions(): WaitingReactions {
  const waiting = new Map<string, QueuedDelivery>();
  const found = new WeakSet<QueuedDelivery>();
  const holders = new LRUCache<string, Held>(atMost(limits.heldReactionsMax));

  function release({ row, body }: Delivery): Held | undefined {
    const place = placeOf(body as ReactionBody);
    const held = holders.get(place);
    held?.convs.delete(row.conv);
    if (held?.convs.size === 0) holders.delete(place);
    return held;
  }

  return {
    added(item, wasFound) {
      const { row, body } = item.delivery;
      if (row.kind !== "react") return;
      waiting.set(nameOf(item.delivery), item);
      const place = placeOf(body as ReactionBody);
      const held = holders.get(place) ?? { convs: new Set(), isOwed: false };
      held.convs.add(row.conv);
      holders.set(place, held);
      if (wasFound) found.add(item);
    },
    ended(item) {
      const { row } = item.delivery;
      if (row.kind !== "react") return;
      const name = nameOf(item.delivery);
      if (waiting.get(name) === item) waiting.delete(name);
      if (row.state !== "sent") release(item.delivery);
    },
    undoneBy(delivery) {
      if (delivery.row.kind !== "unreact") return null;
      const held = release(delivery);
      const one = waiting.get(nameOf(delivery));
      const item = one === undefined || one.delivery.row.state === "sending" ? null : one;
      const isUnseen = item !== null && item.delivery.row.attempts === 0 && !found.has(item);
      if (held !== undefined && held.convs.size > 0) {
        held.isOwed ||= !isUnseen;
        return { item, why: shared };
      }
      const why = isUnseen && held?.isOwed !== true ? unseen : null;
      return item === null ? null : { item, why };
    },
  };
}
