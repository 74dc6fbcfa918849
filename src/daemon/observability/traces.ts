/**
 * One trace for each message, from the intake to the last delivery of its answer: admission,
 * journal, decision, queue, turn, agent, deliveries. A turn that answers several messages is in the
 * trace of the one it replies to, and linked to the others, whose traces end with it.
 *
 * Attributes are names from closed lists, ids and numbers, never text. Open spans are bounded: the
 * oldest is ended to make room. Without an SDK this file is not loaded (tracer.ts).
 */
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { Admitted, RuntimeListener } from "../../actors/protocol/runtime-events.ts";
import type { Verdict } from "../../domain/decision.ts";
import { parseSessionKey } from "../../domain/key.ts";
import { limits } from "../../domain/limits.ts";
import type { Inbound, Millis } from "../../domain/message.ts";
import type { OutboxRow } from "../../domain/ports/index.ts";
import { oneLine } from "../../domain/sanitize.ts";
import type { SendLine, StreamLine } from "../../domain/stream.ts";
import type { OutcomeReached, TurnRun } from "../../machines/events/effects.ts";
import type { MessageReceived } from "../../machines/events/events.ts";
import { tagged } from "../events/event-kinds.ts";

const idUnitsMax = 256;

export interface Traces {
  readonly listener: RuntimeListener;
  /** The trace of a line, valid while the line is published; undefined: none. */
  idOf(line: StreamLine): string | undefined;
  /** Ends all open spans. */
  close(): void;
}

interface MessageTrace {
  readonly span: Span;
  readonly context: Context;
  journal: Span | null;
  durableAt: Millis | null;
  /** Conversations that have not finished with it. */
  open: number;
}

/** A message that will be answered. */
interface Waiting {
  readonly message: MessageTrace;
  readonly queue: Span;
}

interface TurnTrace {
  readonly span: Span;
  readonly context: Context;
  readonly members: Map<number, Waiting>;
  agent: Span | null;
  /** Parts that are not delivered yet. */
  parts: number;
  over: boolean;
}

/** The traces of one daemon, through a tracer of the SDK. */
export function createTraces(tracer: Tracer, now: () => Millis): Traces {
  return new OpenTraces(tracer, now);
}

class OpenTraces implements Traces {
  readonly #tracer: Tracer;
  readonly #now: () => Millis;
  readonly #messages = new WeakMap<Inbound, MessageTrace>();
  /** Messages that wait or are being answered, by journal number. */
  readonly #waiting = new Map<number, Waiting>();
  readonly #turns = new Map<string, TurnTrace>();
  readonly #parts = new Map<string, { readonly span: Span; readonly turn: TurnTrace }>();
  /** The newest turn of each conversation, for the line that reports its end. */
  readonly #newest = new Map<string, { readonly turn: number; readonly id: string }>();
  /** The message whose decision is being published. */
  #decision: { readonly id: string; readonly trace: string } | null = null;
  /** The part whose end is being published. */
  #sent: { readonly id: string; readonly trace: string } | null = null;

  constructor(tracer: Tracer, now: () => Millis) {
    this.#tracer = tracer;
    this.#now = now;
  }

  readonly listener: RuntimeListener = {
    admitted: (messages, since) => {
      for (const message of messages) this.#admitted(message, since);
    },
    stored: (messages) => {
      for (const { message } of messages) this.#stored(message);
    },
    refused: (messages) => {
      for (const { message } of messages) this.#refused(message);
    },
    ended: (message, _key, verdict) => this.#ended(message, verdict),
    decided: (_conv, key, received, verdict) => this.#decided(key, received, verdict),
    dropped: (seq) => this.#dropped(seq),
    turnStarted: (key, turn) => this.#turnStarted(key, turn),
    agentCalled: (turnId, attempt) => {
      const turn = this.#turns.get(turnId);
      if (turn === undefined) return;
      const attributes = { "earshot.turn.attempt": attempt };
      turn.agent = this.#start("earshot.agent", turn.context, { attributes });
    },
    reported: (reports) => {
      for (const { turnId, event } of reports) {
        const turn = this.#turns.get(turnId);
        if (turn === undefined) continue;
        if (event.type === "agent.ended") this.#agentEnded(turn, null);
        else if (event.type === "agent.failed") this.#agentEnded(turn, event.code);
      }
    },
    turnEnded: (_key, outcome) => this.#turnEnded(outcome),
    queued: (rows) => {
      for (const row of rows) this.#queued(row);
    },
    line: (line) => {
      const { kind, line: event } = tagged(line);
      if (kind === "send") this.#delivered(event);
    },
  };

