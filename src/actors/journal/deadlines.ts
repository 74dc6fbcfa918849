/**
 * Durable deadlines
 * =================
 * A deadline is a row before it is a timer: it survives the process and fires once, not before its
 * time, also when it became due while no process was running. When it fires, its row is deleted in
 * the commit that journals `deadline.due`, so a crash on either side repeats nothing.
 *
 * The clock of a process does not follow when the machine's clock is set, so that fires no deadline
 * early and blocks none; over a restart wall time counts. `at` of the event is never before the
 * deadline.
 */
import type { Millis } from "../../domain/message.ts";
import type { Clock, StoreWrite, TimerHandle } from "../../domain/ports/index.ts";
import { passedId } from "../../machines/conversation/agent-relay.ts";
import type { RelayPassed } from "../../machines/events/effects.ts";
import { conversationOf } from "../protocol/event-codec.ts";

export interface Deadline {
  readonly conv: number;
  readonly id: string;
  readonly at: Millis;
}

export interface Deadlines {
  /** Arms a deadline whose row is stored. Replaces the one with the same conversation and id. */
  set(deadline: Deadline): void;
  clear(conv: number, id: string): void;
  count(): number;
  /** Disarms everything; the rows stay. */
  stop(): void;
}

/**
 * `fire` gets the deadline and the event's time. It deletes the row with the event that it
 * journals.
 */
export function createDeadlines(
  clock: Clock,
  fire: (deadline: Deadline, at: Millis) => void,
): Deadlines {
  const armed = new Map<number, Map<string, TimerHandle>>();
  let stopped = false;

  function forget(conv: number, id: string): TimerHandle | undefined {
    const ofConversation = armed.get(conv);
    const timer = ofConversation?.get(id);
    if (ofConversation === undefined || timer === undefined) return undefined;
    ofConversation.delete(id);
    if (ofConversation.size === 0) armed.delete(conv);
    return timer;
  }
  function clear(conv: number, id: string): void {
    const timer = forget(conv, id);
    if (timer !== undefined) clock.clearTimer(timer);
  }

  return {
    set(deadline) {
      if (stopped) return;
      const { conv, id, at } = deadline;
      clear(conv, id);
      const timer = clock.setTimer(at, () => {
        forget(conv, id);
        fire(deadline, Math.max(clock.now(), at));
      });
      const ofConversation = armed.get(conv) ?? new Map<string, TimerHandle>();
      ofConversation.set(id, timer);
      armed.set(conv, ofConversation);
    },
    clear,
    count: () => [...armed.values()].reduce((sum, timers) => sum + timers.size, 0),
    stop() {
      stopped = true;
      for (const timers of armed.values()) {
        for (const timer of timers.values()) clock.clearTimer(timer);
      }
      armed.clear();
    },
  };
}

/** Deadlines due immediately, which notify the agents behind that one of them has ended. */
export function relayDeadlines({ token, place, to }: RelayPassed, at: Millis): readonly Deadline[] {
  const id = passedId(token, place);
  return to.map((key) => ({ conv: conversationOf(key).conv, id, at }));
}

export const deadlineWrite = (deadline: Deadline): StoreWrite => ({
  kind: "deadline",
  ...deadline,
});
