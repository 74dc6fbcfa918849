/**
 * The end of a row: committed together with the event for its conversation, then published. A later end (one in
 * doubt that was sent again) is another event.
 */
import { timeOfId } from "../../domain/key.ts";
import { noConversation, type OutboxRow } from "../../domain/ports/index.ts";
import type { SendStatus } from "../../domain/stream.ts";
import { newEvent } from "../protocol/event-codec.ts";
import {
  type Delivery,
  deliveryWith,
  isText,
  type ReactionBody,
  reactionEnded,
  reportOf,
  sendLine,
} from "./row-body.ts";
import type { SentTexts } from "./sent-texts.ts";
import type { OutboxPorts } from "./types.ts";

type EndPorts = Pick<
  OutboxPorts,
  "clock" | "journal" | "events" | "cfg" | "onPoint" | "onSettled"
> & { readonly sent: SentTexts };

/** Resolves when it is stored. */
export async function endRow(ports: EndPorts, delivery: Delivery, row: OutboxRow): Promise<void> {
  const { clock, journal, events, sent } = ports;
  const write = { kind: "outbox", row } as const;
  if (!isText(delivery)) {
    await journal.keep([write]);
    if (row.kind === "react")
      events.emit.reacted?.(reactionEnded(row, delivery.body as ReactionBody));
    return;
  }
  const identity = `delivery|${row.id}|${row.state}|${row.attempts}|${row.doubts}`;
  const named = { identity, sentAt: timeOfId(row.turnId) };
  const report = () => newEvent(row, ports.cfg(), reportOf(row, clock.now()), named);
  sent.note(row, delivery.body);
  ports.onPoint("before-mark");
  const reports = () => [report(), ...ports.onSettled(deliveryWith(delivery, row))];
  await journal.append(row.conv === noConversation ? [] : reports(), [write]);
  events.emit.line?.(sendLine(clock.now(), row, delivery.body, row.state as SendStatus));
}
