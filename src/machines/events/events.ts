/**
 * Everything that can happen to a conversation. The journal stores exactly these (one row an event,
 * in the order they are applied; reports of an agent that come together share a row), so a
 * conversation is a pure fold over its journal: recovery, replay and what-if are the same fold.
 * Every event carries `at`, the ms since the epoch at which it was admitted; ids are made outside
 * and come in with the event.
 */
import type { Expected, JudgeFailure, Membership } from "../../domain/decision.ts";
import type { Deletion, Edit, Inbound, Millis, Reaction, Route } from "../../domain/message.ts";
import type { OutgoingChoices, OutgoingMedia } from "../../domain/outgoing.ts";
import type { TurnLevels } from "../../domain/session.ts";
import type { ConversationSettings, SessionOverride } from "../../domain/settings.ts";
import type { FailureKind } from "../../domain/stream.ts";

/** What admission found out about the sender. Part of the record, never recomputed later. */
export interface Authority {
  readonly commandAuthorized: boolean;
  readonly owner: boolean;
}

/** The agents that answer a message one after the other, and our place among them. */
export interface RelayOrder {
  /** Names the message to all of them. */
  readonly token: string;
  readonly place: number;
  /** Session keys, in the order in which they answer. */
  readonly keys: readonly string[];
}

/** A message was admitted. `seq` is its journal number and names its text from here on. */
export interface MessageReceived {
  readonly type: "message.received";
  readonly at: Millis;
  readonly seq: number;
  readonly message: Inbound;
  readonly authority: Authority;
  /** What it asks of its turn; taken out of its text. */
  readonly levels?: TurnLevels;
  /** A skill of this conversation's agent that it asks for (`skill:<name>`). */
  readonly skill?: string;
  /** It is for the running turn, if there is one (`/steer`). */
  readonly steer?: true;
  /** The text as it came, where something it orders was taken out of it. */
  readonly said?: string;
  /** The channel's latest read of the room's member list, if one was in the cache. */
  readonly membership?: Membership | null;
  /** Several agents hear it, and it calls these by name but not us. */
  readonly namesOnly?: readonly string[];
  /** Several agents answer it, one after the other. */
  readonly relay?: RelayOrder;
  /** Set where admission ended it, and no conversation hears it: why, and what would admit it. */
  readonly admission?: string;
}
/** Another agent of this earshot said something in the room. Remembered, never decided. */
export interface SiblingSpoke {
  readonly type: "fellow.spoke";
  readonly at: Millis;
  readonly seq: number;
  readonly message: Inbound;
}
/** The text of a message changed. Rewrites what is pending or remembered; decides nothing. */
export interface MessageEdited {
  readonly type: "message.edited";
  readonly at: Millis;
  readonly seq: number;
  readonly edit: Edit;
}
/** A message was removed by its author or a moderator. */
export interface MessageDeleted {
  readonly type: "message.deleted";
  readonly at: Millis;
  readonly seq: number;
  readonly deletion: Deletion;
}
/** Somebody reacted to a message, or took that back. Remembered if it is ours; decides nothing. */
export interface MessageReacted {
  readonly type: "message.reacted";
  readonly at: Millis;
  readonly seq: number;
  readonly reaction: Reaction;
}
/** Cold start: older messages read from the platform, oldest first. Remembered, never decided. */
export interface HistorySeeded {
  readonly type: "history.seeded";
  readonly at: Millis;
  readonly seq: number;
  readonly messages: readonly Inbound[];
}
/**
 * What the judge of the room said about a message that no rule decided, or why it said nothing. The
 * message is engaged now if it still can be; else it stays observed.
 */
