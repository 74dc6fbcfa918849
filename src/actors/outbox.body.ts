/**
 * What an outbox row says
 * =======================
 * The part of a row that only the outbox reads: where it goes and what is said, fixed when the
 * block was decided. A reply cannot follow a conversation that has moved on, because its way back
 * is in here.
 */
import type { Millis, Route } from "../domain/message.ts";
import type { OutboxRow } from "../domain/ports.ts";
import type { SendLine, SendStatus } from "../domain/stream.ts";

/** A text to send. */
export interface TextBody {
  readonly route: Route;
  readonly text: string;
  readonly replyTo: string | null;
  readonly quote: boolean;
  /** ms since the epoch; not sent from then on. */
  readonly expiresAt: Millis;
  /** A pause before it, as a person would make; only between blocks of one reply. */
  readonly pauseMs?: readonly [min: number, max: number];
}

/** A reaction to put on a message or to take off. */
export interface ReactionBody {
  readonly route: Route;
  readonly message: string;
  readonly emoji: string;
  readonly expiresAt: Millis;
}

/** A row with its body read. */
export type Delivery =
  | {
      readonly row: OutboxRow & { readonly kind: "reply" | "notice" };
      readonly body: TextBody;
    }
  | {
      readonly row: OutboxRow & { readonly kind: "react" | "unreact" };
      readonly body: ReactionBody;
    };

/** Reads a row of our own making. */
export function deliveryOf(row: OutboxRow): Delivery {
  return { row, body: JSON.parse(row.body) } as Delivery;
}

export function isText(delivery: Delivery): delivery is Delivery & { body: TextBody } {
  return delivery.row.kind === "reply" || delivery.row.kind === "notice";
}

/** The line that tells how a text ended. */
export function sendLine(t: Millis, row: OutboxRow, body: TextBody, status: SendStatus): SendLine {
  return {
    t,
    out: "send",
    key: row.key,
    channel: body.route.channel,
    account: body.route.account,
    chat: body.route.chat.id,
    thread: body.route.thread?.id ?? null,
    replyTo: body.replyTo,
    text: body.text,
    id: row.id,
    status,
  };
}
