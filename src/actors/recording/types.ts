/**
 * What a recording is made of
 * ===========================
 */
import type { Millis } from "../../domain/message.ts";
import type { EventRow, Store } from "../../domain/ports/store.ts";
import type { ScenarioHeader, ScenarioLine } from "../../domain/scenario/scenario.ts";
import type { ConversationEvent } from "../../machines/events/events.ts";

/** Which part of the journal. */
export interface RecordingRange {
  /** ms since the epoch; what was heard before is left out. */
  readonly since: Millis;
  /** What was heard at this moment or later is left out. @default up to now */
  readonly until?: Millis;
  /** Session key: only this conversation. */
  readonly conversation?: string;
  /** Channel id: only what was said there. */
  readonly channel?: string;
}

/** What a recording is read from. */
export type RecordingStore = Pick<Store, "scan" | "lastSeq" | "config" | "conversation" | "access">;

/** A line of a recording; the first is the header. */
export type RecordingLine = ScenarioHeader | ScenarioLine;

/** One event of a journal row. */
export interface RecordedRow extends EventRow {
  readonly event: ConversationEvent;
}
