/**
 * Transitions of a conversation
 * =============================
 * Each step that changed a state of the chart: when, by which event, from where to where, and the
 * message that it belongs to. Collected where the conversation is replayed for a page, so nothing is
 * kept or observed while no page shows the room.
 */
import { setImmediate } from "node:timers/promises";
import type { Conversation } from "../../actors/host/conversation-actor.ts";
import type { ConfigHistory } from "../../actors/journal/config-versions.ts";
import { replayConversation } from "../../actors/journal/replayed-conversation.ts";

import type { ConversationRow, Store } from "../../domain/ports/index.ts";
import { type Placed, placedIn } from "../../machines/batching/chats.ts";
import type { ConversationEvent } from "../../machines/events/events.ts";
import type { RoomPlace, RoomTransition } from "../api-types/room-transitions.ts";

/** Kept of a room that is shown. */
export const transitionsMax = 100;
const yieldEvery = 256;

export class TransitionLog {
  #items: RoomTransition[] = [];
  #at: RoomPlace | null = null;
  /** The message of the running turn, also for the step that ends it. */
  #asked: Placed | null = null;

  /** Oldest first. */
  get items(): readonly RoomTransition[] {
    return this.#items;
  }

  /** Where the conversation is before its first step here. */
  begin(conversation: Conversation): void {
    this.#at = placeOf(conversation);
    this.#asked = askedOf(conversation);
  }

  /** The conversation was stepped on this event of a journal row. */
  note(seq: number, event: ConversationEvent, conversation: Conversation): void {
    const from = this.#at;
    const to = placeOf(conversation);
    const asked = askedOf(conversation);
    if (from !== null && !isSame(from, to)) {
      const about = messageOf(event, conversation) ?? asked ?? this.#asked;
      const item = { seq, at: event.at, event: event.type, from, to, message: about?.id ?? null };
      this.#items.push(about?.chat === undefined ? item : { ...item, chat: about.chat });
      if (this.#items.length > transitionsMax) this.#items.shift();
    }
    this.#at = to;
    this.#asked = asked;
  }
}

function placeOf(conversation: Conversation): RoomPlace {
  const { attention, lock, guard } = conversation.view();
  return { attention, lock, guard, typing: conversation.context.typing !== null };
}

const isSame = (one: RoomPlace, other: RoomPlace): boolean =>
  one.attention === other.attention &&
  one.lock === other.lock &&
  one.guard === other.guard &&
  one.typing === other.typing;

function askedOf({ context: { run, settings } }: Conversation): Placed | null {
  const newest = run?.batch.at(-1);
  if (run === null || newest === undefined) return null;
  return placedIn(settings, { ...run.order.route, id: newest.id });
}

/** The message that an event is about; null: it is about a turn, or about nothing in the room. */
function messageOf(
  event: ConversationEvent,
  { context: { settings } }: Conversation,
): Placed | null {
  switch (event.type) {
    case "message.received":
    case "fellow.spoke":
      return placedIn(settings, event.message);
    case "message.edited":
      return placedIn(settings, event.edit);
    case "message.deleted":
      return placedIn(settings, event.deletion);
    case "judge.answered":
      return event;
    case "command.applied": {
      const { asked } = event;
      return asked === undefined
        ? null
        : placedIn(settings, { ...asked.route, id: asked.messageId });
    }
    default:
      return null;
  }
}

/**
 * The last transitions up to the snapshot of a conversation, by a replay from its first journal row:
 * a snapshot says where a conversation is, not how it came there.
 */
export async function transitionsUpTo(
  { store, configs }: { readonly store: Pick<Store, "tail">; readonly configs: ConfigHistory },
  { conv, key, recordSeq }: ConversationRow,
): Promise<readonly RoomTransition[]> {
  const rows = await store.tail(conv, 0, recordSeq + 1);
  await configs.load(rows.map(({ cfg }) => cfg));
  const version = rows[0]?.cfg ?? 0;
  const replay = await replayConversation(configs, { key, record: null, version });
  const { conversation } = replay;
  const log = new TransitionLog();
  log.begin(conversation);
  try {
    for (const [index, row] of rows.entries()) {
      if (index % yieldEvery === yieldEvery - 1) await setImmediate();
      replay.step(row, (event) => log.note(row.seq, event, conversation));
    }
    return log.items;
  } finally {
    conversation.stop();
  }
}
