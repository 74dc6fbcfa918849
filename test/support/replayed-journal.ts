/**
 * What a journal says that happened
 * =================================
 * Folds every conversation's rows through the machine again, believing no mark and no line that the
 * runtime has written: which turns began, how each ended, and what became of each engaged message.
 */
import { createConversation } from "../../src/actors/host/conversation-actor.ts";
import { settingsFor } from "../../src/actors/host/conversation-settings.ts";
import { decodeEvent } from "../../src/actors/protocol/event-codec.ts";
import { scenarioConfig } from "../../src/domain/config/index.ts";
import type { Store } from "../../src/domain/ports/index.ts";

export interface ReplayedJournal {
  /** Turn id to how often it was begun; tries of one turn count once. */
  readonly begun: ReadonlyMap<string, number>;
  /** Turn id to its outcomes. */
  readonly outcomes: ReadonlyMap<string, readonly string[]>;
  /** Engaged message to what became of it: the outcome of its turn, or why it was dropped. */
  readonly fates: ReadonlyMap<string, readonly string[]>;
  /** Messages that carry an eye, places that show typing: what is left of them. */
  readonly left: readonly string[];
}

export async function replayJournal(
  store: Store,
  config: Record<string, unknown>,
): Promise<ReplayedJournal> {
  const begun = new Map<string, number>();
  const outcomes = new Map<string, string[]>();
  const fates = new Map<string, string[]>();
  const left = new Set<string>();
  const whole = scenarioConfig(config);
  const rows = await store.scan(0, 1_000_000);
  for (const { conv, key } of await store.conversations({ limit: 1_000 })) {
    const conversation = createConversation({ key, settings: settingsFor(whole, key, 1) });
    for (const row of rows.filter((one) => one.conv === conv))
      for (const effect of conversation.step(decodeEvent(row))) {
        if (effect.type === "decided" && effect.decision === "engage")
          fates.set(effect.messageId, []);
        if (effect.type === "turn.run" && effect.attempt === 1)
          begun.set(effect.turnId, (begun.get(effect.turnId) ?? 0) + 1);
        if (effect.type === "outcome") {
          outcomes.set(effect.turnId, [...(outcomes.get(effect.turnId) ?? []), effect.outcome]);
          for (const { id } of effect.batch) fates.get(id)?.push(effect.outcome);
        }
        if (effect.type === "dropped") fates.get(effect.message.id)?.push(effect.why);
        if (effect.type === "react") left.add(`${key} eye ${effect.message}`);
        if (effect.type === "unreact") left.delete(`${key} eye ${effect.message}`);
        if (effect.type === "typing") left[effect.on ? "add" : "delete"](`${key} typing`);
      }
    conversation.stop();
  }
  return { begun, outcomes, fates, left: [...left] };
}
