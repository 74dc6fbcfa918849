/**
 * Looking into an actor
 * =====================
 * XState tells of everything an actor is sent and of every state it reaches, if somebody has asked.
 * Nobody has until `lookInto`, so a conversation that no inspector shows pays nothing for this. What
 * is told is read at once: a conversation's context is changed in place by its next step.
 */
import type { ActorRefFrom, InspectionEvent } from "xstate";
import type { ConversationContext } from "../../machines/conversation/context.ts";
import type { conversationMachine } from "../../machines/conversation.machine.ts";
import type { ConversationEvent } from "../../machines/events/events.ts";
import type { ConversationValue } from "../../machines/snapshot/snapshot.ts";

/** How an actor stands. */
export interface Standpoint {
  readonly status: string;
  readonly value: ConversationValue;
  readonly context: Readonly<ConversationContext>;
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

export function inspectActor(actor: ActorRefFrom<typeof conversationMachine>): InspectedActor {
  const ends: (() => void)[] = [];
  const now = () => actor.getSnapshot() as Standpoint;
  return {
    actor: actor.sessionId,
    now,
    follow(onlooker) {
      const { unsubscribe } = actor.system.inspect((told: InspectionEvent) => {
        if (told.type !== "@xstate.event" && told.type !== "@xstate.snapshot") return;
        const event = told.event as ConversationEvent;
        // Its own end is told by whoever ends it, who knows why.
        if (event.type.startsWith("xstate.")) return;
        if (told.type === "@xstate.event") onlooker.event(event);
        else onlooker.state(now(), event);
      });
      ends.push(unsubscribe);
    },
    end() {
      for (const end of ends.splice(0)) end();
    },
  };
}
