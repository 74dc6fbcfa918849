/**
 * Changes of pending messages
 * ===========================
 * Edits, deletions and other people's lines change the batches that wait, forming or in line, in the
 * same way. Each function returns the list it was given when nothing in it changes.
 */
import { type AuthorId, type Route, sameRoute } from "../../domain/message.ts";
import type { PendingMessage } from "./inbox.ts";

interface Waiting {
  readonly route: Route;
  readonly messages: readonly PendingMessage[];
  readonly holds: boolean;
  readonly overtaken: boolean;
}

const isIn = (batch: Waiting, route: Route, id: string): boolean =>
  batch.messages.some((message) => message.id === id) &&
  batch.route.chat.id === route.chat.id &&
  batch.route.channel === route.channel &&
  batch.route.account === route.account;

/** The batches with a message's text replaced by that of the edit with journal number `seq`. */
export function editPending<Batch extends Waiting>(
  batches: readonly Batch[],
  route: Route,
  id: string,
  seq: number,
): readonly Batch[] {
  if (!batches.some((batch) => isIn(batch, route, id))) return batches;
  return batches.map((batch) => {
    if (!isIn(batch, route, id)) return batch;
    const messages = batch.messages.map((message) =>
      message.id === id ? { ...message, editSeq: seq } : message,
    );
    return { ...batch, messages };
  });
}

/** The batches without a deleted message. A batch that loses its last message goes with it. */
export function removePending<Batch extends Waiting>(
  batches: readonly Batch[],
  route: Route,
  id: string,
): {
  readonly batches: readonly Batch[];
  readonly removed: PendingMessage | null;
  /** The batch that it was in. */
  readonly from: Batch | null;
} {
  let removed: PendingMessage | null = null;
  let from: Batch | null = null;
  const kept: Batch[] = [];
  for (const batch of batches) {
    const found = isIn(batch, route, id) ? batch.messages.find((one) => one.id === id) : undefined;
    if (found === undefined) {
      kept.push(batch);
      continue;
    }
    removed = found;
    from = batch;
    const messages = batch.messages.filter((one) => one !== found);
    if (messages.length > 0) kept.push({ ...batch, messages });
  }
  return removed === null ? { batches, removed, from } : { batches: kept, removed, from };
}

/** The batches after `author` said something at `route`: others have been overtaken. */
export function overtake<Batch extends Waiting>(
  batches: readonly Batch[],
  route: Route,
  author: AuthorId,
): readonly Batch[] {
  const passed = (batch: Waiting) => isOvertaken(batch, route, author);
  if (!batches.some(passed)) return batches;
  return batches.map((batch) => (passed(batch) ? { ...batch, overtaken: true } : batch));
}

/** Whether a line of `author` at `route` comes between a batch and its answer. */
export function isOvertaken(batch: Waiting, route: Route, author: AuthorId): boolean {
  if (batch.overtaken || !sameRoute(batch.route, route)) return false;
  return batch.messages.every((message) => message.author !== author);
}

/** The batches with their authors no longer held. */
export function release<Batch extends Waiting>(batches: readonly Batch[]): readonly Batch[] {
  if (!batches.some(({ holds }) => holds)) return batches;
  return batches.map((batch) => ({ ...batch, holds: false }));
}
