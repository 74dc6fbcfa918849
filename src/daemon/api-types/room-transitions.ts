/** Answer of `GET /api/rooms/{key}/transitions`. */
import { z } from "zod";
import { attentions, guardStates, locks } from "../../machines/conversation/states.ts";
import { count, millis, type Shape, text } from "./schema.ts";

const placeSchema = z.object({
  attention: z.enum(attentions),
  lock: z.enum(locks),
  guard: z.enum(guardStates),
  typing: z.boolean(),
});
/** Where a conversation is in each region of its chart. */
export type RoomPlace = Shape<typeof placeSchema>;

const transitionSchema = z.object({
  seq: count.describe("journal row of the event"),
  at: millis,
  event: text,
  from: placeSchema,
  to: placeSchema,
  message: text.nullable().describe("platform id of the message that it belongs to, if any"),
  chat: text.exactOptional().describe("its chat, where the session may hold several"),
});
/** A step that changed a state. */
export type RoomTransition = Shape<typeof transitionSchema>;

export const transitionsSchema = z.object({
  transitions: z.array(transitionSchema).describe("oldest first, at most 100"),
});
