/**
 * What crosses the thread boundary, always in batches and by structured clone. A host owns the
 * conversations whose keys hash to it. It has no store handle, only the secrets of the agents that
 * it runs, and no way to act: it applies events and returns effects. The supervisor accepts nothing
 * from it without a schema check and the right epoch.
 *
 * Order: entries of one conversation arrive in journal order, results come back in the order of
 * batches.
 */
import type { EarshotConfig } from "../../domain/config/index.ts";
import type { JudgeQuestion } from "../../domain/judgement.ts";
import type { Millis } from "../../domain/message.ts";
import type { OutgoingMedia } from "../../domain/outgoing.ts";
import type { AgentImage, RoomReport, TranscriptEntry } from "../../domain/ports/index.ts";
import type { ThinkingLevel, TurnSettings } from "../../domain/session.ts";
import type { Effect } from "../../machines/events/effects.ts";
import type { AgentReport, JournalEvent } from "../../machines/events/events.ts";

/** Stored code of a quarantined event: it killed its host too often, or its step threw. */
export const quarantinedCode = -3;
/** Host to supervisor only: the event was stepped before as part of a tail. Nothing to commit. */
export const alreadySteppedCode = -1;
/**
 * Host to supervisor only: the conversation is not live here; send the event again with activation.
 */
export const notLiveCode = -2;

/** A journalled event on its way to its conversation. */
export interface HostEntry {
  readonly conv: number;
  readonly key: string;
  readonly seq: number;
  /** Config version at the event's admission. */
  readonly cfg: number;
  readonly event: JournalEvent;
  /** The event's text from its journal row, if at hand: saves serialising it again. */
  readonly body?: string;
  /** Present when the supervisor believes that the conversation is not live on that host. */
  readonly activation?: Activation;
}

/**
 * A conversation from the store: its record, and the events since. The tail has no rows with
 * `quarantinedCode`.
 */
export interface Activation {
  readonly record: string | null;
  readonly recordSeq: number;
  /** Events after the record and before the entry that carries this, in order. */
  readonly tail: readonly TailEvent[];
}

/** An event since the record: as text of its journal row, or parsed. */
export interface TailEvent {
  readonly seq: number;
  readonly cfg: number;
  readonly body?: string;
  readonly event?: JournalEvent;
  /** Its effects were committed: step it and drop its effects. */
  readonly applied: boolean;
}

/** A config version, sent to a host before the first event that refers to it. Secrets removed. */
export interface HostConfig {
  readonly version: number;
  readonly config: EarshotConfig;
}

export interface HostBatch {
  readonly id: number;
  /** Number of the host's process; a result with another epoch is refused. */
  readonly epoch: number;
  readonly configs: readonly HostConfig[];
  /** Passivated conversations with durable records: the host may drop them. */
  readonly forget: readonly number[];
  readonly entries: readonly HostEntry[];
  /** Evicted conversations leave a record, however short their tail is. */
  readonly records?: boolean;
  /** After the entries, evict every conversation that is idle, with a record. */
  readonly passivate?: boolean;
}

/** A step with more effects than a decision. */
export interface HostStep {
  readonly seq: number;
  readonly conv: number;
  readonly key: string;
  readonly at: Millis;
  /** Encoded verdict of this event, or 0. */
  readonly code: number;
  /** All effects but `decided`. */
  readonly effects: readonly Effect[];
}

/** A heard message that another one, event `by`, pushed out of a full memory. Nothing is stored of it. */
export type Forgotten = readonly [by: number, seq: number, id: string];

export interface HostCheckpoint {
  readonly conv: number;
  readonly recordSeq: number;
  readonly record: string;
}