export interface JudgeAnswered {
  readonly type: "judge.answered";
  readonly at: Millis;
  /** Platform id of the message. */
  readonly id: string;
  /** Its chat, where its session may hold several (batching/chats.ts); earlier versions said none. */
  readonly chat?: string;
  readonly engage: boolean;
  /** 0 to 1. */
  readonly confidence: number;
  /** For people who ask why; never shown to the room or to its agent. */
  readonly why: string;
  /** There is no answer; `why` says what happened. */
  readonly failed?: JudgeFailure;
  readonly usage?: Omit<AgentUsage, "type" | "at" | "turnId">;
}
/** The channel read the room's member list. */
export interface MembershipRead {
  readonly type: "membership.read";
  readonly at: Millis;
  readonly membership: Membership;
}
/** A durable deadline set by `deadline.set` fell due. */
export interface DeadlineDue {
  readonly type: "deadline.due";
  readonly at: Millis;
  readonly id: string;
}
/** A turn slot is free for this conversation; the turn about to start gets this id. */
export interface SlotGranted {
  readonly type: "lane.granted";
  readonly at: Millis;
  readonly turnId: string;
}
/** The agent was called. */
export interface AgentStarted {
  readonly type: "agent.started";
  readonly at: Millis;
  readonly turnId: string;
  readonly attempt: number;
}
/** The first visible text of a turn appeared (for typing modes). */
export interface AgentSpoke {
  readonly type: "agent.spoke";
  readonly at: Millis;
  readonly turnId: string;
  readonly what: "text" | "reasoning";
}
/**
 * A block is ready to be sent. `index` counts the blocks of the turn from 0; `from` and `to` are
 * the source offsets (UTF-16 units) it covers, by which duplicates are recognised. `mentions` are
 * author ids the text mentions in platform syntax.
 */
export interface AgentText {
  readonly type: "agent.text";
  readonly at: Millis;
  readonly turnId: string;
  readonly index: number;
  readonly from: number;
  readonly to: number;
  readonly text: string;
  readonly mentions: readonly string[];
  /**
   * The first sight of an answer that is edited in place as it grows: sent, but neither kept in the
   * transcript nor counted as covered.
   */
  readonly draft?: true;
  /** The index of the draft whose message becomes this text. */
  readonly edits?: number;
  /** Beside the answer: neither remembered, nor credited, nor counted as a reply. */
  readonly aside?: "reasoning" | "status";
  /** Goes before the text as the room sees it; no part of what is remembered. */
  readonly prefix?: string;
  /** Id of the message that it answers, as the agent says; empty: the current one. */
  readonly target?: string;
  /** A file or choices instead of the text, where the channel has them. */
  readonly media?: OutgoingMedia;
  readonly choices?: OutgoingChoices;
}
/** The running agent took in messages handed to it by `turn.steer`; they belong to its turn now. */
export interface AgentSteered {
  readonly type: "agent.steered";
  readonly at: Millis;
  readonly turnId: string;
  /** Journal numbers of the messages taken in. */
  readonly messages: readonly number[];
  /** Those of their edits, as far as they were read. @default as the conversation knows them */
  readonly edits?: readonly number[];
}
export interface AgentMessageEnded {
  readonly type: "agent.message-ended";
  readonly at: Millis;
  readonly turnId: string;
}
/** The agent used a tool. The tools that change the conversation have events of their own. */
export interface AgentTool {
  readonly type: "agent.tool";
  readonly at: Millis;
  readonly turnId: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}
