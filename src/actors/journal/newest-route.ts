/**
 * Where somebody last spoke
 * =========================
 * What is said to a conversation without an answer to anybody goes to the place of its newest message. That is read
 * from the journal, backwards and in growing strides, as most conversations have a message among their last rows.
 */
import { type Route, routeOf } from "../../domain/message.ts";
import type { EventRow, Store } from "../../domain/ports/index.ts";
import { decodeEvent } from "../protocol/event-codec.ts";

/** Journal rows in the first look for the place; each further look takes four times as many. */
const firstStride = 256;
/** Rows are recognised by their beginning: `type` comes first. */
const messagePrefix = '{"type":"message.received"';

/** Where the newest message of a conversation came from; null: there is none, or none is kept any more. */
export async function newestRoute(
  store: Pick<Store, "tail" | "lastSeqOf">,
  conv: number,
): Promise<Route | null> {
  let upTo = (await store.lastSeqOf(conv)) + 1;
  for (let stride = firstStride; upTo > 1; stride *= 4) {
    const from = Math.max(0, upTo - 1 - stride);
    const rows = await store.tail(conv, from, upTo);
    for (const row of rows.toReversed()) {
      const route = row.body.startsWith(messagePrefix) ? routeIn(row) : null;
      if (route !== null) return route;
    }
    upTo = from + 1;
  }
  return null;
}

function routeIn(row: EventRow): Route | null {
  try {
    const event = decodeEvent(row);
    return event.type === "message.received" ? routeOf(event.message) : null;
  } catch {
    // It holds no message: the conversation puts it in quarantine and says so.
    return null;
  }
}
