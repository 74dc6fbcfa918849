/**
 * Inbound messages
 * ================
 * The one normalised form of everything a room can say. Channels produce it, zod checks it once at
 * the edge, and from there on the types are trusted. It is also the body of `POST /api/inbound`, of
 * a scenario line and of a recording, so it is a public interface (docs/guide/scenarios.md).
 *
 * What a platform does not report stays absent: an unknown reply author is not "someone else".
 */
import { z } from "zod";
import { limits } from "./limits.ts";

/** Milliseconds since the epoch (or since a scenario's start, where said so). */
export type Millis = number;
/** A platform's stable id of an author: opaque, compared byte for byte. */
export type AuthorId = string;

const id = z.string().min(1).max(limits.idUnitsMax);
const label = z.string().max(limits.labelUnitsMax);
/** The last moment that has a date (ECMA-262, time values), ms since the epoch. */
export const momentMax = 8_640_000_000_000_000;
const millis = z.number().int().min(0).max(momentMax);
const units = z.number().int().min(0).max(limits.textUnitsMax);

export const chatKindSchema = z.enum(["direct", "group", "channel"]);
export type ChatKind = z.infer<typeof chatKindSchema>;

const chatSchema = z.object({
  id,
  kind: chatKindSchema,
  title: label.optional(),
  /** Its id at the platform now, where that has changed: the room keeps the first one. */
  movedTo: id.optional(),
});
const threadSchema = z.object({
  id,
  kind: z.enum(["thread", "topic"]).default("thread"),
  rootAuthorId: id.optional(),
  title: label.optional(),
});
const scopeSchema = z.object({
  guildId: id.optional(),
  teamId: id.optional(),
  roles: z.array(id).max(limits.rolesCountMax).optional(),
});

const authorSchema = z
  .object({
    id,
    name: label.optional(),
    username: label.optional(),
    isBot: z.boolean().default(false),
    isSelf: z.boolean().default(false),
    /** Posts in the name of a chat: the platform does not say which person it is. */
    isChat: z.boolean().optional(),
    /**
     * The account answers in this person's name, and the person writes there as well: remembered,
     * never answered.
     */
    isHost: z.boolean().optional(),
  })
  .transform((author) => ({ ...author, name: author.name || author.id }));

const mentionSchema = z.object({
  id,
  name: label.optional(),
  isSelf: z.boolean().default(false),
});

const replyToSchema = z.object({
  id,
  authorId: id.optional(),
  authorName: label.optional(),
  authorIsSelf: z.boolean().optional(),
  text: z.string().max(limits.textUnitsMax).optional(),
});

/** Where a forwarded or quoted message was first posted, as far as the platform reports it. */
const originSchema = z.object({
  authorId: id.optional(),
  /** Some people allow no more than their name. */
  authorName: label.optional(),
  chat: z.object({ id: id.optional(), title: label.optional() }).optional(),
  messageId: id.optional(),
  sentAt: millis.optional(),
});
export type Origin = z.infer<typeof originSchema>;

const quoteSchema = z.object({
  text: z.string().max(limits.textUnitsMax).optional(),
  /** Absent: it is a part of the message replied to. */
  from: originSchema.optional(),
});

export const attachmentSchema = z.object({
  id,
  kind: z.enum(["image", "audio", "video", "file"]),
  mime: label.optional(),
  bytes: z.number().int().min(0).optional(),
  name: label.optional(),
  /** Where to fetch it, for channels without a download method. */
  url: z.string().min(1).max(limits.labelUnitsMax).optional(),
});
export type Attachment = z.infer<typeof attachmentSchema>;

/**
 * One message as received. Only `channel`, `chat`, `id`, `author.id` and `text` are required;
 * everything else has the documented default. `sentAt` is the platform's own time in ms since the
 * epoch; without it, earshot uses the time of receipt, and the message's identity contains no time.
 */
export const inboundSchema = z.object({
  channel: id,
  account: id.default("default"),
  chat: chatSchema,
  thread: threadSchema.nullish().transform((thread) => thread ?? null),
  scope: scopeSchema.optional(),
  id,
  author: authorSchema,
  text: z.string().max(limits.textUnitsMax).default(""),
  mentions: z.array(mentionSchema).max(limits.mentionsCountMax).default([]),
  mentionsEveryone: z.boolean().default(false),
  replyTo: replyToSchema.nullish().transform((reply) => reply ?? null),
  attachments: z.array(attachmentSchema).max(limits.attachmentsCountMax).default([]),
  groupId: id.optional(),
  explicitOnly: z.boolean().default(false),
  /**
   * The author is not the operator although the channel is local: the access rules apply as on any
   * other channel.
   */
  outside: z.boolean().optional(),
  /** The text is not the author's own; the object says whose it is. */
  forwarded: z.union([z.boolean(), originSchema]).optional(),
  /** What the author quotes: a part of the message replied to, or a message of another chat. */
  quote: quoteSchema.optional(),
  /** Ranges of the text shown as code or quote: [from, to), UTF-16 units. */
  verbatim: z
    .array(z.tuple([units, units]))
    .max(limits.mentionsCountMax)
    .optional(),
  sentAt: millis.optional(),
});
/** A parsed inbound message with every default filled in. */
export type Inbound = z.infer<typeof inboundSchema>;
/** What a caller may pass: defaults may be left out. */
export type InboundInput = z.input<typeof inboundSchema>;

