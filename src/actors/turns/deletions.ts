/** Which messages were deleted, as the journal has it: what is deleted reaches no agent that is not called yet. */
import { type Inbound, inOneChat } from "../../domain/message.ts";
import type { EventRow, Store } from "../../domain/ports/index.ts";
import type { MessageRef } from "../../machines/events/effects.ts";
import type { MessageDeleted } from "../../machines/events/events.ts";
import { decodeEvent } from "../protocol/event-codec.ts";

/** Deletions, by the id of their message. */
export type Deletions = ReadonlyMap<string, readonly MessageDeleted["deletion"][]>;

/** The deletions in rows of one conversation. */
export function deletedIn(rows: readonly EventRow[]): Deletions {
  const found = new Map<string, MessageDeleted["deletion"][]>();
  for (const row of rows) {
    const event = row.body.includes('"message.deleted"') ? decodeEvent(row) : null;
    if (event?.type !== "message.deleted") continue;
    const { deletion } = event;
    found.set(deletion.id, [...(found.get(deletion.id) ?? []), deletion]);
  }
  return found;
}

/** The deletions since the newest of a turn's messages was said: those before it are not in its order. */
export async function deletedSince(
  store: Pick<Store, "tail">,
  conv: number,
  batch: readonly MessageRef[],
): Promise<Deletions> {
  return batch.length === 0
    ? new Map()
    : deletedIn(await store.tail(conv, Math.max(...batch.map(({ seq }) => seq))));
}

export const isGone = (message: Inbound, gone: Deletions): boolean =>
  gone.get(message.id)?.some((deletion) => inOneChat(deletion, message)) ?? false;
