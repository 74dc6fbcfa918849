/**
 * What is left of a stopped turn
 * ==============================
 * Nothing more of it is sent. But a message that the room sees growing, or may be about to see, is
 * completed: nobody can unsee it. What completes it is never sent as a message of its own.
 */
import type { OutboxRow } from "../../domain/ports/index.ts";
import { type Delivery, deliveryOf, isOnlyEdit, onlyAsEdit } from "./row-body.ts";
import type { QueuedDelivery } from "./send-queues.ts";

type Queued = ReadonlyMap<string, QueuedDelivery>;

/** Changes what waits to complete a message of the turn; returns those rows. */
export function keepCompleting(queued: Queued, turnId: string): readonly OutboxRow[] {
  const rows: OutboxRow[] = [];
  for (const item of queued.values()) {
    const { row } = item.delivery;
    if (row.turnId !== turnId || !completesSeen(queued, item.delivery)) continue;
    item.delivery = deliveryOf(onlyAsEdit(row));
    rows.push(item.delivery.row);
  }
  return rows;
}

function completesSeen(queued: Queued, { row, body }: Delivery): boolean {
  if (row.kind !== "edit" || !("edits" in body) || isOnlyEdit(body)) return false;
  const begun = queued.get(body.edits ?? "")?.delivery.row;
  return begun === undefined || begun.state === "sending";
}
