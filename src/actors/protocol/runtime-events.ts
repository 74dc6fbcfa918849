/**
 * Runtime events
 * ==============
 * Everything the runtime tells those who watch it, through one emitter: metrics and traces, the list
 * of rooms, rooms that are open on a page, the event stream, plugins that look, callers that wait for
 * a decision, tests. Listeners change nothing; hooks that may change what is sent are asked elsewhere
 * (outbox/plugin-hooks.ts).
 *
 * Most of it is on the way of every message, so an event that nobody listens to costs one look at a
 * field: `emit.decided?.(…)` does not even make its arguments. A listener must be quick. One that
 * throws is taken off, and the others hear the event all the same.
 */
import type { Verdict } from "../../domain/decision.ts";
import type { Inbound, Millis } from "../../domain/message.ts";
import type { Log, OutboxRow } from "../../domain/ports/index.ts";
import type { StreamLine } from "../../domain/stream.ts";
import type { OutcomeReached, TurnRun } from "../../machines/events/effects.ts";
import type { MessageReceived } from "../../machines/events/events.ts";
import type { TurnReport } from "./host-protocol.ts";

/** A message that admission is done with. */
export interface Admitted {
  readonly message: Inbound;
  /** As its conversations will hear it; the same objects that `decided` shows later. */
  readonly received: readonly Inbound[];
}

/** What can be listened to. Messages are named by their journal numbers, which are unique. */
export interface RuntimeListener {
  /** One line of the event stream, as `GET /api/events` and a replay print it. */
  line?(line: StreamLine): void;
  /** Admission is done; they go into the journal next. `since`: when ingress was given them. */
  admitted?(messages: readonly Admitted[], since: Millis): void;
  /** They are durable, and the platform may be told. */
  stored?(messages: readonly Admitted[], since: Millis): void;
  /** They could not be stored, and nobody is told that they were taken. */
  refused?(messages: readonly Admitted[]): void;
  /** Admission ended it: a copy, a command, or denied. `key`: the conversation that has it already. */
  ended?(message: Inbound, key: string | null, verdict: Verdict, since: Millis): void;
  /** A conversation decided it. */
  decided?(conv: number, key: string, received: MessageReceived, verdict: Verdict): void;
  /** An event was applied, also one that led to nothing. */
  applied?(conv: number): void;
  /** More than a decision was applied: how the conversation stands may have changed. */
  changed?(conv: number): void;
  /** A message of the conversation has another text now; null: it was deleted. */
  edited?(conv: number, messageId: string, text: string | null): void;
  /** The message of this journal number will never reach the agent. */
  dropped?(seq: number): void;
  /** A try of a turn begins; the first has `attempt` 1. */
  turnStarted?(key: string, turn: TurnRun): void;
  /** A try of a turn has its prompt and is handed to its agent. */
  agentCalled?(turnId: string, attempt: number): void;
  /** What a running turn reported, in order. */
  reported?(reports: readonly TurnReport[]): void;
  turnEnded?(key: string, turn: OutcomeReached): void;
  /** Rows that are about to be sent. Their end is in the event stream. */
  queued?(rows: readonly OutboxRow[]): void;
  /** One commit of the journal: how long the store took, and how many rows. */
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
  "applied",
  "changed",
  "edited",
  "dropped",
  "turnStarted",
  "agentCalled",
  "reported",
  "turnEnded",
  "queued",
  "committed",
];

export interface RuntimeEvents {
  /** Calls everybody who listens. A field is undefined while nobody listens to that event. */
  readonly emit: Readonly<RuntimeListener>;
  /** Adds a listener, after those that are there; call the answer to take it off again. */
  add(listener: RuntimeListener): () => void;
}

/** The emitter of one runtime. */
export function createRuntimeEvents(log: Log, ...first: readonly RuntimeListener[]): RuntimeEvents {
  const listeners: RuntimeListener[] = [];
  const emit: Record<EventName, unknown> = Object.fromEntries(
    names.map((name) => [name, undefined]),
  ) as Record<EventName, unknown>;

  /** What calls all listeners of one event; undefined: there are none. */
  function callerOf(name: EventName): ((...args: unknown[]) => void) | undefined {
    const hearing = listeners.filter((listener) => listener[name] !== undefined);
    if (hearing.length === 0) return undefined;
    return (...args) => {
      for (const listener of hearing) {
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
