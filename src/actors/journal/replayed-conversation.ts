/**
 * A conversation replayed from the store
 * ======================================
 * Its record and the journal rows after it, through the same pure machine as on its host, with the
 * settings of each row's config version and without performing any effect. The checkpointer writes
 * records with it, `why` replays up to a message with it, and the Room page reads its state from
 * it. Rows in quarantine are skipped, as on the host.
 */
import type { EventRow } from "../../domain/ports/index.ts";
import type { Effect } from "../../machines/events/effects.ts";
import type { ConversationEvent, JournalEvent } from "../../machines/events/events.ts";
import { type Conversation, createConversation } from "../host/conversation-actor.ts";
import { decodeEvent, eventsIn } from "../protocol/event-codec.ts";
import { quarantinedCode } from "../protocol/host-protocol.ts";
import type { ConfigHistory } from "./config-versions.ts";

export interface ReplayStart {
  readonly key: string;
  /** Null: from the beginning. */
  readonly record: string | null;
  /** Config version to begin with, mostly that of the first row after the record. */
  readonly version: number;
}

export interface ReplayedStep {
  readonly event: JournalEvent;
  readonly effects: readonly Effect[];
}

export interface ReplayedConversation {
  readonly conversation: Conversation;
  /**
   * Applies a row whose config version is loaded; null: it is in quarantine. `stepped` is called after
   * each event of the row.
   */
  step(row: EventRow, stepped?: (event: ConversationEvent) => void): ReplayedStep | null;
}

/** @throws EarshotError EAR_RECORD_INVALID when another version wrote the record. */
export async function replayConversation(
  configs: ConfigHistory,
  { key, record, version }: ReplayStart,
): Promise<ReplayedConversation> {
  await configs.load([version]);
  const settings = configs.settingsAt(key, version);
  const conversation = createConversation({ key, settings, record });
  return {
    conversation,
    step(row, stepped) {
      if (row.code === quarantinedCode) return null;
      const event = decodeEvent(row);
      const settings = configs.settingsAt(key, row.cfg);
      if (stepped === undefined) return { event, effects: conversation.step(event, settings) };
      const effects = eventsIn(event).flatMap((one) => {
        const made = conversation.step(one, settings);
        stepped(one);
        return made;
      });
      return { event, effects };
    },
  };
}