/** A tool failed or was refused. Decides nothing; kept for who asks what happened. */
export interface AgentToolFailed {
  readonly type: "agent.tool-failed";
  readonly at: Millis;
  readonly turnId: string;
  readonly name: string;
  /** One line, secrets redacted; empty: the agent does not say. */
  readonly message: string;
}
export interface AgentUsage {
  readonly type: "agent.usage";
  readonly at: Millis;
  readonly turnId: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Absent: the agent does not report it. */
  readonly costUsd?: number;
}
/** The agent finished. `silent`: the whole answer was the silent token, or there was none. */
export interface AgentEnded {
  readonly type: "agent.ended";
  readonly at: Millis;
  readonly turnId: string;
  readonly silent: boolean;
}
/** The agent failed, hung past a time-out, or was cancelled and has ended. */
export interface AgentFailed {
  readonly type: "agent.failed";
  readonly at: Millis;
  readonly turnId: string;
  readonly code: "error" | "idle-timeout" | "total-timeout" | "aborted" | "host-lost" | "too-long";
  /** The driver's own words: one line, secrets redacted. */
  readonly message: string;
  /** What it had said and nobody in the room got. */
  readonly unsent?: string;
  /** What kind of error it was, where the driver knows. */
  readonly kind?: FailureKind;
}
/** A block of this turn reached the platform under these ids. */
export interface DeliverySent {
  readonly type: "delivery.sent";
  readonly at: Millis;
  readonly turnId: string;
  readonly index: number;
  readonly messageIds: readonly string[];
}
/** A block of this turn will not reach the platform any more. */
export interface DeliveryFailed {
  readonly type: "delivery.failed";
  readonly at: Millis;
  readonly turnId: string;
  readonly index: number;
  readonly status: "expired" | "dead" | "in-doubt";
}
/** `channel_disengage` or `/disengage`. */
export interface Disengage {
  readonly type: "disengage";
  readonly at: Millis;
  /** By hand: no message and no agent asked for it. */
  readonly operator?: true;
  /** By hand: who did it, where that is known. */
  readonly by?: string;
}
/** `skip_response`: the running turn is silent from here on. */
export interface Skip {
  readonly type: "skip";
  readonly at: Millis;
  readonly turnId: string;
}
/** One command of the table (machines/commands) with its words. */
export interface CommandIssued {
  readonly command: string;
  readonly args: readonly string[];
}
/** Where a command is answered, and who gave it. */
export interface CommandAsked {
  readonly route: Route;
  readonly messageId: string;
  readonly author: string;
  readonly owner: boolean;
  /** The message that the one with the command replies to. */
  readonly about: string | null;
  /** The agent that answers, where several share the room; its name goes before the answer. */
  readonly as?: string;
  /** It was called by its name. */
  readonly called?: true;
}
/** A control command took effect; answered by the runtime. */
export interface CommandApplied extends CommandIssued {
  readonly type: "command.applied";
  readonly at: Millis;
  /** Further ones of the same message. */
  readonly more?: readonly CommandIssued[];
  /** Absent: it takes effect without an answer. */
  readonly asked?: CommandAsked;
}
/** A new session began: the room is introduced again, and no lost run is mentioned. */
export interface SessionReset {
  readonly type: "session.reset";
  readonly at: Millis;
  /** The id of the session that begins. */
  readonly sessionId?: string;
  /** By hand: no message and no policy asked for it. */
  readonly operator?: true;
  /** By hand: who did it, where that is known. */
  readonly by?: string;
  /** Somebody ordered it: what waits for a turn belongs to the session before. */
  readonly cuts?: true;
}
/** The session says something differently than the config. Absent: as before; null: as configured. */
export interface SessionOverridden {
  readonly type: "session.overridden";
  readonly at: Millis;
  readonly queue?: SessionOverride["queue"] | null;
  readonly send?: SessionOverride["send"] | null;
  readonly activation?: SessionOverride["activation"] | null;
  /** `queue` changes what it names and leaves the rest. */
  readonly merge?: true;
  /** By hand: who did it, where that is known. */
  readonly by?: string;
}
/** Time for a turn that nobody asked for; its text goes to `route`. Waits while anything is due. */
export interface HeartbeatDue {
  readonly type: "heartbeat.due";
  readonly at: Millis;
  readonly route: Route;
}
/** Words of the agent's own that nobody in the room asked for: by hand, or of a schedule. */
export interface TextDue {
  readonly type: "text.due";
  readonly at: Millis;
  /** Of the caller; one text has one id. */
  readonly id: string;
  readonly route: Route;
  /** Cut for the platform. */
  readonly parts: readonly string[];
  /** The platform message that the first part replies to. */
  readonly replyTo: string | null;
  /** Said from the page of the room: who did it. */
  readonly by?: string;
}
/** Somebody who is not in the room, or a schedule, wants a turn there. It waits while people do. */
export interface PromptDue {
  readonly type: "prompt.due";
  readonly at: Millis;
  readonly seq: number;
  readonly id: string;
  readonly route: Route;
  readonly text: string;
  /** Who wants it. */
  readonly by: string;
}
/** Another config applies from here on. Sent by the actor's owner, not journalled by itself. */
export interface ConfigChanged {
  readonly type: "config.changed";
  readonly at: Millis;
  readonly settings: ConversationSettings;
}
/** Who orders a stop, and where: it is about their own turn and messages. */
export type AbortOrder = Pick<CommandAsked, "author" | "owner" | "route">;
/** `/stop`, an abort word, or the operator. */
export interface RunAborted {
  readonly type: "run.aborted";
  readonly at: Millis;
  readonly by: string;
  /** By hand: no message asked for it. */
  readonly operator?: true;
  /** Absent: it is about the running turn, and leaves what waits. */
  readonly from?: AbortOrder;
}
/** The host or process that ran this turn is gone; the same turn may be tried again. */
export interface HostRecovered {
  readonly type: "host.recovered";
  readonly at: Millis;
  /** The whole process is a new one: what the old one went on showing has to be shown again. */
  readonly restarted?: true;
}

