/**
 * Telegram's wire format
 * ======================
 * The part of an update that earshot reads, parsed once
 * (https://core.telegram.org/bots/api#update). Unknown fields are ignored, so a new kind of update
 * never blocks the queue; a known field of the wrong type refuses only that update.
 */
import { z } from "zod";
import { limits } from "../../../domain/limits.ts";
import { lineContentSchema, noticeSchema } from "./content-lines.ts";

/** Telegram's ids have at most 52 significant bits, so a double holds them. */
const int = z.number().int().min(Number.MIN_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER);
const label = z.string().max(limits.labelUnitsMax);
const text = z.string().max(limits.textUnitsMax);

export const userSchema = z.object({
  id: int,
  is_bot: z.boolean().default(false),
  first_name: label.default(""),
  last_name: label.optional(),
  username: label.optional(),
});
export type WireUser = z.infer<typeof userSchema>;

export const chatSchema = z.object({
  id: int,
  type: z.enum(["private", "group", "supergroup", "channel"]),
  title: label.optional(),
  username: label.optional(),
  is_direct_messages: z.boolean().optional(),
});
export type WireChat = z.infer<typeof chatSchema>;

const entitySchema = z.object({
  type: z.string().max(64),
  offset: int.min(0),
  length: int.min(0),
  user: userSchema.optional(),
});
export type WireEntity = z.infer<typeof entitySchema>;
const entities = z.array(entitySchema).max(limits.mentionsCountMax).optional();

const fileSchema = z.object({
  file_id: z.string().min(1).max(limits.idUnitsMax),
  file_size: int.min(0).optional(),
  file_name: label.optional(),
  mime_type: label.optional(),
});
export type WireFile = z.infer<typeof fileSchema>;

const mediaSchema = {
  photo: z.array(fileSchema).max(64).optional(),
  document: fileSchema.optional(),
  audio: fileSchema.optional(),
  voice: fileSchema.optional(),
  video: fileSchema.optional(),
  video_note: fileSchema.optional(),
  animation: fileSchema.optional(),
  sticker: fileSchema
    .extend({
      emoji: label.optional(),
      is_animated: z.boolean().optional(),
      is_video: z.boolean().optional(),
    })
    .optional(),
};

const contentSchema = {
  text: text.optional(),
  entities,
  caption: text.optional(),
  caption_entities: entities,
  ...mediaSchema,
  ...lineContentSchema,
};

/** Bot API: MessageOrigin; which fields there are depends on its type. */
const originSchema = z.object({
  type: z.string().max(64),
  date: int.min(0).optional(),
  sender_user: userSchema.optional(),
  sender_user_name: label.optional(),
  sender_chat: chatSchema.optional(),
  chat: chatSchema.optional(),
  message_id: int.optional(),
  author_signature: label.optional(),
});
export type WireOrigin = z.infer<typeof originSchema>;

const bareMessage = {
  message_id: int,
  from: userSchema.optional(),
  sender_chat: chatSchema.optional(),
  author_signature: label.optional(),
  /** The bot that wrote this on behalf of a business account. */
  sender_business_bot: userSchema.optional(),
  ...contentSchema,
};

export const messageSchema = z.object({
  ...bareMessage,
  ...noticeSchema,
  date: int.min(0),
  edit_date: int.min(0).optional(),
  chat: chatSchema,
  business_connection_id: z.string().min(1).max(limits.idUnitsMax).optional(),
  message_thread_id: int.optional(),
  is_topic_message: z.boolean().optional(),
  /** In the group that became a supergroup, and in the supergroup that it became. */
  migrate_to_chat_id: int.optional(),
  migrate_from_chat_id: int.optional(),
  media_group_id: z.string().min(1).max(limits.idUnitsMax).optional(),
  /** The writer's own talk in the direct messages of a channel. */
  direct_messages_topic: z.object({ topic_id: int, user: userSchema.optional() }).optional(),
  forward_origin: originSchema.optional(),
  is_automatic_forward: z.boolean().optional(),
  reply_to_message: z
    .object({
      ...bareMessage,
      forum_topic_created: z.object({ name: label.optional() }).optional(),
    })
    .optional(),
  /** A reply to a message of another chat or topic. */
  external_reply: z
    .object({
      ...contentSchema,
      origin: originSchema,
      chat: chatSchema.optional(),
      message_id: int.optional(),
    })
    .optional(),
  reply_to_story: lineContentSchema.story,
  quote: z.object({ text, is_manual: z.boolean().optional() }).optional(),
});
export type WireMessage = z.infer<typeof messageSchema>;
export type WireContent = Pick<WireMessage, keyof typeof contentSchema>;

const reactionTypes = z
  .array(z.object({ type: z.string().max(64), emoji: z.string().min(1).max(64).optional() }))
  .max(limits.reactionEmojiCountMax);
/** Bot API: MessageReactionUpdated. An anonymous admin is `actor_chat`. */
const reactionSchema = z.object({
  chat: chatSchema,
  message_id: int,
  user: userSchema.optional(),
  actor_chat: chatSchema.optional(),
  date: int.min(0),
  old_reaction: reactionTypes,
  new_reaction: reactionTypes,
});
export type WireReaction = z.infer<typeof reactionSchema>;

export const updateSchema = z.object({
  update_id: int,
  message: messageSchema.optional(),
  edited_message: messageSchema.optional(),
  channel_post: messageSchema.optional(),
  edited_channel_post: messageSchema.optional(),
  message_reaction: reactionSchema.optional(),
});
export type WireUpdate = z.infer<typeof updateSchema>;

/** Parsed separately, so that an unreadable update can still be skipped. */
export const updateIdSchema = z.object({ update_id: int });

/** The result of `getMe`. */
export const selfSchema = userSchema.extend({
  username: label.default(""),
  can_connect_to_business: z.boolean().optional(),
  can_read_all_group_messages: z.boolean().optional(),
});
