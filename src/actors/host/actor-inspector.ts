/**
 * Looking into an actor
 * =====================
 * XState tells of everything an actor is sent and of every state it reaches, if somebody has asked.
 * Nobody has until `inspectActor`, so a conversation that no inspector shows pays nothing for this.
 */
import type { ActorRefFrom, InspectionEvent } from "xstate";
import type { ConversationContext } from "../../machines/conversation/context.ts";
import type { ConversationValue } from "../../machines/conversation/states.ts";
import type { conversationMachine } from "../../machines/conversation.machine.ts";
import type { EmittedEffect } from "../../machines/events/effects.ts";
import type { ConversationEvent } from "../../machines/events/events.ts";

/** How an actor stands. */
export interface Standpoint {
  readonly status: string;
  readonly value: ConversationValue;
  readonly context: ConversationContext;
  /** What the step that led here wants done. */
  readonly effects: readonly EmittedEffect[];
}

/** Told of each event, before it is applied, and of each state that an event led to. */
export interface InspectionListener {
  event(event: ConversationEvent): void;
  state(at: Standpoint, event: ConversationEvent): void;
}

export interface InspectedActor {
  /** The actor's id within its thread. */
  readonly actor: string;
  now(): Standpoint;
  follow(onlooker: InspectionListener): void;
  /** Tells nobody any more. */
  end(): void;
}

/** `effects`: what the actor's last step has emitted. */
export function inspectActor(
  actor: ActorRefFrom<typeof conversationMachine>,
  effects: () => readonly EmittedEffect[],
): InspectedActor {
  const ends: (() => void)[] = [];
  const now = (): Standpoint => {
    const { status, value, context } = actor.getSnapshot();
    return { status, value, context, effects: [] };
  };
  return {
    actor: actor.sessionId,
    now,
    follow(onlooker) {
      const { unsubscribe } = actor.system.inspect((inspected: InspectionEvent) => {
        const { type } = inspected;
        if (type !== "@xstate.event" && type !== "@xstate.snapshot") return;
        const event = inspected.event as ConversationEvent;
        // Its end is reported where it is ended, as the reason is known there.
        if (event.type.startsWith("xstate.")) return;
        if (type === "@xstate.event") onlooker.event(event);
        else onlooker.state({ ...now(), effects: effects() }, event);
      });
      ends.push(unsubscribe);
    },
    end() {
      for (const end of ends.splice(0)) end();
    },
  };
}
