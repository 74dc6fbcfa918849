/**
 * XState reports every event and state of an actor to an inspector. None is attached before
 * `inspectActor`, so a conversation without readers pays nothing for this.
 */
import type { ActorRefFrom, InspectionEvent } from "xstate";
import type { ConversationContext } from "../../machines/conversation/context.ts";
import type { ConversationValue } from "../../machines/conversation/states.ts";
import type { conversationMachine } from "../../machines/conversation.machine.ts";
import type { EmittedEffect } from "../../machines/events/effects.ts";
import type { ConversationEvent } from "../../machines/events/events.ts";

export interface InspectedState {
  readonly status: string;
  readonly value: ConversationValue;
  readonly context: ConversationContext;
  /** The effects of the step that led here. */
  readonly effects: readonly EmittedEffect[];
}

/** Gets each event before it is applied, and each state after it. */
export interface InspectionListener {
  event(event: ConversationEvent): void;
  state(at: InspectedState, event: ConversationEvent): void;
}

export interface InspectedActor {
  /** The actor's id within its thread. */
  readonly actor: string;
  now(): InspectedState;
  follow(onlooker: InspectionListener): void;
  /** Stops the reports. */
  end(): void;
}

/** `effects`: what the actor's last step has emitted. */
export function inspectActor(
  actor: ActorRefFrom<typeof conversationMachine>,
  effects: () => readonly EmittedEffect[],
): InspectedActor {
  const ends: (() => void)[] = [];
  const now = (): InspectedState => {
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
        // The end of an actor is reported by the caller that ends it, which knows the reason.
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
