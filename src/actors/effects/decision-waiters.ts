/**
 * Waiting for decisions
 * =====================
 * A caller may ask to be answered with the decision on its message, not only with its durability.
 * The waiter is registered before the message is stored, because a decision may arrive before the
 * store's answer.
 */
import type { Verdict } from "../../domain/decision.ts";
import type { NewEvent } from "../protocol/event-codec.ts";
import type { RuntimeEvents, RuntimeListener } from "../protocol/runtime-events.ts";

export interface DecisionWaiter {
  /** Null: the runtime stopped first, or the caller gave up. */
  readonly decision: Promise<Verdict | null>;
  giveUp(): void;
}

export interface DecisionWaiters {
  expect({ write }: NewEvent): DecisionWaiter;
  /** Releases all waiters. */
  stop(): void;
}

/** Listens to decisions only while a caller waits for one. */
export function createWaiters(events: Pick<RuntimeEvents, "add">): DecisionWaiters {
  const waiting = new Map<string, Set<(verdict: Verdict | null) => void>>();
  let stopListening: (() => void) | null = null;
  const name = (conv: number, messageId: string | null) => `${conv} ${messageId}`;

  const listener: RuntimeListener = {
    decided(conv, _key, { message }, verdict) {
      const id = name(conv, message.id);
      for (const give of waiting.get(id) ?? []) give(verdict);
      waiting.delete(id);
    },
  };

  function listenIfAsked(): void {
    if (waiting.size > 0) stopListening ??= events.add(listener);
    else {
      stopListening?.();
      stopListening = null;
    }
  }

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
      listenIfAsked();
      return {
        decision,
        giveUp() {
          give(null);
          others.delete(give);
          if (others.size === 0 && waiting.get(id) === others) waiting.delete(id);
          listenIfAsked();
        },
      };
    },
    stop() {
      for (const gives of waiting.values()) for (const give of gives) give(null);
      waiting.clear();
      listenIfAsked();
    },
  };
}
