/**
 * The walk of a message, as it is told
 * ====================================
 * Where each message is on its way from the intake to the last delivery, for whoever measures it.
 * The event stream tells what was decided and said; this tells when, between the parts of the
 * runtime, and names messages by their journal numbers, which are unique where platform ids are
 * not.
 *
 * Everything here is called on the hot path: it must be quick and must not throw.
 */
import type { Verdict } from "../../domain/decision.ts";
import type { Inbound, Millis } from "../../domain/message.ts";
import type { OutboxRow } from "../../domain/ports/index.ts";
import type { OutcomeReached, TurnRun } from "../../machines/events/effects.ts";
import type { MessageReceived } from "../../machines/events/events.ts";
import type { TurnReport } from "./host-protocol.ts";

/** A message that admission is done with. */
export interface Admitted {
  readonly message: Inbound;
  /** As its conversations will hear it; the same objects that `decided` shows later. */
  readonly heard: readonly Inbound[];
}

export interface MessageTelemetry {
  /** Admission is done; they go into the journal next. `since`: when the intake was given them. */
  admitted(messages: readonly Admitted[], since: Millis): void;
  /** They are durable, and the platform may be told. */
  stored(messages: readonly Admitted[], since: Millis): void;
  /** They could not be stored, and nobody is told that they were taken. */
  refused(messages: readonly Admitted[]): void;
  /** Admission ended it: a copy, a command, or from somebody who may not speak. */
  ended(message: Inbound, verdict: Verdict, since: Millis): void;
  /** A conversation decided it. */
  decided(key: string, received: MessageReceived, verdict: Verdict): void;
  /** It will never reach the agent. `seq`: its journal number. */
  dropped(seq: number): void;
  /** A try of a turn begins; the first has `attempt` 1. */
  turnStarted(key: string, turn: TurnRun): void;
  /** A try of a turn has its prompt and is handed to its agent. */
  agentCalled(turnId: string, attempt: number): void;
  /** What a running turn reported, in order. */
  reported(reports: readonly TurnReport[]): void;
  turnEnded(key: string, turn: OutcomeReached): void;
  /** Rows that are about to be sent. Their end is in the event stream. */
  queued(rows: readonly OutboxRow[]): void;
  /** One commit of the journal: how long the store took, and how many rows. */
  committed(ms: number, rows: number): void;
}

/** One tap that tells several. */
export function combineTelemetry(taps: readonly MessageTelemetry[]): MessageTelemetry {
  const [only] = taps;
  if (taps.length === 1 && only !== undefined) return only;
  const tell = (say: (tap: MessageTelemetry) => void) => {
    for (const tap of taps) say(tap);
  };
  return {
    admitted: (...told) => tell((tap) => tap.admitted(...told)),
    stored: (...told) => tell((tap) => tap.stored(...told)),
    refused: (...told) => tell((tap) => tap.refused(...told)),
    ended: (...told) => tell((tap) => tap.ended(...told)),
    decided: (...told) => tell((tap) => tap.decided(...told)),
    dropped: (...told) => tell((tap) => tap.dropped(...told)),
    turnStarted: (...told) => tell((tap) => tap.turnStarted(...told)),
    agentCalled: (...told) => tell((tap) => tap.agentCalled(...told)),
    reported: (...told) => tell((tap) => tap.reported(...told)),
    turnEnded: (...told) => tell((tap) => tap.turnEnded(...told)),
    queued: (...told) => tell((tap) => tap.queued(...told)),
    committed: (...told) => tell((tap) => tap.committed(...told)),
  };
}
