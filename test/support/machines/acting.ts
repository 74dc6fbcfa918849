/**
 * An action of the conversation chart by itself: what it leaves changed of a context, and what it
 * wants done. No chart is run, so a case costs microseconds.
 */
import {
  type ConversationContext,
  newContext,
  type Run,
} from "../../../src/machines/conversation/context.ts";
import { beginStep, type Step } from "../../../src/machines/conversation/step.ts";
import type { EmittedEffect } from "../../../src/machines/events/effects.ts";
import { defaults, type Overrides, settingsWith } from "../runtime/conversation-rig.ts";

export const room = {
  channel: "irc",
  account: "default",
  chat: { id: "room", kind: "group" as const },
  thread: null,
};
export const thread = { ...room, thread: { id: "t", kind: "thread" as const } };
export const direct = { ...room, chat: { id: "dm", kind: "direct" as const } };

export const pending = (seq: number, over: object = {}) => ({
  seq,
  id: `m${seq}`,
  at: seq,
  author: "ann",
  ack: null,
  gist: `ann: ${seq}`,
  ...over,
});
export const flush = (seqs: readonly number[], over: object = {}, message: object = {}) => ({
  route: room,
  messages: seqs.map((seq) => pending(seq, message)),
  instant: false,
  holds: true,
  overtaken: false,
  backlog: false,
  steeredAt: null,
  ...over,
});
export const forming = (seqs: readonly number[], over: object = {}) => ({
  route: room,
  author: "ann",
  group: null,
  messages: seqs.map((seq) => pending(seq)),
  instant: false,
  holds: true,
  overtaken: false,
  firstAt: 1,
  closesAt: 500,
  ...over,
});
export const order = (over: object = {}) => ({
  type: "turn.run" as const,
  turnId: "T1",
  turn: 1,
  attempt: 1,
  batch: [{ seq: 1, id: "m1" }],
  context: [],
  omitted: 0,
  droppedWhileBusy: [],
  route: room,
  replyTo: "m1",
  guard: false,
  nudge: false,
  introduce: false,
  afterAbort: false,
  participants: [],
  humans: 1,
  ...over,
});
export const run = (over: object = {}, ordered: object = {}): Run => ({
  order: order(ordered),
  batch: [pending(1)],
  holds: true,
  overtaken: false,
  abortedBy: null,
  blocks: 0,
  offset: 0,
  open: [],
  ...over,
});

type Given = Partial<Omit<ConversationContext, "settings">> & { readonly settings?: Overrides };

export function contextWith({ settings = {}, ...over }: Given): ConversationContext {
  const all = settingsWith(settings);
  return { ...newContext(defaults), settings: all, configured: all, ...over };
}

/** Which fields an action has replaced, and its effects, in their order. */
export function acting(
  given: Given,
  body: (step: Step) => void,
): { readonly changed: Partial<ConversationContext>; readonly effects: readonly EmittedEffect[] } {
  const before = contextWith(given);
  const step = beginStep(before);
  body(step);
  const changed = Object.entries(step.context).filter(
    ([name, value]) => value !== before[name as keyof ConversationContext],
  );
  return { changed: Object.fromEntries(changed), effects: step.effects };
}
