/**
 * What a recording is made of
 * ===========================
 */
import type { Millis } from "../../domain/message.ts";
import type { EventRow, Store } from "../../domain/ports/store.ts";
import type { ScenarioHeader, ScenarioLine } from "../../domain/scenario/scenario.ts";
import type { ConversationEvent, MessageLabelled } from "../../machines/events/events.ts";

/** The part of the journal to record. */
export interface RecordingRange {
  /** ms since the epoch; earlier events are left out. */
  readonly since: Millis;
  /** Events at this time or later are left out. @default now */
  readonly until?: Millis;
  /** Session key: only this conversation. */
  readonly conversation?: string;
  /** Channel id: only events of this channel. */
  readonly channel?: string;
}

/** The store methods a recording needs. */
export type RecordingStore = Pick<Store, "scan" | "lastSeq" | "config" | "conversation" | "access">;

/** A line of a recording; the first one is the header. */
export type RecordingLine = ScenarioHeader | ScenarioLine;

export interface RecordedRow extends EventRow {
  readonly event: ConversationEvent;
}

/** A row that is a label. */
export interface LabelRow extends EventRow {
  readonly event: MessageLabelled;
}
