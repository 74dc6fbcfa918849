/**
 * One batch of one conversation
 * =============================
 * The step of an engine that keeps records elsewhere: a record and events in, the next record, verdicts and
 * effects out. Pure, and the same conversation that the hosts of the pool run, so that a conversation
 * gives the same answer wherever it is stepped. It keeps nothing between two calls.
 *
 * An event whose step throws is rejected, and what the machine did with it until then is undone: the
 * conversation is restored from the record and the events before it, as a host's supervisor does it.
 */
import type { ConversationSettings } from "../../domain/settings.ts";
import type { JournalEvent } from "../../machines/events/events.ts";
import { conversationOf } from "../protocol/event-codec.ts";
import { type HostStep, quarantinedCode } from "../protocol/host-protocol.ts";
import { createConversation } from "./conversation-actor.ts";
import { type ConversationFactory, reasonOf, splitVerdict } from "./conversation-host.ts";

/** An event with its number in the conversation and the config version of its admission. */
export interface NumberedEvent {
  readonly seq: number;
  readonly cfg: number;
  readonly event: JournalEvent;
}

export interface ConversationBatch {
  readonly key: string;
  /** As the last batch left it; null: a new conversation. */
  readonly record: string | null;
  /** In the order of their numbers; at least one. */
  readonly events: readonly NumberedEvent[];
}

export interface SteppedBatch {
  /** Null: it was new, and every event was rejected. */
  readonly record: string | null;
  /** The encoded verdict of each event; 0: it decides nothing; `quarantinedCode`: rejected. */
  readonly codes: readonly number[];
  /** Steps with more effects than a decision, in order. */
  readonly steps: readonly HostStep[];
  readonly rejected: readonly { readonly seq: number; readonly error: string }[];
}

export interface BatchStepper {
  /** The settings of a config version for a conversation. */
  readonly settings: (key: string, cfg: number) => ConversationSettings;
  /** @default the conversation machine */
  readonly create?: ConversationFactory;
}

/**
 * Steps a conversation over a batch.
 * @throws EarshotError EAR_RECORD_INVALID when the record is of another version or damaged.
 */
export function stepBatch(
  { key, record, events }: ConversationBatch,
  { settings, create = createConversation }: BatchStepper,
): SteppedBatch {
  const { conv } = conversationOf(key);
  // The machine takes other settings, even of the same content, for a change of the config.
  const resolved = new Map<number, ConversationSettings>();
  const settingsOf = (cfg: number) => {
    const found = resolved.get(cfg) ?? settings(key, cfg);
    resolved.set(cfg, found);
    return found;
  };
  const good: NumberedEvent[] = [];
  const restored = () => {
    const [first] = good.length > 0 ? good : events;
    const begin = { key, settings: settingsOf(first?.cfg ?? 0) };
    const conversation = create(record === null ? begin : { ...begin, record });
    for (const { cfg, event } of good) conversation.step(event, settingsOf(cfg));
    return conversation;
  };
  let conversation = restored();
  const codes: number[] = [];
  const steps: HostStep[] = [];
  const rejected: { seq: number; error: string }[] = [];
  for (const one of events) {
    const { seq, cfg, event } = one;
    try {
      const { code, rest } = splitVerdict(conversation.step(event, settingsOf(cfg)));
      good.push(one);
      codes.push(code);
      if (rest.length > 0) steps.push({ seq, conv, key, at: event.at, code, effects: rest });
    } catch (error) {
      codes.push(quarantinedCode);
      rejected.push({ seq, error: reasonOf(error) });
      conversation.stop();
      conversation = restored();
    }
  }
  const next = good.length === 0 ? record : conversation.record();
  conversation.stop();
  return { record: next, codes, steps, rejected };
}
