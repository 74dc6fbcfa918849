/**
 * A conversation, live
 * ====================
 * Steps on one event at a time and returns the effects of the step; it performs nothing itself. It is an
 * XState actor, which this file alone creates, from the step that engages it until nothing is under way,
 * or once somebody inspects it. One that only hears is the machine's snapshot: ten thousand conversations are live on a
 * host, and an actor around each took four times the memory and as much time as the step. Errors of the
 * machine are observed before anything is sent, because an actor that fails unobserved ends its
 * thread.
 */
import { type ActorRefFrom, createActor } from "xstate";
import type { EngagementInput } from "../../domain/decision.ts";
import { EarshotError } from "../../domain/errors.ts";
import type { Millis } from "../../domain/message.ts";
import type { ConversationSettings } from "../../domain/settings.ts";
import type { ConversationContext } from "../../machines/conversation/context.ts";
import {
  engagementInput,
  heldAuthors,
  type StepEvent,
  stepEvent,
} from "../../machines/conversation/message-analysis.ts";
import {
  type Attention,
  attentionOf,
  type GuardState,
  type Lock,
} from "../../machines/conversation/states.ts";
import type { conversationMachine } from "../../machines/conversation.machine.ts";
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
import { conversationLogic, type State } from "./conversation-stepper.ts";
import { summaryAt } from "./conversation-summary.ts";

export interface ConversationOptions {
  /** Session key: its name in inspectors and in errors. */
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
  return new SteppedConversation(options);
}

const none: EmittedEffect[] = [];

/** With the values that the machine's own states share. */
function stateOf(read: State): State {
  const { value, context } = conversationLogic.resolveState(read);
  return { value, context };
}

type Actor = ActorRefFrom<typeof conversationMachine>;

/** A class, because its methods are the same objects for all of them. */
class SteppedConversation implements Conversation {
  readonly key: string;
  #state: State;
  #failure: { readonly error: unknown } | null = null;
  /** What the actor's step has emitted so far. */
  #emitted: EmittedEffect[] = none;
  /** Steps in place of this; null: it only hears. */
  #actor: Actor | null = null;
  #isInspected = false;

  constructor({ key, settings, record = null }: ConversationOptions) {
    this.key = key;
    this.#state =
      record === null ? conversationLogic.begin(settings) : stateOf(readSnapshot(record, settings));
    if (!this.idle) this.#actor = this.#begin();
  }

  get context(): ConversationContext {
    return this.#state.context;
  }

  step(event: JournalEvent, wanted?: ConversationSettings): readonly Effect[] {
    const emitted: EmittedEffect[] = [];
    const events = eventsIn(event);
    if (events.length === 0) return emitted as Effect[];
    if (wanted !== undefined && wanted !== this.context.configured)
      this.#send({ type: "config.changed", at: event.at, settings: wanted }, emitted);
    for (const one of events) this.#send(one, emitted);
    return emitted.some(({ type }) => type === "command")
      ? withStates(emitted, this.#state)
      : (emitted as Effect[]);
  }

  record(): string {
    return writeSnapshot(this.#state.value, this.context);
  }

  get idle(): boolean {
    return this.#state.value.attention === "observing";
  }

  get guarded(): boolean {
    return this.#state.value.guard !== "clear";
  }

  get busy(): boolean {
    const at = attentionOf(this.#state.value);
    return at === "engaged.running" || at === "engaged.settling";
  }

  engagementInputFor(event: MessageReceived): EngagementInput {
    return engagementInput(this.context, event);
  }

  view(): ConversationView {
    return viewOf(this.#state);
  }

  summary(at: Millis): ConversationSummary {
    return summaryAt(this.#state, at);
  }

  inspect(): InspectedActor {
    this.#isInspected = true;
    this.#actor ??= this.#begin();
    return inspectActor(this.#actor, () => this.#emitted);
  }

  stop(): void {
    this.#actor?.stop();
  }

  #begin(): Actor {
    const { settings } = this.context;
    const snapshot = conversationLogic.resolveState(this.#state);
    const actor = createActor(conversationLogic, { id: this.key, input: { settings }, snapshot });
    actor.subscribe({
      error: (error) => {
        this.#failure = { error };
      },
    });
    actor.on("*", (effect) => {
      this.#emitted.push(effect);
    });
    return actor.start();
  }

  #send(event: ConversationEvent, emitted: EmittedEffect[]): void {
    // A stopped actor would print the event, and with it text of the room.
    if (this.#failure === null)
      try {
        this.#next(stepEvent(this.#state, event), emitted);
      } catch (error) {
        this.#failure = { error };
      }
    if (this.#failure !== null) this.#fail(event, this.#failure.error);
  }

  #next(event: StepEvent, emitted: EmittedEffect[]): void {
    if (this.#actor === null) {
      const { state, effects } = conversationLogic.next(this.#state, event);
      this.#state = state;
      for (const effect of effects) emitted.push(effect);
      if (!this.idle) this.#actor = this.#begin();
      return;
    }
    this.#emitted = emitted;
    this.#actor.send(event);
    const { value, context } = this.#actor.getSnapshot();
    this.#state = { value, context };
    if (this.idle && !this.#isInspected && this.#failure === null) this.#rest();
  }

  /** Its work is done: it only hears from now on. */
  #rest(): void {
    this.#actor?.stop();
    this.#actor = null;
    this.#emitted = none;
  }

  #fail(event: ConversationEvent, error: unknown): never {
    throw new EarshotError(
      "EAR_ASSERT",
      `Cannot step conversation ${JSON.stringify(this.key)} on ${event.type}: its machine failed. ` +
        reasonOf(error),
      { cause: error },
    );
  }
}

/**
 * The effects of a step; effects that report the conversation's state to a command get the current
 * states.
 */
function withStates(emitted: readonly EmittedEffect[], { value }: State): readonly Effect[] {
  const attention = attentionOf(value).replace("engaged.", "") as ConversationStatus["attention"];
  const { guard } = value;
  return emitted.map((effect) =>
    effect.type === "command"
      ? { ...effect, status: { ...effect.status, attention, guard } }
      : effect,
  );
}

function viewOf({ value, context }: State): ConversationView {
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
