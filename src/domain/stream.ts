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

export interface AgentEndLine {
  readonly t: Millis;
  readonly key: string;
  readonly event: "agent_end";
  readonly turn: number;
  readonly outcome: Outcome;
  /** Not delivered: the ends of the parts that did not arrive. Else why it was stopped or failed. */
  readonly reason?: string;
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
