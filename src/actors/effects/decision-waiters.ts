/**
 * Waiting for decisions
 * =====================
 * A caller may ask to be answered with the decision on its message, not only with its durability.
 * He is noted before the message is stored, because a decision may be there before the store's
 * answer is.
 */
import type { Verdict } from "../../domain/decision.ts";
import type { NewEvent } from "../protocol/event-codec.ts";

export interface DecisionWaiter {
  /** Null: the runtime stopped first, or the wait was given up. */
  readonly decision: Promise<Verdict | null>;
  giveUp(): void;
}

export interface DecisionWaiters {
  expect({ write }: NewEvent): DecisionWaiter;
  decided(conv: number, messageId: string, verdict: Verdict): void;
  /** Lets everybody go. */
  stop(): void;
}

export function createWaiters(): DecisionWaiters {
  const waiting = new Map<string, Set<(verdict: Verdict | null) => void>>();
  const name = (conv: number, messageId: string | null) => `${conv} ${messageId}`;

  return {
    expect({ write }) {
      const id = name(write.conv, write.messageId);
      const others = waiting.get(id) ?? new Set();
      waiting.set(id, others);
      let give: (verdict: Verdict | null) => void = () => undefined;
      const decision = new Promise<Verdict | null>((resolve) => {
        give = resolve;
      });
      others.add(give);
      return {
        decision,
        giveUp() {
          give(null);
          others.delete(give);
          if (others.size === 0 && waiting.get(id) === others) waiting.delete(id);
        },
      };
    },
    decided(conv, messageId, verdict) {
      if (waiting.size === 0) return;
      const id = name(conv, messageId);
      for (const give of waiting.get(id) ?? []) give(verdict);
      waiting.delete(id);
    },
    stop() {
      for (const gives of waiting.values()) for (const give of gives) give(null);
      waiting.clear();
    },
  };
}