/** Whether the text is somebody else's, so that it gives no command and calls nobody. */
export const isForwarded = ({ forwarded }: Pick<Inbound, "forwarded">): boolean =>
  forwarded !== undefined && forwarded !== false;

/** Where a message was posted, and therefore where the answer goes. */
const placeSchema = z.object({
  channel: id,
  account: id.default("default"),
  chat: z.union([chatSchema, id.transform((chat) => ({ id: chat, kind: "group" as const }))]),
  thread: threadSchema.nullish().transform((thread) => thread ?? null),
});

export const editSchema = placeSchema.extend({
  id,
  text: z.string().max(limits.textUnitsMax),
  author: authorSchema.optional(),
  /** The platform's time of the edit; it keeps apart two edits back to the same text. */
  editedAt: millis.optional(),
  /** The platform's id of this edit or of its update; a redelivery has the same id. */
  editId: id.optional(),
});
export type Edit = z.infer<typeof editSchema>;

const emoji = z.string().min(1).max(limits.emojiUnitsMax);

/** Somebody's reactions to one message have changed. */
export const reactionSchema = placeSchema.extend({
  /** The message reacted to. */
  id,
  author: authorSchema,
  added: z.array(emoji).max(limits.reactionEmojiCountMax).default([]),
  removed: z.array(emoji).max(limits.reactionEmojiCountMax).default([]),
  /** Whether the message is ours, where the platform reports it; else found out by its id. */
  ofSelf: z.boolean().optional(),
  /** The message's text, where the platform reports it. */
  text: z.string().max(limits.textUnitsMax).optional(),
  /** As for a message: the access rules apply although the channel is local. */
  outside: z.boolean().optional(),
  reactedAt: millis.optional(),
  /** The platform's id of this change or of its update; a redelivery has the same id. */
  reactionId: id.optional(),
});
export type Reaction = z.infer<typeof reactionSchema>;

export const deletionSchema = placeSchema.extend({ id });
export type Deletion = z.infer<typeof deletionSchema>;

export const membershipSchema = placeSchema.extend({
  humans: z.number().int().min(0),
  bots: z.number().int().min(0).default(0),
  truncated: z.boolean().default(false),
});
export type MembershipReport = z.infer<typeof membershipSchema>;

export const historySchema = placeSchema.extend({
  messages: z.array(inboundSchema).max(limits.historyCountMax),
});
export type HistoryReport = z.infer<typeof historySchema>;

/**
 * Where a reply goes: captured from the newest message of a batch and never changed afterwards, so
 * a reply cannot follow a conversation that moved on.
 */
export interface Route {
  readonly channel: string;
  readonly account: string;
  readonly chat: { readonly id: string; readonly kind: ChatKind };
  readonly thread: { readonly id: string; readonly kind: "thread" | "topic" } | null;
}

/** The route of a message's chat and thread. */
export function routeOf(place: {
  channel: string;
  account: string;
  chat: { id: string; kind: ChatKind };
  thread: { id: string; kind: "thread" | "topic" } | null;
}): Route {
  return {
    channel: place.channel,
    account: place.account,
    chat: { id: place.chat.id, kind: place.chat.kind },
    thread: place.thread === null ? null : { id: place.thread.id, kind: place.thread.kind },
  };
}

/** What a chat is known by. */
export type ChatPlace = Pick<Route, "channel" | "account"> & {
  readonly chat: Pick<Route["chat"], "id">;
};

/** Whether two are of one chat: ids of messages in two chats of one session may be the same. */
export const inOneChat = (a: ChatPlace, b: ChatPlace): boolean =>
  a.channel === b.channel && a.account === b.account && a.chat.id === b.chat.id;

/** Whether two routes lead to the same place. */
export function sameRoute(a: Route, b: Route): boolean {
  return inOneChat(a, b) && (a.thread?.id ?? null) === (b.thread?.id ?? null);
}
