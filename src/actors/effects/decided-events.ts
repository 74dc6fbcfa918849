/**
 * The events behind decisions that were made while a conversation caught up with its journal, and
 * the messages that judges answer about.
 */
import type { Store } from "../../domain/ports/index.ts";
import { isSame, nameOfMessage } from "../../machines/batching/chats.ts";
import { decodeEvent } from "../protocol/event-codec.ts";
import type { EffectPorts } from "./effect-executor.ts";

type Found = Pick<EffectPorts, "eventOf" | "messageOf">;

export function decidedEvents(store: Pick<Store, "events" | "eventsByMessage">): Found {
  return {
    async eventOf(seq) {
      const [row] = await store.events([seq]);
      const event = row === undefined ? null : decodeEvent(row);
      return event?.type === "message.received" || event?.type === "judge.answered" ? event : null;
    },
    async messageOf(conv, asked) {
      const rows = await store.eventsByMessage(asked.id);
      for (const row of rows.filter((one) => one.conv === conv).reverse()) {
        const event = decodeEvent(row);
        if (event.type !== "message.received") continue;
        if (isSame(asked, nameOfMessage(event.message))) return event;
      }
      return null;
    },
  };
}
