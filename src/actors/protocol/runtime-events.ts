/**
 * Everything the runtime reports to listeners, through one emitter: metrics and traces, the list of
 * rooms, open rooms of a page, the event stream, watching plugins, callers that wait for a
 * decision, tests. Listeners change nothing; hooks that may change what is sent are in
 * outbox/plugin-hooks.ts.
 *
 * Every message passes most of these events, so an event without a listener costs one read of a
 * field: `emit.decided?.(…)` does not even evaluate its arguments. A listener must be quick. One
 * that throws is removed, and the others still get the event.
 */
import type { Verdict } from "../../domain/decision.ts";
import type { ChatPlace, Inbound, Millis } from "../../domain/message.ts";
import type { Log, OutboxRow, SideStep } from "../../domain/ports/index.ts";
import type { StreamLine } from "../../domain/stream.ts";
import type { OutcomeReached, TurnRun } from "../../machines/events/effects.ts";
import type { MessageReceived } from "../../machines/events/events.ts";
import type { TurnReport } from "./host-protocol.ts";

/** A message after admission. */
export interface Admitted {
  readonly message: Inbound;
  /** In the form for its conversations; the same objects as in `decided` later. */
  readonly received: readonly Inbound[];
}

/** How a reaction of ours ended. */
export interface ReactionEnded {
  readonly key: string;
  /** Platform id of the message. */
  readonly message: string;
  readonly emoji: string;
  /** Why it was not put; null: it was. */
  readonly error: string | null;
}

/** The events. Messages are named by their journal numbers, which are unique. */
export interface RuntimeListener {
  /** One line of the event stream, as `GET /api/events` and a replay print it. */
  line?(line: StreamLine): void;
  /** Admission is done; they are journalled next. `since`: when ingress received them. */
  admitted?(messages: readonly Admitted[], since: Millis): void;
  /** They are durable, and the platform may be acknowledged. */
  stored?(messages: readonly Admitted[], since: Millis): void;
  /** They could not be stored, and the platform is not acknowledged. */
  refused?(messages: readonly Admitted[]): void;
  /**
   * Admission ended it: a copy, a command, or denied. `key`: the conversation that has it already.
   */
  ended?(message: Inbound, key: string | null, verdict: Verdict, since: Millis): void;
  /** A conversation decided it. */
  decided?(conv: number, key: string, received: MessageReceived, verdict: Verdict): void;
  /** The judge engaged a message that was observed; `received` is as in `decided`. */
  engagedLate?(conv: number, received: MessageReceived, verdict: Verdict): void;
  /** An event was applied, also one without effects. */
  applied?(conv: number): void;
  /** More than a decision was applied: the conversation's summary may have changed. */
  changed?(conv: number): void;
  /** A message of the conversation has a new text; null: it was deleted. */
  edited?(conv: number, message: ChatPlace & { readonly id: string }, text: string | null): void;
  /** Somebody said whether a decision of the conversation was right; null: took that back. */
  labelled?(conv: number, isRight: boolean | null): void;
  /** The message of this journal number will never reach the agent. */
  dropped?(seq: number): void;
  /** An attempt of a turn begins; the first has `attempt` 1. */
  turnStarted?(key: string, turn: TurnRun): void;
  /** An attempt has its prompt and calls its agent. */
  agentCalled?(turnId: string, attempt: number): void;
  /** What a running turn reported, in order. */
  reported?(reports: readonly TurnReport[]): void;
  turnEnded?(key: string, turn: OutcomeReached): void;
  /** Rows that are about to be sent. The event stream reports their end. */
  queued?(rows: readonly OutboxRow[]): void;
  /** A delivery, a host or a connection has made a step. */
  stepped?(step: SideStep): void;
  /** A reaction was put, or will not be. */
  reacted?(reaction: ReactionEnded): void;
  /** One commit of the journal: the store's time in ms, and the number of rows. */
  committed?(ms: number, rows: number): void;
}

type EventName = keyof RuntimeListener;

const names: readonly EventName[] = [
  "line",
  "admitted",
  "stored",
  "refused",
  "ended",
  "decided",
  "engagedLate",
  "applied",
  "changed",
  "edited",
  "labelled",
  "dropped",
  "turnStarted",
  "agentCalled",
  "reported",
  "turnEnded",
  "queued",
  "stepped",
  "reacted",
  "committed",
];

export interface RuntimeEvents {
  /** Calls all listeners. A field is undefined while its event has no listener. */
  readonly emit: Readonly<RuntimeListener>;
  /** Adds a listener after the existing ones; returns a function that removes it. */
  add(listener: RuntimeListener): () => void;
}

/** A listener that repeats everything to another emitter. */
export function relayTo({ emit }: Pick<RuntimeEvents, "emit">): RuntimeListener {
  const to = emit as Record<EventName, ((...args: unknown[]) => void) | undefined>;
  return Object.fromEntries(
    names.map((name) => [name, (...args: unknown[]) => to[name]?.(...args)]),
  );
}

/** The emitter of one runtime. */
export function createRuntimeEvents(log: Log, ...first: readonly RuntimeListener[]): RuntimeEvents {
  const listeners: RuntimeListener[] = [];
  const emit: Record<EventName, unknown> = Object.fromEntries(
    names.map((name) => [name, undefined]),
  ) as Record<EventName, unknown>;

  /** A function that calls all listeners of one event; undefined: there are none. */
  function callerOf(name: EventName): ((...args: unknown[]) => void) | undefined {
    const interested = listeners.filter((listener) => listener[name] !== undefined);
    if (interested.length === 0) return undefined;
    return (...args) => {
      for (const listener of interested) {
        try {
          (listener[name] as (...args: unknown[]) => void)(...args);
        } catch (error) {
          log("error", "events.listener-failed", { event: name, error: String(error) });
          remove(listener);
        }
      }
    };
  }

  function update(changed: RuntimeListener): void {
    for (const name of names) if (changed[name] !== undefined) emit[name] = callerOf(name);
  }

  function remove(listener: RuntimeListener): void {
    const at = listeners.indexOf(listener);
    if (at === -1) return;
    listeners.splice(at, 1);
    update(listener);
  }

  function add(listener: RuntimeListener): () => void {
    listeners.push(listener);
    update(listener);
    return () => remove(listener);
  }

  for (const listener of first) add(listener);
  return { emit: emit as RuntimeListener, add };
}
