/**
 * Delivered
 * =========
 * What a delivery's report changes: which messages are ours, where we have taken part, and who may
 * go on talking to us without calling our name. Credit is granted here and nowhere else, by what
 * has really reached the room.
 */
import { limits } from "../../domain/limits.ts";
import { grantCredits } from "../engagement/sticky.ts";
import type { DeliveryFailed, DeliverySent } from "../events/events.ts";
import { type ConversationContext, type Run, threadKey } from "./context.ts";

/**
 * A block reached the room. A report about a turn that is over still tells which messages are ours.
 */
export function noteSent(context: ConversationContext, event: DeliverySent): void {
  const { run } = context;
  context.ownMessages = latest(context.ownMessages, event.messageIds, limits.ownMessagesCountMax);
  if (run === null || run.order.turnId !== event.turnId) return;
  const block = run.open.find(({ index }) => index === event.index);
  if (block === undefined) return;
  const thread = threadKey(run.order.route);
  if (thread !== null)
    context.spokenIn = latest(context.spokenIn, [thread], limits.spokenRoutesCountMax);
  if (block.kind === "reply") grant(context, run, block.mentions, event);
  const shown = block.draft === true ? { shown: event.index } : {};
  context.run = { ...close(run, event.index), ...shown };
}

/** A block will not reach the room any more. */
export function noteUnsent(context: ConversationContext, event: DeliveryFailed): void {
  const { run } = context;
  if (run !== null && run.order.turnId === event.turnId) context.run = close(run, event.index);
}

function grant(
  context: ConversationContext,
  run: Run,
  mentions: readonly string[],
  event: DeliverySent,
): void {
  const { stickiness } = context.settings.engagement;
  if (!stickiness.enabled || context.disengagedTurn === run.order.turn) return;
  const authors = [...new Set([...run.batch.map(({ author }) => author), ...mentions])];
  context.ledger = grantCredits(context.ledger, authors, event.at, stickiness.windowMs);
}

const close = (run: Run, index: number): Run => ({
  ...run,
  open: run.open.filter((block) => block.index !== index),
});

/** The newest `most` of a list after `added`, each once. */
export function latest(list: readonly string[], added: readonly string[], most: number): string[] {
  return [...list.filter((one) => !added.includes(one)), ...added].slice(-most);
}
