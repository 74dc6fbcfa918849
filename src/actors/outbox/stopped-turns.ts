/**
 * What is left of a stopped turn
 * ==============================
 * Nothing more of it is sent: not what waits, and not once more what is on its way and does not arrive. Its rows
 * say so from the commit of the stop on, so a crash changes nothing. But a message that the room sees growing, or
 * may be about to see, is completed: nobody can unsee it. What completes it is never sent as a message of its own.
 */
import type { OutboxRow } from "../../domain/ports/index.ts";
import {
  asDiscarded,
  type Delivery,
  deliveryOf,
  isOnlyEdit,
  isText,
  onlyAsEdit,
} from "./row-body.ts";
import type { QueuedDelivery } from "./send-queues.ts";

type Item = Pick<QueuedDelivery, "delivery">;

/**
 * Changes what is open of the turn; returns those rows, to be stored with the stop.
 * @param planned rows that are stored with it and not queued yet
 */
export function markStopped(
  queued: ReadonlyMap<string, Item>,
  planned: readonly OutboxRow[],
  turnId: string,
  why: string,
): readonly OutboxRow[] {
  const items = new Map<string, Item>(queued);
  for (const row of planned) items.set(row.id, { delivery: deliveryOf(row) });
  const rows: OutboxRow[] = [];
  for (const item of items.values()) {
    const { row, body } = item.delivery;
    if (row.turnId !== turnId || !isText(item.delivery)) continue;
    if ("stopped" in body || "discarded" in body) continue;
    const completes = completesSeen(items, item.delivery);
    item.delivery = deliveryOf(completes ? onlyAsEdit(row) : asDiscarded(row, why));
    rows.push(item.delivery.row);
  }
  return rows;
}

function completesSeen(items: ReadonlyMap<string, Item>, { row, body }: Delivery): boolean {
  if (row.kind !== "edit" || !("edits" in body) || isOnlyEdit(body)) return false;
  const begun = items.get(body.edits ?? "")?.delivery.row;
  return begun === undefined || begun.state === "sending";
}
