/**
 * What is said of calls that are carried
 * ======================================
 * The virtual object `outlet` has a key for each account. Restate stores calls and may deliver them to a node of
 * another version, so fields are added and never change their meaning.
 */
import { z } from "zod";
import { limits } from "../../../domain/limits.ts";
import { chatKindSchema, type Route } from "../../../domain/message.ts";
import { outgoingChoicesSchema, outgoingKinds } from "../../../domain/outgoing.ts";
import { engineLimits } from "../../../domain/ports/engine/engine-limits.ts";

export const outletService = "outlet";
export const outletPath = (channel: string, account: string, handler: string) =>
  `${outletService}/${encodeURIComponent(`${channel}:${account}`)}/${handler}`;

const id = z.string().min(1).max(512);
const epoch = z.number().int().min(1);

const routeSchema: z.ZodType<Route> = z.object({
  channel: id,
  account: id,
  chat: z.object({ id, kind: chatKindSchema }),
  thread: z.object({ id, kind: z.enum(["thread", "topic"]) }).nullable(),
});

const sent = { route: routeSchema, id };
const text = { ...sent, text: z.string() };
const replyTo = id.exactOptional();

/** A call of a platform, by its name in `ChannelOutbound`. */
export const callSchema = z.discriminatedUnion("name", [
  z.object({ name: z.literal("sendText"), ...text }),
  z.object({ name: z.literal("replyText"), ...text, replyTo: id, quote: z.boolean() }),
  z.object({ name: z.literal("sendChoices"), ...text, choices: outgoingChoicesSchema, replyTo }),
  z.object({
    name: z.literal("sendMedia"),
    ...sent,
    mime: z.string(),
    /** Of the file. */
    title: z.string(),
    /** The file is stored under the id of the attempt, in so many parts. */
    parts: z.number().int().min(0).max(engineLimits.outletPartsMax),
    kind: z.enum(outgoingKinds).exactOptional(),
    caption: z.string().exactOptional(),
    replyTo,
    url: z.string().exactOptional(),
  }),
  z.object({
    name: z.literal("editText"),
    ...text,
    messageId: id,
    growing: z.literal(true).exactOptional(),
  }),
  z.object({
    name: z.enum(["addReaction", "removeReaction"]),
    route: routeSchema,
    messageId: id,
    emoji: z.string(),
  }),
]);
export type Call = z.infer<typeof callSchema>;

export const sendSchema = z.object({
  /** Of this attempt. */
  attempt: id,
  /** By the caller's clock, ms since the epoch; null: never. */
  expiresAt: z.number().nullable(),
  call: callSchema,
});
export type Send = z.infer<typeof sendSchema>;

/** What became of it. A failure is an `EarshotError`, by its code. */
export const resultSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("done"), messageIds: z.array(z.string()) }),
  z.object({
    kind: z.literal("failed"),
    code: z.string(),
    message: z.string(),
    retryAfterMs: z.number().nullable(),
  }),
]);
export type Result = z.infer<typeof resultSchema>;

/** Of `send`: what wakes its caller with the result. */
export const putSchema = sendSchema.extend({ awakeable: id });

export const takeSchema = z.object({
  epoch,
  /** Those that this node has taken and not settled. */
  has: z.array(id).max(limits.sendsPerAccountMax),
  /** How many more it can begin. */
  room: z.number().int().min(0).max(limits.sendsPerAccountMax),
});

/** What may be lost: typing begins or ends, or members are to be read again. */
export const hintSchema = z.object({
  route: routeSchema,
  what: z.enum(["typing", "silent", "members"]),
});
export type Hint = z.infer<typeof hintSchema>;

export const takenSchema = z.object({
  /** Another node has had the lease since: it takes nothing any more. */
  fenced: z.boolean(),
  sends: z.array(sendSchema),
  hints: z.array(hintSchema),
});
export type Taken = z.infer<typeof takenSchema>;

export const settleSchema = z.object({
  epoch,
  /** Null: it was not begun, and another may take it. */
  results: z
    .array(z.object({ attempt: id, result: resultSchema.nullable() }))
    .max(engineLimits.outletCallsMax),
});
export const withdrawSchema = z.object({ attempt: id });
export const waitSchema = z.object({ epoch });
export const enlistSchema = waitSchema.extend({ awakeable: id });
