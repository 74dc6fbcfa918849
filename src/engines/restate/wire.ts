/**
 * What is said over Restate
 * =========================
 * The calls of the virtual objects `inbox` and `conversation`, whose key is the session key. Restate stores them
 * and may deliver them to a node of another version, so fields are added and never change their meaning.
 */
import { z } from "zod";
import { limits } from "../../domain/limits.ts";
import type { JournalEvent } from "../../machines/events/events.ts";

export const inboxService = "inbox";
export const conversationService = "conversation";

/** An event on its way to its conversation. */
const offeredSchema = z.object({
  /** Unique in the conversation; a second event with it, and the same `sentAt`, is a duplicate. */
  identity: z.string().min(1),
  /** The platform's own time, ms since the epoch, or 0: never the time of receipt. */
  sentAt: z.number().int().min(0),
  /** Platform id of the message it is about. */
  messageId: z.string().nullable().default(null),
  /** As a row of the journal: which fields it has is between the versions of the machine. */
  event: z.looseObject({ type: z.string(), at: z.number() }),
});
export type OfferedEvent = Omit<z.infer<typeof offeredSchema>, "event"> & {
  readonly event: JournalEvent;
};

export const putSchema = z.object({
  events: z.array(offeredSchema).min(1).max(limits.engineBatchEventsMax),
});
/** For each event of a call whether it is new, in its order. */
export const putAnswerSchema = z.array(z.boolean());

/** `waker`: what to wake when there is more; null: nobody waits. */
export const takeSchema = z.object({ waker: z.string().nullable() });
