/**
 * The lines that `earshot replay --json` prints and `GET /api/events` sends: one form for
 * simulation and production, so a page, a test and a person read the same thing. `t` is ms since
 * the scenario's start in a replay and ms since the epoch in the daemon. Message text appears only
 * in `send` and `prompt` lines, and in live `decision` lines for readers who ask for it.
 */
import type { CreditUse, Decision, Rule } from "./decision.ts";
import type { Millis } from "./message.ts";
import type { OutgoingKind } from "./outgoing.ts";

export interface DecisionLine {
  readonly t: Millis;
  readonly id: string;
  /** Null when admission ended before a conversation was chosen. */
  readonly key: string | null;
  readonly decision: Decision;
  readonly rule: Rule;
  readonly credit: CreditUse;
  /** Live stream only. */
  readonly channel?: string;
  readonly chat?: string;
  readonly author?: string;
  /** What the message says, for readers who ask for it. */
  readonly text?: string;
}
export interface ReactLine {
  readonly t: Millis;
  readonly out: "react" | "unreact";
  readonly emoji: string;
  readonly message: string;
  readonly chat: string;
}
export interface TypingLine {
  readonly t: Millis;
  readonly out: "typing";
  readonly on: boolean;
  readonly chat: string;
}
export interface AgentStartLine {
  readonly t: Millis;
  readonly key: string;
  readonly event: "agent_start";
  readonly turn: number;
  readonly batch: readonly string[];
  readonly replyTo: string;
  readonly guard: boolean;
  readonly nudge: boolean;
  /** Live stream only: as in `delta`. */
  readonly turnId?: string;
}
export interface PromptLine {
  readonly t: Millis;
  readonly key: string;
  readonly event: "prompt";
  readonly turn: number;
  readonly text: string;
}
/**
 * Every engaged batch ends in exactly one of these. An answer counts by what was delivered of it:
 * all (`replied`), some (`partly`), or nothing that is known to have arrived (`undelivered`).
 */
export const outcomes = [
  ...(["replied", "partly", "undelivered", "silent", "failed", "cancelled", "expired"] as const),
] as const;
export type Outcome = (typeof outcomes)[number];

/** Why an agent failed, as a word that a person can act on and a metric can count. */
export const failureKinds = [
  /** The key is missing, wrong or not allowed to do this: HTTP 401, 402 and 403. */
  "auth",
  /** The model, address, program, module or session does not exist: HTTP 404, ENOENT. */
  "not-found",
  /** Too many requests, or the quota is used up: HTTP 429. */
  "rate-limit",
  /** No answer in time, by our limits or the other side's: HTTP 408 and 504. */
  "timeout",
  /** No connection: refused, reset, unknown host, TLS. */
  "refused",
  /** The request was not accepted, or the answer could not be read: HTTP 400, HTML for JSON. */
  "invalid",
  /** The server failed: HTTP 5xx. */
  "server",
  /** The program, module or host ended or threw. */
  "crashed",
] as const;
export type FailureKind = (typeof failureKinds)[number];

/** The cause of a failed turn. */
export interface FailureCause {
  readonly kind: FailureKind;
  /** The driver's own words: one line, secrets taken out; may be empty for a lost host. */
  readonly message: string;
}

/** Its driver knows what went wrong; our own limits are known by the code of the end. */
export function failureKindOf(end: {
  readonly code: string;
  readonly kind?: FailureKind;
}): FailureKind {
  if (end.kind !== undefined) return end.kind;
  if (end.code === "idle-timeout" || end.code === "total-timeout") return "timeout";
  return end.code === "too-long" ? "invalid" : "crashed";
}

/** An agent whose last turn failed. */
export interface FailingAgent extends FailureCause {
  readonly agentId: string;
  /** Turns that have failed in a row since the start. */
  readonly turns: number;
  readonly at: Millis;
  readonly key: string;
  readonly turnId: string;
}

/** The cause as text: its kind, then what the driver says. */
export const causeText = ({ kind, message }: FailureCause): string =>
  message === "" ? kind : `${kind}: ${message}`;

export interface AgentEndLine {
  readonly t: Millis;
  readonly key: string;
  readonly event: "agent_end";
  readonly turn: number;
  readonly outcome: Outcome;
  /** Not delivered: the ends of the parts that did not arrive. Else why it was stopped or failed. */
  readonly reason?: string;
  /** Of a failed turn. */
  readonly cause?: FailureCause;
}
export type SendStatus = "sent" | "in-doubt" | "expired" | "dead";
export interface SendLine {
  readonly t: Millis;
  readonly out: "send";
  readonly key: string;
  readonly channel: string;
  readonly account: string;
  readonly chat: string;
  readonly thread: string | null;
  readonly replyTo: string | null;
  readonly text: string;
  /** `turnId:index`. */
  readonly id: string;
  readonly status: SendStatus;
  /** The beginning of an answer that is edited in place while it grows. */
  readonly draft?: true;
  /** The id of the line whose message this text replaces. */
  readonly edits?: string;
  /** Not the answer itself: reasoning, or a status message about tools. */
  readonly aside?: "reasoning" | "status";
  /** A file; `text` is its caption and its address or name. */
  readonly media?: OutgoingKind;
  /** The labels of choices; `text` has them too, numbered. */
  readonly choices?: readonly string[];
}
export interface DroppedLine {
  readonly t: Millis;
  readonly key: string;
  readonly event: "dropped";
  readonly message: string;
  readonly why: string;
}
/** Live stream only: hosts, connections, quarantine, config. */
export interface SystemLine {
  readonly t: Millis;
  readonly system: string;
  readonly [field: string]: string | number | boolean | null;
}
/** Live stream only: a running turn's text so far. Never journalled. */
export interface DeltaLine {
  readonly t: Millis;
  readonly key: string;
  readonly event: "delta";
  readonly turnId: string;
  readonly text: string;
}
export type StreamLine =
  | DecisionLine
  | ReactLine
  | TypingLine
  | AgentStartLine
  | PromptLine
  | AgentEndLine
  | SendLine
  | DroppedLine
  | SystemLine
  | DeltaLine;
