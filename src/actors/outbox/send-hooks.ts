/**
 * Plugins are asked about a text once, when its first attempt begins. Their result is part of the
 * commit before the send: nothing is ever sent that is not stored, and another attempt sends the
 * same.
 */
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

/** The row with the text that the plugins returned. */
export function asAsked(row: OutboxRow, text: string): OutboxRow {
  const body = JSON.parse(row.body) as TextBody;
  return { ...row, body: JSON.stringify({ ...body, text, asked: true }) };
}
