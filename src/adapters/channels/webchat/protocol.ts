/**
 * The webchat protocol
 * ====================
 * JSON frames over `/ws`, one object each, checked at both ends. `n` is the number of the journal
 * row behind a frame: a page that comes back says the last `n` it has and gets everything after it,
 * so a reconnect loses nothing, and ids tell doubles apart. Frames without `n` (typing, deltas,
 * acks) are of the moment and are never repeated. docs/api.md describes every frame.
 */
import { z } from "zod";
import { decisionSchema, ruleSchema } from "../../../domain/decision.ts";
import { limits } from "../../../domain/limits.ts";
import { attachmentSchema } from "../../../domain/message.ts";

const id = z.string().min(1).max(limits.idUnitsMax);
const n = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const text = z.string().max(limits.textUnitsMax);
const at = z.number().int();

/** A file as pages are told of it. */
const attached = attachmentSchema.omit({ id: true, url: true }).extend({
  /** What it is fetched by at `/api/webchat/uploads`; absent: it is not to be had here. */
  id: id.optional(),
});
export type AttachedFile = z.output<typeof attached>;
const attachments = z.array(attached).max(limits.attachmentsCountMax).optional();

/** What a page or `earshot chat` sends. `hello` comes first, within 5 s. */
export const clientFrameSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("hello"), token: z.string().max(1_024), after: n.default(0) }),
  z
    .strictObject({
      type: z.literal("message"),
      /** Made by the client; a second message with it is the same message. */
      id,
      text,
      replyTo: id.nullable().default(null),
      /** Files that were uploaded for it. */
      attachments: z.array(id).max(limits.uploadsPerMessageMax).default([]),
    })
    .refine((message) => message.text !== "" || message.attachments.length > 0),
]);
export type ClientFrame = z.output<typeof clientFrameSchema>;

/** What the daemon sends. */
export const serverFrameSchema = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("ready"),
    agent: z.object({ id, name: z.string() }),
    n,
    /** What may be uploaded: bytes of a file, files of a message. */
    uploads: z.object({ bytesMax: z.number(), countMax: z.number() }).optional(),
  }),
  z.object({
    type: z.literal("taken"),
    id,
    n,
    at,
    text,
    attachments,
    /** It came through another channel: which, who said it there, and its id there. */
    via: id.optional(),
    by: z.string().optional(),
    message: id.optional(),
  }),
  z.object({ type: z.literal("decided"), id, decision: decisionSchema, rule: ruleSchema }),
  z.object({
    type: z.literal("said"),
    n,
    id,
    text: z.string(),
    replyTo: id.nullable(),
    at,
    turnId: id,
    /** It went to another channel. */
    via: id.optional(),
    attachments,
  }),
  z.object({
    type: z.literal("attached"),
    /** The delivered part that these are with now: it was said aloud. */
    id,
    attachments: z.array(attached),
  }),
  z.object({ type: z.literal("delta"), turnId: id, text: z.string() }),
  z.object({ type: z.literal("typing"), on: z.boolean() }),
  z.object({ type: z.literal("ack"), message: id, emoji: z.string(), on: z.boolean() }),
  z.object({
    type: z.literal("turn"),
    turnId: id,
    state: z.enum(["start", "end"]),
    outcome: z.string().optional(),
  }),
  z.object({
    type: z.literal("error"),
    code: z.string(),
    message: z.string(),
    /** The message that was not taken, and whether it never will be as it is. */
    id: id.optional(),
    final: z.boolean().optional(),
  }),
]);
export type ServerFrame = z.output<typeof serverFrameSchema>;

/** Why the daemon closed a socket (RFC 6455 leaves 4000 to 4999 to applications). */
export const closeCodes = {
  badFrame: 4_400,
  badToken: 4_401,
  noHello: 4_408,
  tooSlow: 4_413,
  stopping: 1_001,
} as const;
