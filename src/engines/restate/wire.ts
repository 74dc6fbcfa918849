/**
 * What is said over Restate
 * =========================
 * The calls of the virtual objects `inbox` and `conversation`, whose key is the session key. Restate stores them
 * and may deliver them to a node of another version, so fields are added and never change their meaning.
 */
import { z } from "zod";
import type { OrderedAction } from "../../actors/protocol/room-actions.ts";
import { engineLimits } from "../../domain/ports/engine/engine-limits.ts";
import type { KeptRow } from "../../domain/ports/index.ts";
import type { JournalEvent } from "../../machines/events/events.ts";
import { isRowName } from "./kept-state.ts";

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
  events: z.array(offeredSchema).min(1).max(engineLimits.batchEventsMax),
});
/** For each event of a call whether it is new, in its order. */
export const putAnswerSchema = z.array(z.boolean());

/** An order on its way to its conversation: what a version does not know it refuses when it carries it out. */
const orderSchema = z.object({
  /** The same order, where it comes again. */
  id: z.string().min(1).max(128),
  action: z.looseObject({ does: z.string() }),
});
export type OfferedOrder = Omit<z.infer<typeof orderSchema>, "action"> & {
  readonly action: OrderedAction;
};

export const orderCallSchema = orderSchema.extend({
  /** Of a conversation that there is: another one is not made for it. */
  known: z.boolean(),
});
/** `unknown`: there is no such conversation. */
export const orderAnswerSchema = z.enum(["taken", "unknown"]);
export type OrderAnswer = z.infer<typeof orderAnswerSchema>;

/** An order by its id. */
export const outcomeSchema = z.object({ id: z.string() });
/** What became of it; null: nothing yet. */
export const outcomeAnswerSchema = z
  .union([
    z.object({ answer: z.unknown() }),
    z.object({ refused: z.object({ code: z.string(), message: z.string() }) }),
  ])
  .nullable();

/**
 * `waker`: what to wake when there is more; null: nobody waits. `orders`: the caller takes those, too; an older
 * version does not, and leaves them.
 */
export const takeSchema = z.object({
  waker: z.string().nullable(),
  orders: z.boolean().default(false),
});
/** What the inbox hands over. */
export type Offered = OfferedEvent | { readonly order: OfferedOrder };

/** A row that is there, as it is stored and read back. */
const rowSchema = z
  .object({
    table: z.string().regex(/^[a-z]+$/u),
    id: z.string(),
    row: z.record(z.string(), z.union([z.string(), z.number(), z.null()])),
  })
  .refine(({ table, id }) => isRowName(table, id), "a row is named by a JSON array");

export const rowsSchema: z.ZodType<readonly KeptRow[]> = z.array(rowSchema);

/** Some rows of a conversation that was kept elsewhere. */
export const fillSchema = z.object({
  /** Counts the calls from 0, which begins from the beginning. */
  place: z.number().int().min(0),
  rows: rowsSchema,
  /** With this call it is the whole conversation. */
  whole: z.boolean(),
  /** With the whole: when it must be active, ms since the epoch; null: when somebody speaks. */
  dueAt: z.number().int().min(0).nullable(),
});
export type Fill = z.infer<typeof fillSchema>;

/** Whether a conversation has some of its rows and waits for the others. */
export const fillingSchema = z.boolean();

/** A message by its platform id. */
export const verdictSchema = z.object({ id: z.string() });
/** The encoded verdict; null: none is stored yet. */
export const verdictAnswerSchema = z.number().nullable();
