/**
 * Journal rows
 * ============
 * Encodes a conversation's event as a row and decodes it. Exactly what is written is dispatched;
 * only `seq` is unknown before the commit and is filled in afterwards.
 */
import { EarshotError } from "../../domain/errors.ts";
import { hash52 } from "../../domain/key.ts";
import type { AccessWrite, CursorWrite, EventRow, EventWrite } from "../../domain/ports/index.ts";
import type { ConversationEvent, JournalEvent } from "../../machines/events/events.ts";
import type { HostEntry } from "./host-protocol.ts";
import type { SharedSchedules } from "./schedules.ts";
import type { Speech, SpeechTaken } from "./speech.ts";

/** A conversation's names in the journal. */
export interface ConversationName {
  readonly conv: number;
  readonly key: string;
}

/** The number of a session key: 52 bits, so exact in a double. */
export function conversationOf(key: string): ConversationName {
  return { conv: hash52(key), key };
}

/** An event on its way into the journal. */
export interface NewEvent {
  readonly write: EventWrite;
  readonly event: JournalEvent;
}

export interface EventIdentity {
  /** Unique in the conversation; a second event with it is a duplicate. */
  readonly identity: string;
  /** The platform's own time, if it has one, or that of a turn's id: never the time of receipt. */
  readonly sentAt?: number | undefined;
  readonly messageId?: string | null;
  /** Decided by admission: stored as applied, never dispatched. */
  readonly code?: number;
}

/** An event of a conversation that was admitted by another runtime. */
export interface AdmittedEvent {
  readonly name: ConversationName;
  readonly event: JournalEvent;
  readonly identity: EventIdentity;
}

/** What an engine takes from a runtime in front of it. All throw EarshotError EAR_STORE_FAILED. */
export interface Forward {
  /**
   * Carries events to their conversations. Resolves, once they are durable, to a number for each; 0: the
   * conversation has it already.
   */
  events(events: readonly NewEvent[]): Promise<readonly number[]>;
  /** As `Runtime.say`, in a conversation that is stepped elsewhere. `place` has its kind of chat. */
  say(key: string, speech: Speech & { readonly id: string }): Promise<SpeechTaken | "conflict">;
  /** The schedules of all nodes. */
  readonly schedules: SharedSchedules;
  /** Stores what all nodes share; resolves once that is durable. */
  shared(writes: readonly (AccessWrite | CursorWrite)[]): Promise<void>;
}

/** Prepares an event for the journal. Serialises it once. */
export function newEvent(
  { conv, key }: ConversationName,
  cfg: number,
  event: JournalEvent,
  { identity, sentAt = 0, messageId = null, code }: EventIdentity,
): NewEvent {
  const write: EventWrite = {
    kind: "event",
    at: sentAt,
    eid: hash52(identity),
    identity,
    conv,
    key,
    cfg,
    body: JSON.stringify(event),
    messageId,
    ...(code === undefined ? {} : { code }),
  };
  return { write, event };
}

/** The event as it is dispatched: with its number, if the type has one. */
export function numbered(event: JournalEvent, seq: number): JournalEvent {
  return "seq" in event ? { ...event, seq } : event;
}

/** Decodes a row. \n @throws EarshotError EAR_RECORD_INVALID when it is not an event. */
export function decodeEvent(row: Pick<EventRow, "seq" | "body">): JournalEvent {
  let event: unknown;
  try {
    event = JSON.parse(row.body);
  } catch (cause) {
    throw invalid(row.seq, cause);
  }
  const { type, at } = (event ?? {}) as { type?: unknown; at?: unknown };
  if (typeof type !== "string" || typeof at !== "number") throw invalid(row.seq, undefined);
  return numbered(event as JournalEvent, row.seq);
}

/** The events of a row, in the order in which the conversation steps on them. */
export function eventsIn(event: JournalEvent): readonly ConversationEvent[] {
  if (event.type === "message.labelled" || event.type === "session.compacted") return [];
  return event.type === "agent.reported" ? event.events : [event];
}

function invalid(seq: number, cause: unknown): EarshotError {
  return new EarshotError(
    "EAR_RECORD_INVALID",
    `Cannot read journal row ${seq}: it holds no event.`,
    { cause },
  );
}

/** A quarantined event that is journalled once more; `again` counts the retries. */
export type RetriedEvent = JournalEvent & { readonly again: number };

/** How many retries led to this row. */
export function triesOf(event: JournalEvent | null): number {
  const { again } = (event ?? {}) as { readonly again?: unknown };
  return typeof again === "number" ? again : 0;
}

/** A committed event in the form for its host. */
export function entryOf({ write, event }: NewEvent, seq: number): HostEntry {
  return {
    conv: write.conv,
    key: write.key,
    seq,
    cfg: write.cfg,
    event: numbered(event, seq),
    body: write.body,
  };
}
