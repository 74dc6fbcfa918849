/**
 * What a conversation wants done, as data. The machine emits effects in the order they are meant, the
 * actor's owner gets them after each step, and only then are they carried out. The same step on the
 * same state gives the same effects, so the journal number alone distinguishes a replayed step from a new
 * one.
 */
import type { Activation, Verdict } from "../../domain/decision.ts";
import type { Millis, Route } from "../../domain/message.ts";
import type { OutgoingChoices, OutgoingMedia } from "../../domain/outgoing.ts";
import type { UnsentPart } from "../../domain/session.ts";
import type { QueueSettings, SendPolicy } from "../../domain/settings.ts";
import type { FailureCause, Outcome } from "../../domain/stream.ts";
import type { CommandAsked, CommandIssued } from "./events.ts";

/** Why a message will never reach the agent. */
export type DropReason =
  | "context-size"
  | "context-age"
  | "queue-cap-old"
  | "queue-cap-new"
  | "queue-cap-summarized"
  | "interrupted"
  | "stopped"
  | "deleted";

/** A message named by its journal number and platform id. */
export interface MessageRef {
  readonly seq: number;
  readonly id: string;
  /** Journal number of the latest edit, whose text counts instead of the message's. */
  readonly editSeq?: number;
  /** `seq` is an edit of a message that a turn has read: how it was read. */
  readonly was?: Pick<MessageRef, "seq" | "editSeq">;
}

/** The decision on one message; exactly one per `message.received`. */
export interface Decided extends Verdict {
  readonly type: "decided";
  readonly seq: number;
  readonly messageId: string;
}
export interface DeadlineSet {
  readonly type: "deadline.set";
  readonly id: string;
  readonly at: Millis;
}
export interface DeadlineClear {
  readonly type: "deadline.clear";
  readonly id: string;
}
/** A flush is ready and wants a turn slot. */
export interface SlotRequest {
  readonly type: "lane.request";
}
export interface SlotRelease {
  readonly type: "lane.release";
}

/** Everything a turn needs; texts are named by journal number and read where the turn runs. */
export interface TurnRun {
  readonly type: "turn.run";
  readonly turnId: string;
  /** 1 for the conversation's first turn. */
  readonly turn: number;
  /** 1 for the first try of this turn. */
  readonly attempt: number;
  readonly batch: readonly MessageRef[];
  /** Observed messages shown for awareness, oldest first. */
  readonly context: readonly MessageRef[];
  /** Observed messages that aged out or fell off the buffer since the last turn. */
  readonly omitted: number;
  /** Lines of at most 160 units about messages dropped while busy. */
  readonly droppedWhileBusy: readonly string[];
  readonly route: Route;
  /** The message a reply answers. */
  readonly replyTo: string;
  readonly guard: boolean;
  readonly nudge: boolean;
  /** First turn of a session: introduce the room. */
  readonly introduce: boolean;
  /** The previous run was aborted or lost; say so once. */
  readonly afterAbort: boolean;
  readonly participants: readonly string[];
  /** Effective humans when the turn began, as the ladder counts them. */
  readonly humans: number;
  /** Nobody asked for it: the batch is empty and there is no message to reply to. */
  readonly heartbeat?: true;
  /** Journal number of the prompt that asked for it; the batch begins empty. */
  readonly prompt?: number;
  /** It belongs to the session that was in use before this journal number; absent: to the latest. */
  readonly sessionAt?: number;
  /** Another try: block numbers below this one are taken. */
  readonly firstIndex?: number;
}
/**
 * Everything that waits in the turn's place, in order. The runner does not repeat to its agent what
 * that has taken in before.
 */