export interface HostResult {
  readonly id: number;
  readonly epoch: number;
  /**
   * Encoded verdict of each entry, in order; 0 for events that decide nothing, `quarantinedCode`
   * for events in `rejected`.
   */
  readonly codes: readonly number[];
  /**
   * Steps with effects, in the order they ran. Every unapplied event of a tail is here too, with or
   * without effects, so that it can be marked applied.
   */
  readonly steps: readonly HostStep[];
  /**
   * What entries without a step pushed out, in their order: in a room with a full memory every line does,
   * so they are not in `steps`.
   */
  readonly forgotten: readonly Forgotten[];
  readonly checkpoints: readonly HostCheckpoint[];
  /**
   * Conversations evicted from the live cache. A short tail in the journal holds what their last
   * checkpoint does not cover.
   */
  readonly passivated: readonly number[];
  /** Events that could not be applied (a poisonous message, a damaged record). */
  readonly rejected: readonly {
    readonly seq: number;
    readonly conv: number;
    readonly error: string;
  }[];
  /**
   * Conversations whose record cannot be restored: the supervisor rebuilds them from the journal.
   */
  readonly unreadable: readonly { readonly conv: number; readonly error: string }[];
  /** Live conversations after this batch. */
  readonly live: number;
}

/** One attempt of a turn, complete: messages read, prompt composed, driver named. */
export interface TurnRequest {
  readonly conv: number;
  readonly key: string;
  readonly cfg: number;
  readonly turnId: string;
  readonly turn: number;
  readonly attempt: number;
  readonly agentId: string;
  readonly system: string;
  readonly prompt: string;
  readonly messagesText: string;
  readonly transcript: readonly TranscriptEntry[];
  readonly room: RoomReport;
  /** UTF-16 units one platform message may have. */
  readonly textLimit: number;
  readonly chatKind: "direct" | "group" | "channel";
  /** Its channel can edit sent messages: an answer may be shown as a growing draft. */
  readonly edits: boolean;
  /** Its channel has files, and files can be stored. */
  readonly files?: true;
  /** Its channel has no reactions. */
  readonly reacts?: false;
  /** Platform id of the message that it answers; absent: there is none. */
  readonly replyTo?: string;
  readonly images: readonly AgentImage[];
  readonly session: TurnSettings;
  /** All authors that it answers are owners. @default false */
  readonly owned?: boolean;
  readonly thinking: ThinkingLevel;
  /** Another model for this turn; null: as configured. */
  readonly model: string | null;
  /** Names of the offered tools. @default all */
  readonly tools?: readonly string[];
  /** A client watches this conversation: send deltas. */
  readonly watched: boolean;
  /** Nobody sees the answer: no tools and no prefix. */
  readonly bare?: true;
  /** Its agent is the judge of the room, and this is asked. */
  readonly question?: JudgeQuestion;
  /** Another attempt: block numbers below this one are used. @default 0 */
  readonly firstIndex?: number;
  /** Started by a heartbeat: the answer is sent at its end, unless it only acknowledges. */
  readonly heartbeat?: { readonly ackMaxChars: number };
}

/** The driver of one agent: the only part of the config with secrets that reaches a host. */
export interface AgentSpec {
  readonly agentId: string;
  readonly agentName: string;
  readonly workspace?: string;
  readonly kind: string;
  /** From the config file; the driver's own schema checks it. */
  readonly config: unknown;
}

/** A report of a running turn to the main thread. Journalled there, then applied like any event. */
export interface TurnReport {
  readonly conv: number;
  readonly key: string;
  readonly turnId: string;
  /**
   * Number of the report within this attempt, from 0: part of the event's identity with turnId and
   * attempt.
   */
  readonly n: number;
  readonly attempt: number;
  readonly event: AgentReport;
}

/**
 * A request of a running turn for something that only the main thread has (`attachment_list`,
 * `attachment_fetch`, `history_search`). The answer is text for the agent, also when it is a
 * refusal.
 */
export interface ContextQuestion {
  readonly conv: number;
  readonly key: string;
  readonly turnId: string;
  readonly tool: string;
  readonly input: unknown;
}

/**
 * Text, and pictures that were requested by an agent that accepts them; for a file to send, the file.
 */
export type ContextAnswer =
  | string
  | { readonly media: OutgoingMedia }
  | { readonly text: string; readonly images: readonly AgentImage[] };

/** The text that a message edited in place should show now; never journalled. */
export interface TurnDraft {
  readonly conv: number;
  readonly key: string;
  readonly turnId: string;
  /** The block that was sent as a draft. */
  readonly index: number;
  readonly text: string;
}

/** Text of a running turn for watching clients; never journalled. */
export interface TurnDelta {
  readonly conv: number;
  readonly key: string;
  readonly turnId: string;
  /** The whole visible text so far. */
  readonly text: string;
}