  idOf(line: StreamLine): string | undefined {
    const { kind, line: event } = tagged(line);
    if (kind === "decision")
      return this.#decision?.id === event.id ? this.#decision.trace : undefined;
    if (kind === "send") return this.#sent?.id === event.id ? this.#sent.trace : undefined;
    if (kind !== "agent_end") return undefined;
    const newest = this.#newest.get(event.key);
    return newest?.turn === event.turn ? newest.id : undefined;
  }

  close(): void {
    for (const turn of [...this.#turns.values()]) {
      turn.span.end(this.#now());
      turn.agent?.end(this.#now());
    }
    for (const { span } of this.#parts.values()) span.end(this.#now());
    for (const { queue, message: entry } of this.#waiting.values()) {
      queue.end(this.#now());
      entry.span.end(this.#now());
    }
    for (const open of [this.#turns, this.#parts, this.#waiting]) open.clear();
  }

  #start(
    name: string,
    context: Context,
    how: { at?: Millis; attributes?: Attributes; kind?: SpanKind; links?: readonly Span[] } = {},
  ): Span {
    const { at = this.#now(), attributes = {}, kind = SpanKind.INTERNAL, links = [] } = how;
    const options = { startTime: at, attributes, kind };
    const linked = links.map((span) => ({ context: span.spanContext() }));
    return this.#tracer.startSpan(name, { ...options, links: linked }, context);
  }

  #begin(message: Inbound, at: Millis, open: number): MessageTrace {
    const attributes = {
      "earshot.channel": message.channel,
      "earshot.account": message.account,
      "earshot.chat.kind": message.chat.kind,
      "earshot.message.id": label(message.id),
    };
    const kind = SpanKind.CONSUMER;
    const span = this.#start("earshot.message", ROOT_CONTEXT, { at, attributes, kind });
    const context = trace.setSpan(ROOT_CONTEXT, span);
    return { span, context, journal: null, durableAt: null, open };
  }

  #admitted({ message, received }: Admitted, since: Millis): void {
    const entry = this.#begin(message, since, Math.max(1, received.length));
    this.#start("earshot.admission", entry.context, { at: since }).end(this.#now());
    entry.journal = this.#start("earshot.journal", entry.context);
    this.#messages.set(message, entry);
    for (const item of received) this.#messages.set(item, entry);
  }

  #stored(message: Inbound): void {
    const entry = this.#messages.get(message);
    if (entry === undefined) return;
    entry.durableAt = this.#now();
    entry.journal?.end(entry.durableAt);
  }

  #refused(message: Inbound): void {
    const entry = this.#messages.get(message);
    if (entry === undefined || entry.durableAt !== null) return;
    entry.journal?.end(this.#now());
    entry.span.setStatus({ code: SpanStatusCode.ERROR, message: "not stored" });
    entry.open = 1;
    this.#settle(entry);
  }

  #ended(message: Inbound, verdict: Verdict): void {
    const entry = this.#messages.get(message);
    if (entry === undefined) return;
    entry.span.setAttributes(verdictAttributes(verdict));
    this.#decision = { id: message.id, trace: entry.span.spanContext().traceId };
    this.#settle(entry);
  }

  #decided(key: string, { seq, at, message }: MessageReceived, verdict: Verdict): void {
    // A message from before this start has no trace yet.
    const entry = this.#messages.get(message) ?? this.#begin(message, at, 1);
    const attributes = { ...verdictAttributes(verdict), "earshot.session.key": label(key) };
    const from = { at: entry.durableAt ?? this.#now(), attributes };
    this.#start("earshot.decision", entry.context, from).end(this.#now());
    this.#decision = { id: message.id, trace: entry.span.spanContext().traceId };
    if (verdict.decision !== "engage") {
      this.#settle(entry);
      return;
    }
    if (this.#waiting.size >= limits.tracesOpenMax)
      this.#dropped(this.#waiting.keys().next().value as number);
    const queue = this.#start("earshot.queue", entry.context);
    this.#waiting.set(seq, { message: entry, queue });
  }

  #dropped(seq: number): void {
    const waiting = this.#waiting.get(seq);
    if (waiting === undefined) return;
    waiting.queue.setAttribute("earshot.dropped", true);
    waiting.queue.end(this.#now());
    this.#finished(seq, waiting);
  }

  #turnStarted(key: string, { turnId, turn, batch, replyTo, attempt }: TurnRun): void {
    const known = this.#turns.get(turnId);
    if (known !== undefined) {
      this.#agentEnded(known, "host-lost");
      return;
    }
    const members = new Map<number, Waiting>();
    let lead: Waiting | null = null;
    for (const { seq, id } of batch) {
      const waiting = this.#waiting.get(seq);
      if (waiting === undefined) continue;
      waiting.queue.end(this.#now());
      members.set(seq, waiting);
      if (lead === null || id === replyTo) lead = waiting;
    }
    const others = [...members.values()].filter((member) => member.message !== lead?.message);
    const span = this.#start("earshot.turn", lead?.message.context ?? ROOT_CONTEXT, {
      links: others.map(({ message: entry }) => entry.span),
      attributes: {
        "earshot.turn.id": turnId,
        "earshot.turn.number": turn,
        "earshot.turn.messages": batch.length,
        "earshot.turn.attempt": attempt,
        "earshot.session.key": label(key),
        "earshot.agent.id": parseSessionKey(key).agentId,
      },
    });
    const context = trace.setSpan(lead?.message.context ?? ROOT_CONTEXT, span);
    if (this.#turns.size >= limits.tracesOpenMax) this.#giveUp();
    this.#turns.set(turnId, { span, context, members, agent: null, parts: 0, over: false });
    if (this.#newest.size >= limits.tracesOpenMax) this.#newest.clear();
    this.#newest.set(key, { turn, id: span.spanContext().traceId });
  }

  #giveUp(): void {
    const [turnId, turn] = this.#turns.entries().next().value as [string, TurnTrace];
    turn.span.end(this.#now());
    turn.over = true;
    turn.parts = 0;
    this.#finish(turnId, turn);
  }

  #agentEnded(turn: TurnTrace, failure: string | null): void {
    if (failure !== null) turn.agent?.setStatus({ code: SpanStatusCode.ERROR, message: failure });
    turn.agent?.end(this.#now());
    turn.agent = null;
  }

  #turnEnded({ turnId, outcome, batch }: OutcomeReached): void {
    const turn = this.#turns.get(turnId);
    if (turn === undefined) return;
    this.#agentEnded(turn, null);
    turn.span.setAttribute("earshot.turn.outcome", outcome);
    if (["failed", "undelivered"].includes(outcome))
      turn.span.setStatus({ code: SpanStatusCode.ERROR, message: outcome });
    turn.span.end(this.#now());
    turn.over = true;
    // Messages that joined while it ran.
    for (const { seq } of batch) {
      const waiting = this.#waiting.get(seq);
      if (waiting === undefined || turn.members.has(seq)) continue;
      waiting.queue.end(this.#now());
      turn.members.set(seq, waiting);
    }
    // Its last parts are queued right after this.
    queueMicrotask(() => this.#finish(turnId, turn));
  }

  #queued({ id, turnId, kind, key }: OutboxRow): void {
    const turn = this.#turns.get(turnId);
    if (turn === undefined || kind === "react" || kind === "unreact") return;
    const attributes = {
      "earshot.delivery.id": id,
      "earshot.delivery.kind": kind,
      "earshot.session.key": label(key),
    };
    const how = { attributes, kind: SpanKind.PRODUCER };
    this.#parts.set(id, { turn, span: this.#start("earshot.delivery", turn.context, how) });
    turn.parts += 1;
  }

  #delivered({ id, status, channel }: SendLine): void {
    const part = this.#parts.get(id);
    if (part === undefined) return;
    const { span, turn } = part;
    this.#parts.delete(id);
    this.#sent = { id, trace: span.spanContext().traceId };
    span.setAttributes({ "earshot.delivery.status": status, "earshot.channel": channel });
    if (status !== "sent") span.setStatus({ code: SpanStatusCode.ERROR, message: status });
    span.end(this.#now());
    turn.parts -= 1;
    this.#finish(id.slice(0, id.lastIndexOf(":")), turn);
  }

  /** Ends the traces of a turn's messages once the turn and its deliveries are over. */
  #finish(turnId: string, turn: TurnTrace): void {
    if (!turn.over || turn.parts > 0) return;
    for (const [seq, waiting] of turn.members) this.#finished(seq, waiting);
    turn.members.clear();
    if (this.#turns.get(turnId) === turn) this.#turns.delete(turnId);
  }

  #finished(seq: number, { message: entry }: Waiting): void {
    if (this.#waiting.delete(seq)) this.#settle(entry);
  }

  #settle(entry: MessageTrace): void {
    entry.open -= 1;
    if (entry.open === 0) entry.span.end(this.#now());
  }
}

/** An id of a platform, as an attribute. */
const label = (id: string): string => oneLine(id, idUnitsMax);

const verdictAttributes = ({ decision, rule, credit }: Verdict): Attributes => ({
  "earshot.decision": decision,
  "earshot.rule": rule,
  "earshot.credit": credit,
});
