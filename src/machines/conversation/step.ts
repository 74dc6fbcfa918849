/**
 * A step in the making
 * ====================
 * What an action works on: a copy of the context, as it will be after the step, and the list of what
 * is to be done. The snapshot the step began from is never touched. Only fields are replaced: the
 * values in them are shared with earlier snapshots and stay as they are.
 */
import type { EmittedEffect } from "../events/effects.ts";
import type { ConversationContext } from "./context.ts";

type Draft = { -readonly [Field in keyof ConversationContext]: ConversationContext[Field] };

export interface Step {
  readonly context: Draft;
  /** In the order in which they are meant. */
  readonly effects: EmittedEffect[];
}

/** A step from this context, in which nothing has been done yet. */
export function beginStep(context: ConversationContext): Step {
  return { context: copyOf(context), effects: [] };
}

/**
 * Field by field: a spread makes two objects, one of them with room to grow, and takes longer. Every line makes
 * this copy, and as many as conversations are in memory stay there.
 */
function copyOf(context: ConversationContext): Draft {
  return {
    settings: context.settings,
    configured: context.configured,
    override: context.override,
    participants: context.participants,
    membership: context.membership,
    ledger: context.ledger,
    floors: context.floors,
    counters: context.counters,
    buffer: context.buffer,
    notes: context.notes,
    readByTurns: context.readByTurns,
    seeded: context.seeded,
    forming: context.forming,
    inbox: context.inbox,
    quietAt: context.quietAt,
    quietBy: context.quietBy,
    droppedWhileBusy: context.droppedWhileBusy,
    run: context.run,
    relays: context.relays,
    heartbeat: context.heartbeat,
    prompts: context.prompts,
    interruptedAt: context.interruptedAt,
    typing: context.typing,
    turnSeq: context.turnSeq,
    introduced: context.introduced,
    abortedLastRun: context.abortedLastRun,
    ownMessages: context.ownMessages,
    siblingMessages: context.siblingMessages,
    heardMessages: context.heardMessages,
    spokenIn: context.spokenIn,
  };
}
