/**
 * Delivered
 * =========
 * What a delivery's report changes: which messages are ours, where we have taken part, and who may
 * go on talking to us without calling our name. Credit is granted here and nowhere else, by what
 * has reached the room, as long as the lock allows it.
 */
import { hash52 } from "../../domain/key.ts";
import { limits } from "../../domain/limits.ts";
import type { Millis } from "../../domain/message.ts";
import { chatOf, namesIn } from "../batching/chats.ts";
import { keepCredited, noteAnswer, rowOf } from "../engagement/floor.ts";
import { grantCredits, spendCredit } from "../engagement/sticky.ts";
import type { DeliveryFailed, DeliverySent } from "../events/events.ts";
import {
  type BlockGist,
  type ConversationContext,
  type OpenBlock,
  type Run,
  threadKey,
} from "./context.ts";
import type { Step } from "./step.ts";

/** A block reached the room. A late report, of a turn that is over, still shows which message is ours. */
export function noteSent({ context }: Step, event: DeliverySent): void {
  const { run, settings } = context;
  // Where a text goes that no turn of now has sent is not known any more.
  const chat = run?.order.turnId === event.turnId ? chatOf(settings, run.order.route) : undefined;
  const names = namesIn(chat, event.messageIds);
  context.ownMessages = latest(context.ownMessages, names, limits.ownMessagesCountMax);
  const block = openBlock(context, event);
  if (run === null || block === undefined) return;
  const thread = threadKey(run.order.route);
  if (thread !== null)
    context.spokenIn = latest(context.spokenIn, [thread], limits.spokenRoutesCountMax);
  context.run = { ...closed(run, event.index), ...afterArrival(run, block) };
}

function afterArrival({ sent = 0 }: Run, { kind, draft, index }: OpenBlock): Partial<Run> {
  if (draft === true) return { shown: index };
  return kind === "reply" ? { sent: sent + 1 } : {};
}

const textPrefix = "text-";

/** The name that the rows and lines of a text without a turn have in place of a turn's id. */
export const textName = (id: string, at: Millis): string =>
  `${textPrefix}${hash52(JSON.stringify([at, id])).toString(36)}`;

/** A block will not reach the room any more. Of a text without a turn, the transcript has to say it. */
export function noteUnsent({ context, effects }: Step, event: DeliveryFailed): void {
  const { run } = context;
  if (event.turnId.startsWith(textPrefix)) {
    const { turnId, index: part, status } = event;
    effects.push({ type: "unsaid", turnId, part, status });
    return;
  }
  const block = openBlock(context, event);
  if (run === null || block === undefined) return;
  const { index: part, status } = event;
  const isPart = block.kind === "reply" && block.draft === undefined;
  const unsent = isPart ? { unsent: [...(run.unsent ?? []), { part, status }] } : {};
  context.run = { ...closed(run, part), ...unsent };
}

/** A reply reached the room: those it answers and mentions may go on without calling our name. */
export function grantCredit({ context }: Step, event: DeliverySent): void {
  const { run } = context;
  const block = openBlock(context, event);
  const { stickiness } = context.settings.engagement;
  if (run === null || block?.kind !== "reply" || !stickiness.enabled) return;
  const { gist = noGist, mentions } = block;
  const { names: named } = gist;
  const answered = run.batch.map(({ author }) => author);
  const authors = [...new Set([...answered, ...mentions, ...named])];
  context.ledger = grantCredits(context.ledger, authors, event.at, stickiness.windowMs);
  if (!judgesFloor(context)) return;
  const { words, asks: asked } = gist;
  const floors = noteAnswer(context.floors, { at: event.at, authors, named, words, asked });
  context.floors = keepCredited(floors, context.ledger);
}

/** A turn that says nothing: its authors hold no credit by their call alone. */
export function dropUnanswered({ context }: Step): void {
  const { run, floors } = context;
  if (run === null || !judgesFloor(context)) return;
  for (const { author } of run.batch)
    if (rowOf(floors.rows, author)?.answered === false)
      context.ledger = spendCredit(context.ledger, author);
  context.floors = keepCredited(floors, context.ledger);
}

const noGist: BlockGist = { names: [], words: [], asks: false };

/** Whether a talk is remembered: stickiness mode "floor". */
export const judgesFloor = ({ settings }: ConversationContext): boolean =>
  settings.engagement.stickiness.enabled && settings.engagement.stickiness.mode === "floor";

/** The block of the turn under way that the report is about, if it is still open. */
function openBlock(
  { run }: ConversationContext,
  event: DeliverySent | DeliveryFailed,
): OpenBlock | undefined {
  if (run === null || run.order.turnId !== event.turnId) return undefined;
  return run.open.find(({ index }) => index === event.index);
}

const closed = (run: Run, index: number): Run => ({
  ...run,
  open: run.open.filter((block) => block.index !== index),
});

/** The newest `most` of a list after `added`, each once. */
export function latest(list: readonly string[], added: readonly string[], most: number): string[] {
  return [...list.filter((one) => !added.includes(one)), ...added].slice(-most);
}