export interface TurnSteer {
  readonly type: "turn.steer";
  readonly turnId: string;
  readonly batch: readonly MessageRef[];
}
export interface TurnAbort {
  readonly type: "turn.abort";
  readonly turnId: string;
  readonly reason: string;
}
/** A block to deliver: becomes an outbox row `turnId:index`. */
export interface Block {
  readonly type: "block";
  readonly turnId: string;
  readonly index: number;
  readonly text: string;
  readonly route: Route;
  /** The platform message to reply to; null: a plain send. */
  readonly replyTo: string | null;
  /** Others spoke in between: send as a visible quote of that message. */
  readonly quote: boolean;
  /** `notice`: a line of the runtime's own (an error shown to the room). */
  readonly kind: "reply" | "notice";
  /** First sight of an answer that an `edits` block completes. */
  readonly draft?: true;
  /** Replaces the text of this turn's block of that index, or is sent if that one never was. */
  readonly edits?: number;
  /** Its turn was stopped: without that block it is not sent at all. */
  readonly stopped?: true;
  /** Beside the answer. */
  readonly aside?: "reasoning" | "status";
  /** The message that the agent wanted it to answer and that was not heard here lately. */
  readonly unknownTarget?: string;
  /** Sent instead of the text where the channel can. */
  readonly media?: OutgoingMedia;
  readonly choices?: OutgoingChoices;
}
/** A text that belongs to no turn, to deliver and to keep in the transcript. */
export interface Say {
  readonly type: "say";
  /** Names its outbox rows and its lines as a turn's id does. */
  readonly turnId: string;
  readonly parts: readonly string[];
  readonly route: Route;
  readonly replyTo: string | null;
}
/** A part of such a text did not reach the room. */
export interface Unsaid extends UnsentPart {
  readonly type: "unsaid";
  readonly turnId: string;
}
export interface Typing {
  readonly type: "typing";
  readonly on: boolean;
  readonly route: Route;
}
export interface React {
  readonly type: "react";
  readonly message: string;
  readonly emoji: string;
  readonly route: Route;
}
export interface Unreact {
  readonly type: "unreact";
  readonly message: string;
  readonly emoji: string;
  readonly route: Route;
}
/** Something for the session's transcript. User entries are written when the turn is composed. */
export interface Transcript {
  readonly type: "transcript";
  readonly turnId: string;
  readonly role: "assistant";
  readonly text: string;
  /** The block that sends it. */
  readonly index: number;
}
/** Messages that became a part of a turn after it began: its transcript has them, too. */
export interface Joined {
  readonly type: "joined";
  readonly turnId: string;
  readonly batch: readonly MessageRef[];
}
/** What a turn's agent reported when it ended; once for each try that got that far. */
export interface Usage {
  readonly type: "usage";
  readonly turnId: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
}
/** A new session: turns ordered from here on belong to it. */
export interface SessionBegan {
  readonly type: "session.began";
  readonly sessionId: string;
  /** Messages from before it wait for a turn: there is a session before it. */
  readonly owes?: true;
}
export interface Dropped {
  readonly type: "dropped";
  readonly message: MessageRef;
  readonly why: DropReason;
}
/** The agent of a turn has ended for good; what it said may still be on its way. */
export interface RunEnded {
  readonly type: "run.ended";
  readonly turnId: string;
  /** It failed or was stopped: what it began to say has no end. */
  readonly broken: boolean;
}
/** The one outcome of a turn, after its last delivery; exactly one per `turn.run` id. */
export interface OutcomeReached {
  readonly type: "outcome";
  readonly turnId: string;
  readonly turn: number;
  readonly outcome: Outcome;
  readonly batch: readonly MessageRef[];
  readonly reason?: string;
  /** Why the agent failed, where the outcome is `failed`. */
  readonly cause?: FailureCause;
  /** Parts of the answer that did not reach the room, as far as is known. */
  readonly unsent?: readonly UnsentPart[];
  /** As in `turn.run`. */
  readonly sessionAt?: number;
}
/** The judge of the room is to be asked about a message that was observed. */
export interface JudgeAsk {
  readonly type: "judge.ask";
  /** The message, after what else was overheard lately; oldest first. */
  readonly messages: readonly MessageRef[];
  readonly route: Route;
}
/** We are through with a message: the conversations of `to` may answer it (machines/relay.ts). */
export interface RelayPassed {
  readonly type: "relay.pass";
  readonly token: string;
  readonly place: number;
  /** Session keys. */
  readonly to: readonly string[];
}
/** Someone never seen before spoke: read the member list for the next message. */
export interface MembershipRefresh {
  readonly type: "membership.refresh";
  readonly route: Route;
}

/** Commands to be carried out and answered, and the status of the conversation when they came. */
export interface CommandDue {
  readonly type: "command";
  readonly calls: readonly CommandIssued[];
  /** Null: they take effect without an answer. */
  readonly asked: CommandAsked | null;
  readonly status: ConversationStatus;
}
/** A conversation in figures, as its context has them. */
export interface ConversationFigures {
  /** Turns that peer bots caused since a human spoke. */
  readonly consecutive: number;
  /** Batches that wait, those whose window is open included. */
  readonly waiting: number;
  /** Overheard messages that the next turn is shown. */
  readonly remembered: number;
  readonly turns: number;
  /** What a stop by the author of the command reaches: a turn, and messages that wait. */
  readonly stops: {
    readonly turn: boolean;
    readonly messages: number;
    /** Messages of sessions that are over; no turn is shown them any more. */
    readonly past: number;
  };
  /** People who may go on talking to us without calling our name. */
  readonly credits: number;
  readonly activation: Activation;
  readonly queue: QueueSettings;
  readonly send: SendPolicy;
}
/** The same with its states, which the snapshot has. */
export interface ConversationStatus extends ConversationFigures {
  readonly attention: "observing" | "gathering" | "waiting" | "running" | "settling";
  readonly guard: "clear" | "tripped" | "muted";
}

export type Effect =
  | Decided
  | DeadlineSet
  | DeadlineClear
  | SlotRequest
  | SlotRelease
  | TurnRun
  | TurnSteer
  | TurnAbort
  | Block
  | Say
  | Unsaid
  | Typing
  | React
  | Unreact
  | Transcript
  | Joined
  | Usage
  | SessionBegan
  | Dropped
  | RunEnded
  | OutcomeReached
  | MembershipRefresh
  | JudgeAsk
  | RelayPassed
  | CommandDue;

/** An effect as the machine emits it. No action can see the states, so a command lacks them yet. */
export type EmittedEffect =
  | Exclude<Effect, CommandDue>
  | (Omit<CommandDue, "status"> & { readonly status: ConversationFigures });
