/**
 * A conversation, live
 * ====================
 * The XState actor around one conversation, and the only file that creates one. It steps on one
 * event at a time and returns the effects of the step; it performs nothing itself. Errors of the
 * machine are observed before anything is sent, because an actor that fails unobserved ends its
 * thread.
 */
import { createActor, type SnapshotFrom } from "xstate";
import type { EngagementInput } from "../../domain/decision.ts";
import { EarshotError } from "../../domain/errors.ts";
import type { Millis } from "../../domain/message.ts";
import type { ConversationSettings } from "../../domain/settings.ts";
import type { ConversationContext } from "../../machines/conversation/context.ts";
import {
  engagementInput,
  heldAuthors,
  stepEvent,
} from "../../machines/conversation/message-analysis.ts";
import {
  type Attention,
  attentionOf,
  type GuardState,
  type Lock,
} from "../../machines/conversation/states.ts";
import { conversationMachine } from "../../machines/conversation.machine.ts";
import type { ConversationStatus, Effect, EmittedEffect } from "../../machines/events/effects.ts";
import type {
  ConversationEvent,
  JournalEvent,
  MessageReceived,
} from "../../machines/events/events.ts";
import { readSnapshot, writeSnapshot } from "../../machines/snapshot/snapshot.ts";
import type { ConversationSummary } from "../protocol/conversation-summary.ts";
import { eventsIn } from "../protocol/event-codec.ts";
import { type InspectedActor, inspectActor } from "./actor-inspector.ts";
import { conversationLogic } from "./conversation-stepper.ts";
import { summaryAt } from "./conversation-summary.ts";

export interface ConversationOptions {
  /** Session key: the actor's id in inspectors and in errors. */
  readonly key: string;
  readonly settings: ConversationSettings;
  /** From `record()`; absent or null: a new conversation. */
  readonly record?: string | null;
}

/** What pages show of a conversation. */
export interface ConversationView {
  readonly attention: Attention;
  readonly lock: Lock;
  readonly guard: GuardState;
  readonly credits: Readonly<Record<string, Millis>>;
  readonly held: readonly string[];
  /** Observed messages for the prompt of the next turn. */
  readonly remembered: number;
  /** Messages in batches whose window is open. */
  readonly forming: number;
  /** Batches that wait for a turn. */
  readonly queued: number;
  /** Turns so far. */
  readonly turns: number;
  readonly turnId: string | null;
}

export interface Conversation {
  readonly key: string;
  /**
   * Applies the events of one row and returns their effects, in order. Settings other than the last
   * step's apply first.
   * @throws EarshotError EAR_ASSERT when the machine failed; the conversation must not be used
   * after that.
   */
  step(event: JournalEvent, settings?: ConversationSettings): readonly Effect[];
  /** The conversation as text; a conversation created from it continues without a difference. */
  record(): string;
  /** Nothing is pending: its record may replace it. */
  readonly idle: boolean;
  /** Its loop guard holds it: tripped or muted. */
  readonly guarded: boolean;
  /** A turn is in progress. */
  readonly busy: boolean;
  /** For reading only. Its values are replaced, never changed, so a caller may keep them. */
  readonly context: Readonly<ConversationContext>;
  /** The ladder's input for this message if it came now. */
  engagementInputFor(event: MessageReceived): EngagementInput;
  view(): ConversationView;
  /** The few fields that a list shows. */
  summary(now: Millis): ConversationSummary;
  /** Starts an inspection. Without one a step does no work for it. */
  inspect(): InspectedActor;
  stop(): void;
}

/**
 * Creates a live conversation, new or from its record.
 * @throws EarshotError EAR_RECORD_INVALID when the record is of another version or damaged.
 */
export function createConversation(options: ConversationOptions): Conversation {
  const { key, settings, record } = options;
  const restored = record === undefined || record === null ? null : readSnapshot(record, settings);
  const actor = createActor(conversationLogic, {
    id: key,
    input: { settings },
    ...(restored === null ? {} : { snapshot: conversationMachine.resolveState(restored) }),
  });
  let failure: { readonly error: unknown } | null = null;
  let emitted: EmittedEffect[] = [];
  actor.subscribe({
    error: (error) => {
      failure = { error };
    },
  });
  actor.on("*", (effect) => {
    emitted.push(effect);
  });
  actor.start();
  const now = () => actor.getSnapshot();
  const fail = (event: ConversationEvent, error: unknown): never => {
    throw new EarshotError(
      "EAR_ASSERT",
      `Cannot step conversation ${JSON.stringify(key)} on ${event.type}: its machine failed. ` +
        reasonOf(error),
      { cause: error },
    );
  };
  const send = (event: ConversationEvent) => {
    // A stopped actor would print the event, and with it text of the room.
    if (failure !== null) fail(event, failure.error);
    try {
      actor.send(stepEvent(now(), event));
    } catch (error) {
      failure = { error };
    }
    if (failure !== null) fail(event, failure.error);
  };

  return {
    key,
    get context() {
      return now().context;
    },
    step(event, wanted) {
      emitted = [];
      const events = eventsIn(event);
      if (events.length === 0) return emitted as Effect[];
      if (wanted !== undefined && wanted !== now().context.configured)
        send({ type: "config.changed", at: event.at, settings: wanted });
      for (const one of events) send(one);
      return emitted.some(({ type }) => type === "command")
        ? withStates(emitted, now())
        : (emitted as Effect[]);
    },
    record: () => writeSnapshot(now().value, now().context),
    get idle() {
      return now().value.attention === "observing";
    },
    get guarded() {
      return now().value.guard !== "clear";
    },
    get busy() {
      const at = attentionOf(now().value);
      return at === "engaged.running" || at === "engaged.settling";
    },
    engagementInputFor: (event) => engagementInput(now().context, event),
    view: () => viewOf(now()),
    summary: (at) => summaryAt(now(), at),
    inspect: () => inspectActor(actor, () => emitted),
    stop: () => {
      actor.stop();
    },
  };
}

type Snapshot = SnapshotFrom<typeof conversationMachine>;

/**
 * The effects of a step; effects that report the conversation's state to a command get the current
 * states.
 */
function withStates(emitted: readonly EmittedEffect[], { value }: Snapshot): readonly Effect[] {
  const attention = attentionOf(value).replace("engaged.", "") as ConversationStatus["attention"];
  const { guard } = value;
  return emitted.map((effect) =>
    effect.type === "command"
      ? { ...effect, status: { ...effect.status, attention, guard } }
      : effect,
  );
}

function viewOf({ value, context }: Snapshot): ConversationView {
  const { ledger, buffer, forming, inbox, turnSeq, run } = context;
  return {
    attention: attentionOf(value),
    lock: value.lock,
    guard: value.guard,
    credits: ledger,
    held: heldAuthors(context),
    remembered: buffer.entries.length,
    forming: forming.reduce((sum, { messages }) => sum + messages.length, 0),
    queued: inbox.length,
    turns: turnSeq,
    turnId: run?.order.turnId ?? null,
  };
}

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
