/**
 * What is said over Restate
 * =========================
 * The calls of the virtual object `conversation`, whose key is the session key. Restate stores them and may
 * deliver them to a node of another version, so fields are added and never change their meaning.
 */
import { z } from "zod";
import { limits } from "../../domain/limits.ts";
import type { OutboxRow } from "../../domain/ports/index.ts";
import type { JournalEvent } from "../../machines/events/events.ts";

export const conversationService = "conversation";

/** An event on its way to its conversation. */
export interface OfferedEvent {
  /** Unique in the conversation; a second event with it, and the same `sentAt`, is a duplicate. */
  readonly identity: string;
  /** The platform's own time, ms since the epoch, or 0: never the time of receipt. */
  readonly sentAt: number;
  /** Config version in force at its admission. */
  readonly cfg: number;
  /** `seq` inside it, where its type has one, is filled in by the conversation. */
  readonly event: JournalEvent;
}

/** As a row of the journal: which fields an event has is between the versions of the machine. */
const eventSchema = z.looseObject({ type: z.string(), at: z.number() });

export const stepSchema = z.object({
  events: z
    .array(
      z.object({
        identity: z.string().min(1),
        sentAt: z.number().int().min(0),
        cfg: z.number().int().min(0),
        event: eventSchema,
      }),
    )
    .min(1)
    .max(limits.engineBatchEventsMax),
});

/** A deadline that a delayed call names; it counts only if it is still the one that is set. */
export const dueSchema = z.object({ id: z.string(), at: z.number() });

/** A new state of an outbox row. */
export const settleSchema = z.object({
  id: z.string(),
  state: z.enum(["pending", "sending", "waiting", "in-doubt", "sent", "expired", "dead"]),
  messageIds: z.string().nullable(),
  error: z.string().nullable(),
});

/** What became of each event of a call, in its order. */
export const steppedSchema = z.array(
  z.object({
    /** Its number in the conversation; 0: a duplicate, of which nothing was stored. */
    seq: z.number(),
    /** Its encoded verdict, 0 for none, `quarantinedCode` where its step failed. */
    code: z.number(),
  }),
);
export type Stepped = z.infer<typeof steppedSchema>;

/** What a conversation keeps in Restate, as its handler `state` answers. */
export interface ConversationView {
  /** The number of its last event. */
  readonly seq: number;
  readonly record: string | null;
  /** Deadlines that are set, by id; ms since the epoch. */
  readonly deadlines: Readonly<Record<string, number>>;
  /** Rows that wait to be sent, by id. */
  readonly outbox: Readonly<Record<string, OutboxRow>>;
  /** It waits for a turn slot or runs a turn. */
  readonly runs: boolean;
}
