/**
 * The state of a live conversation in the few fields that a list of rooms shows. Hosts compute it
 * only while a client shows such a list, for a batch of conversations at a time.
 */
import type { Millis } from "../../domain/message.ts";
import type { ConversationContext } from "../../machines/conversation/context.ts";
import { attentionOf, type ConversationValue } from "../../machines/conversation/states.ts";
import { effectiveHumans, isPresent } from "../../machines/engagement/humans.ts";
import type { ConversationSummary } from "../protocol/conversation-summary.ts";

const creditsShownMax = 8;

/** The summary of this state and context at this time. */
export function summaryAt(
  { value, context }: { readonly value: ConversationValue; readonly context: ConversationContext },
  now: Millis,
): ConversationSummary {
  const { participants, membership, settings, ledger, forming, inbox } = context;
  const room = { participants, membership };
  const { count, source } = effectiveHumans(room, settings.engagement, now);
  const waiting = [...forming, ...inbox];
  const spoken = participants.filter(
    (participant) => participant.isBot && isPresent(participant, settings.engagement, now),
  ).length;
  return {
    attention: attentionOf(value),
    guard: value.guard,
    humans: count,
    source,
    bots: Math.max(spoken, membership?.bots ?? 0),
    credits: Object.values(ledger)
      .filter((endsAt) => endsAt > now)
      .sort((a, b) => b - a)
      .slice(0, creditsShownMax),
    queued: waiting.reduce((sum, { messages }) => sum + messages.length, 0),
  };
}
