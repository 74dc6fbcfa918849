/**
 * Plugins' word on a text
 * =======================
 * A text is put before the plugins once, when its first try begins, and what they leave of it rides
 * with the commit before the send: nothing is ever sent that is not stored, and another try sends the
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

/** Asks about a text; null: there is nothing to ask, or it was asked before. */
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

/** The row with the text that the plugins left. */
export function asAsked(row: OutboxRow, text: string): OutboxRow {
  const body = JSON.parse(row.body) as TextBody;
  return { ...row, body: JSON.stringify({ ...body, text, asked: true }) };
}
