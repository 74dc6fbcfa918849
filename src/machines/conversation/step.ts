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
  return { context: { ...context }, effects: [] };
}
