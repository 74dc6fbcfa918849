/**
 * Plugins are asked about a text once, when its first attempt begins. Their result is part of the
 * commit before the send: nothing is ever sent that is not stored, and another attempt sends the
 * same.
 */
import { extrasOf } from "../../domain/outgoing.ts";
import type { Clock, OutboxRow } from "../../domain/ports/index.ts";
import type { HookRunner, HookVerdict } from "./plugin-hooks.ts";
import { type Delivery, isText, type TextBody } from "./row-body.ts";

export interface OutboxHooks {
  readonly clock: Clock;
  readonly hooks: Pick<HookRunner, "hears" | "sending">;
  readonly agentOf: (key: string) => string;
}

/** Asks about a text; null: there is nobody to ask, or it was asked before. */
export async function askHooks(
  delivery: Delivery,
  { clock, hooks, agentOf }: OutboxHooks,
): Promise<HookVerdict | null> {
  if (!isText(delivery) || delivery.body.asked || !hooks.hears("message.sending")) return null;
  const { row, body } = delivery;
  const { route, text, replyTo } = body;
  const { key, id } = row;
  const kind = row.kind === "notice" ? "notice" : "reply";
  const about = { at: clock.now(), key, agentId: agentOf(key) };
  return hooks.sending({ ...about, id, route, text, replyTo, kind });
}

/**
 * The row with the text that the plugins returned. A changed text is the caption of a file from then
 * on, and choices are sent as that text: nothing that a plugin took out is sent.
 */
export function asAsked(row: OutboxRow, text: string): OutboxRow {
  const { media, choices, ...body } = JSON.parse(row.body) as TextBody;
  const extras =
    text === body.text
      ? extrasOf({ ...(media && { media }), ...(choices && { choices }) })
      : { ...(media && { media: { ...media, caption: text } }) };
  return { ...row, body: JSON.stringify({ ...body, text, asked: true, ...extras }) };
}
