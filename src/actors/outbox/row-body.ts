/**
 * The part of a row that only the outbox reads: its destination and its text, fixed when the block
 * was decided. A reply stays in its room when the conversation moves on, because its route is in
 * the row.
 */
import type { Millis, Route } from "../../domain/message.ts";
import type { OutgoingChoices, OutgoingMedia } from "../../domain/outgoing.ts";
import type { OutboxRow } from "../../domain/ports/index.ts";
import type { SendLine, SendStatus } from "../../domain/stream.ts";
import type { DeliveryFailed, DeliverySent } from "../../machines/events/events.ts";
import type { ReactionEnded } from "../protocol/runtime-events.ts";

/** A text to send. */
export interface TextBody {
  readonly route: Route;
  readonly text: string;
  readonly replyTo: string | null;
  readonly quote: boolean;
  /** ms since the epoch; not sent from then on. */
  readonly expiresAt: Millis;
  /** A pause before it, like that of a person; only between blocks of one reply. */
  readonly pauseMs?: readonly [min: number, max: number];
  /** The beginning of a growing answer; another row holds the whole. */
  readonly draft?: true;
  /** Kind `edit`: the row whose message gets this text. */
  readonly edits?: string;
  /** Of an edit: its turn was stopped. Without that message it is not sent at all. */
  readonly stopped?: true;
  /** Its turn was stopped, for this reason: no attempt begins any more, also after a restart. */
  readonly discarded?: string;
  /** A side message: no part of the answer. */
  readonly aside?: "reasoning" | "status";
  /** Plugins were asked about it. */
  readonly asked?: true;
  /** A file or choices: sent instead of the text where the channel can. */
  readonly media?: OutgoingMedia;
  readonly choices?: OutgoingChoices;
  /** The last attempt is asked of another node, by this id: what became of it can be asked for, too. */
  readonly carried?: string;
}

/** A reaction to add to a message or to remove. */
export interface ReactionBody {
  readonly route: Route;
  readonly message: string;
  readonly emoji: string;
  readonly expiresAt: Millis;
}

export type Delivery =
  | {
      readonly row: OutboxRow & { readonly kind: "reply" | "notice" | "edit" };
      readonly body: TextBody;
    }
  | {
      readonly row: OutboxRow & { readonly kind: "react" | "unreact" };
      readonly body: ReactionBody;
    };

/** Bodies of rows that were created in this process and not read yet. */
const written = new WeakMap<OutboxRow, TextBody | ReactionBody>();

/** Remembers the body of a new row; the store has it as text. */
export function asWritten(row: OutboxRow, body: TextBody | ReactionBody): OutboxRow {
  written.set(row, body);
  return row;
}

/** Reads a row that the runtime wrote. */
export function deliveryOf(row: OutboxRow): Delivery {
  return { row, body: written.get(row) ?? JSON.parse(row.body) } as Delivery;
}

/** The delivery after a change of its row; the body is parsed again only if it changed. */
export function deliveryWith(delivery: Delivery, row: OutboxRow): Delivery {
  if (row.body !== delivery.row.body) return deliveryOf(row);
  return { ...delivery, row } as Delivery;
}

/** A text with an attempt that another node makes, or is made here (null). */
export function withAttempt(row: OutboxRow, carried: string | null): OutboxRow {
  const { carried: before, ...body } = deliveryOf(row).body as TextBody;
  if (carried === (before ?? null)) return row;
  const next = carried === null ? body : { ...body, carried };
  return asWritten({ ...row, body: JSON.stringify(next) }, next);
}

/** The id of an attempt that another node was asked to make and of which it is not known what became; null: none. */
export function openAttempt({ row, body }: Delivery): string | null {
  return row.state === "sending" && "carried" in body ? (body.carried ?? null) : null;
}

/** The beginning of a growing answer. */
export function isDraft(row: OutboxRow): boolean {
  return row.kind === "reply" && (JSON.parse(row.body) as TextBody).draft === true;
}

export function isText(delivery: Delivery): delivery is Delivery & { body: TextBody } {
  const { kind } = delivery.row;
  return kind === "reply" || kind === "notice" || kind === "edit";
}

/** The row of a text whose turn was stopped. */
export function asDiscarded(row: OutboxRow, discarded: string): OutboxRow {
  const body = { ...(deliveryOf(row).body as TextBody), discarded };
  return asWritten({ ...row, body: JSON.stringify(body) }, body);
}

/** Why a text is not sent any more; null: it is. */
export const discardedBy = ({ body }: Delivery): string | null =>
  "discarded" in body ? (body.discarded ?? null) : null;

/** The row of an edit, changed to be sent only as one. */
export function onlyAsEdit(row: OutboxRow): OutboxRow {
  const body = { ...(JSON.parse(row.body) as TextBody), stopped: true };
  return { ...row, body: JSON.stringify(body) };
}

/** Whether an edit is not sent without its message. */
export const isOnlyEdit = ({ aside, stopped, discarded }: TextBody): boolean =>
  aside !== undefined || stopped === true || discarded !== undefined;

/** The row of an edit, changed to be sent as a new message. */
export function asMessage(row: OutboxRow): OutboxRow {
  const { edits: _, ...body } = JSON.parse(row.body) as TextBody;
  return { ...row, kind: "reply", body: JSON.stringify(body) };
}

/** The event for the conversation when a text has ended. */
export function reportOf(row: OutboxRow, at: Millis): DeliverySent | DeliveryFailed {
  const { turnId, index } = row;
  if (row.state === "sent") {
    const messageIds = JSON.parse(row.messageIds ?? "[]") as string[];
    return { type: "delivery.sent", at, turnId, index, messageIds };
  }
  const status = row.state as "expired" | "dead" | "in-doubt";
  return { type: "delivery.failed", at, turnId, index, status };
}

/** How a reaction ended. */
export function reactionEnded({ key, state, error }: OutboxRow, body: ReactionBody): ReactionEnded {
  const { message, emoji } = body;
  return { key, message, emoji, error: state === "sent" ? null : (error ?? "no reason given") };
}

/** The line of the event stream that reports the end of a text. */
export function sendLine(t: Millis, row: OutboxRow, body: TextBody, status: SendStatus): SendLine {
  const { draft, edits, aside, media, choices } = body;
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
    ...(draft === undefined ? {} : { draft }),
    ...(edits === undefined ? {} : { edits }),
    ...(aside === undefined ? {} : { aside }),
    ...(media === undefined ? {} : { media: media.kind }),
    ...(choices === undefined ? {} : { choices: choices.options }),
  };
}
