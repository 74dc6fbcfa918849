/**
 * Host protocol
 * =============
 * What crosses the thread boundary, always in batches and always by structured clone. A host owns
 * the conversations whose keys hash to it and has no store handle, no secrets but those of the
 * agents it runs and no way to act: it folds events and answers with effects. The supervisor trusts
 * nothing that comes back without a schema check and the right epoch.
 *
 * Order: entries of one conversation arrive in journal order, results come back in the order of
 * batches.
 */
import type { EarshotConfig } from "../../domain/config/index.ts";
import type { Millis } from "../../domain/message.ts";
import type { AgentImage, RoomReport, TranscriptEntry } from "../../domain/ports/index.ts";
import type { SessionSettings, ThinkingLevel } from "../../domain/session.ts";
import type { Effect } from "../../machines/events/effects.ts";
import type { AgentReport, JournalEvent } from "../../machines/events/events.ts";

/**
 * A code stored for an event that was set aside: it killed its host too often, or its step threw.
 */
export const quarantinedCode = -3;
/**
 * Host to supervisor only: the event was part of a tail that was stepped before. Nothing to commit.
 */
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
  /** Config version in force when the event was admitted. */
  readonly cfg: number;
  readonly event: JournalEvent;
  /** The event as its journal row has it, where that is at hand: saves serialising it again. */
  readonly body?: string;
  /** Present when the supervisor believes the conversation is not live on that host. */
  readonly activation?: Activation;
}

/**
 * A conversation as the store has it: the record, and what happened since. Rows stored with
 * `quarantinedCode` are left out of the tail.
 */
export interface Activation {
  readonly record: string | null;
  readonly recordSeq: number;
  /** Events after the record and before the entry that carries this, in order. */
  readonly tail: readonly TailEvent[];
}

/** An event since the record: as its journal row has it, or already read. */
export interface TailEvent {
  readonly seq: number;
  readonly cfg: number;
  readonly body?: string;
  readonly event?: JournalEvent;
  /** Its effects were committed: step it, drop its effects. */
  readonly applied: boolean;
}

/** A config version, sent to a host before the first event that refers to it. Secrets removed. */
export interface HostConfig {
  readonly version: number;
  readonly config: EarshotConfig;
}

export interface HostBatch {
  readonly id: number;
  /** Incarnation of the host; a result with another one is refused. */
  readonly epoch: number;
  readonly configs: readonly HostConfig[];
  /** Passivated conversations whose records are durable: the host may drop them. */
  readonly forget: readonly number[];
  readonly entries: readonly HostEntry[];
  /** Evicted conversations leave a record, however short their tail is. */
  readonly records?: boolean;
  /** After the entries, evict every conversation that is idle, with a record. */
  readonly passivate?: boolean;
}

/** A step that left more than a decision behind. */
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
  readonly checkpoints: readonly HostCheckpoint[];
  /**
   * Conversations evicted from the live cache. What their last checkpoint does not cover is a short
   * tail in the journal.
   */
  readonly passivated: readonly number[];
  /** Events that could not be applied (a poisonous message, a bad record); never silent. */
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

/** One try of one turn, complete: texts read, prompt composed, driver named. */
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
  readonly said: string;
  readonly transcript: readonly TranscriptEntry[];
  readonly room: RoomReport;
  /** UTF-16 units one platform message may have. */
  readonly textLimit: number;
  readonly chatKind: "direct" | "group" | "channel";
  /** Its channel can edit what was sent: an answer may be shown as a draft while it grows. */
  readonly edits: boolean;
  /** Its channel has no reactions. */
  readonly reacts?: false;
  readonly images: readonly AgentImage[];
  readonly session: SessionSettings;
  /** Everybody whose words it answers is an owner. @default false */
  readonly owned?: boolean;
  readonly thinking: ThinkingLevel;
  /** Another model for this turn; null: as configured. */
  readonly model: string | null;
  /** Names of the tools it is offered. @default all */
  readonly tools?: readonly string[];
  /** Someone watches this conversation: send deltas. */
  readonly watched: boolean;
  /** Nobody is shown it: no tools and no prefix. */
  readonly bare?: true;
  /** Another try: block numbers below this one are taken. @default 0 */
  readonly firstIndex?: number;
  /** Nobody asked for it: the answer leaves at its end, unless it only acknowledges. */
  readonly heartbeat?: { readonly ackMaxChars: number };
}

/** The driver of one agent: the only part of the config with secrets that reaches a host. */
export interface AgentSpec {
  readonly agentId: string;
  readonly agentName: string;
  readonly workspace?: string;
  readonly kind: string;
  /** As it stands in the config; the driver's own schema checks it. */
  readonly config: unknown;
}

/** What a running turn tells the main thread. Journalled there, then applied like anything else. */
export interface TurnReport {
  readonly conv: number;
  readonly key: string;
  readonly turnId: string;
  /** Counts the reports of this try from 0: with turnId and attempt the event's identity. */
  readonly n: number;
  readonly attempt: number;
  readonly event: AgentReport;
}

/**
 * A running turn wants something that only the main thread has (`attachment_list`,
 * `attachment_fetch`, `history_search`). Answered with what the agent is told; refusals are words
 * too.
 */
export interface ContextQuestion {
  readonly conv: number;
  readonly key: string;
  readonly turnId: string;
  readonly tool: string;
  readonly input: unknown;
}

/** Words, and pictures that were asked for by an agent that takes them. */
export type ContextAnswer =
  | string
  | { readonly text: string; readonly images: readonly AgentImage[] };

/** What a message that is edited in place should show by now; never journalled. */
export interface TurnDraft {
  readonly conv: number;
  readonly key: string;
  readonly turnId: string;
  /** The block that was sent as a draft. */
  readonly index: number;
  readonly text: string;
}

/** Text of a running turn for whoever watches; never journalled. */
export interface TurnDelta {
  readonly conv: number;
  readonly key: string;
  readonly turnId: string;
  /** The whole visible text so far. */
  readonly text: string;
}