/** What a running turn reports of its agent. */
export type AgentReport =
  | AgentStarted
  | AgentSpoke
  | AgentText
  | AgentMessageEnded
  | AgentTool
  | AgentToolFailed
  | AgentUsage
  | AgentEnded
  | AgentFailed
  | Disengage
  | Skip;
/**
 * Several reports of one turn that came together: one row of the journal. Its conversation is
 * stepped on each of them, in this order.
 */
export interface AgentReported {
  readonly type: "agent.reported";
  /** When the last of them was made. */
  readonly at: Millis;
  readonly turnId: string;
  readonly events: readonly AgentReport[];
}
/**
 * Somebody said what would have been right about a message. No event of the conversation: it is
 * kept beside the message and changes nothing.
 */
export interface MessageLabelled {
  readonly type: "message.labelled";
  readonly at: Millis;
  /** Platform id of the message. */
  readonly id: string;
  /** Its chat, where its session may hold several (batching/chats.ts); earlier versions said none. */
  readonly chat?: string;
  /** Null: takes back what was said before. The last one counts. */
  readonly expected: Expected | null;
  readonly by: string;
}
/**
 * The older part of a transcript is no longer given to the agent. No event of the conversation
 * either.
 */
export interface SessionCompacted {
  readonly type: "session.compacted";
  readonly at: Millis;
  /** Whether a summary replaces it; there is none if it could not be made. */
  readonly summary: boolean;
}
/** What one row of the journal holds. */
export type JournalEvent = ConversationEvent | AgentReported | MessageLabelled | SessionCompacted;

export type ConversationEvent =
  | MessageReceived
  | SiblingSpoke
  | MessageEdited
  | MessageDeleted
  | MessageReacted
  | HistorySeeded
  | MembershipRead
  | JudgeAnswered
  | DeadlineDue
  | SlotGranted
  | AgentStarted
  | AgentSpoke
  | AgentText
  | AgentSteered
  | AgentMessageEnded
  | AgentTool
  | AgentToolFailed
  | AgentUsage
  | AgentEnded
  | AgentFailed
  | DeliverySent
  | DeliveryFailed
  | Disengage
  | Skip
  | CommandApplied
  | SessionReset
  | SessionOverridden
  | HeartbeatDue
  | TextDue
  | PromptDue
  | ConfigChanged
  | RunAborted
  | HostRecovered;
