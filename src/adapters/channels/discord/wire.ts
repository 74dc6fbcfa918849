/**
 * What Discord sends
 * ==================
 * The fields that earshot reads, after https://discord.com/developers/docs/resources/message,
 * .../resources/channel, .../events/gateway-events and .../interactions/receiving-and-responding.
 * A payload passes one of these schemas once; unknown fields are dropped.
 */
import { z } from "zod";
import { limits } from "../../../domain/limits.ts";

const snowflake = z.string().regex(/^\d{1,20}$/);
const label = z.string().max(limits.labelUnitsMax);
const text = z.string().max(limits.textUnitsMax);
const list = <Item extends z.ZodType>(item: Item, most: number) => z.array(item).max(most);

const userSchema = z.object({
  id: snowflake,
  username: label,
  global_name: label.nullish(),
  bot: z.boolean().optional(),
});
export type WireUser = z.infer<typeof userSchema>;

const memberSchema = z.object({
  nick: label.nullish(),
  roles: list(snowflake, limits.rolesCountMax).optional(),
});
export type WireMember = z.infer<typeof memberSchema>;

const attachmentSchema = z.object({
  id: snowflake,
  filename: label,
  content_type: label.nullish(),
  size: z.number().int().min(0).optional(),
  url: label,
});
export type WireAttachment = z.infer<typeof attachmentSchema>;

const embedSchema = z.object({
  type: label.optional(),
  title: text.nullish(),
  description: text.nullish(),
  url: label.nullish(),
  author: z.object({ name: text.nullish() }).nullish(),
  fields: list(z.object({ name: text, value: text }), 100).nullish(),
  footer: z.object({ text: text.nullish() }).nullish(),
});
export type WireEmbed = z.infer<typeof embedSchema>;

const stickerSchema = z.object({ id: snowflake, name: label, format_type: z.number().int() });

const pollSchema = z.object({
  question: z.object({ text: text.nullish() }),
  answers: list(z.object({ poll_media: z.object({ text: text.nullish() }) }), 100),
});

/** Buttons, rows of them, and texts, at any depth. */
export interface WireComponent {
  readonly type: number;
  readonly content?: string | undefined;
  readonly label?: string | null | undefined;
  readonly custom_id?: string | null | undefined;
  readonly components?: readonly WireComponent[] | undefined;
}
const componentSchema: z.ZodType<WireComponent> = z.lazy(() =>
  z.object({
    type: z.number().int(),
    content: text.optional(),
    label: label.nullish(),
    custom_id: label.nullish(),
    components: list(componentSchema, 100).optional(),
  }),
);

const contentShape = {
  content: text.optional(),
  timestamp: z.string().max(64).optional(),
  mentions: list(userSchema.extend({ member: memberSchema.partial().nullish() }), 1_000).optional(),
  mention_roles: list(snowflake, 1_000).optional(),
  mention_everyone: z.boolean().optional(),
  attachments: list(attachmentSchema, limits.attachmentsCountMax).optional(),
  embeds: list(embedSchema, 100).optional(),
  sticker_items: list(stickerSchema, 100).optional(),
  components: list(componentSchema, 100).optional(),
  poll: pollSchema.nullish(),
};
const contentSchema = z.object(contentShape);
/** What a message says, also one that was forwarded. */
export type WireContent = z.infer<typeof contentSchema>;

const referenceSchema = z.object({
  type: z.number().int().optional(),
  message_id: snowflake.optional(),
  channel_id: snowflake.optional(),
  guild_id: snowflake.optional(),
});

const plainMessageSchema = z.object({
  ...contentShape,
  id: snowflake,
  channel_id: snowflake,
  guild_id: snowflake.optional(),
  type: z.number().int(),
  author: userSchema,
  member: memberSchema.nullish(),
  webhook_id: snowflake.nullish(),
  /** Of the send that made it; only the sender's own messages have it. */
  nonce: z.union([z.string().max(64), z.number()]).nullish(),
  edited_timestamp: z.string().max(64).nullish(),
  message_reference: referenceSchema.nullish(),
  message_snapshots: list(z.object({ message: contentSchema }), 10).nullish(),
});
export const messageSchema = plainMessageSchema.extend({
  /** Null: it was deleted; absent: Discord did not look. */
  referenced_message: plainMessageSchema.nullish(),
});
export type WireMessage = z.infer<typeof messageSchema>;

/** An edit; older servers send only what has changed. */
export const updateSchema = z.object({
  ...contentShape,
  id: snowflake,
  channel_id: snowflake,
  guild_id: snowflake.optional(),
  author: userSchema.optional(),
  member: memberSchema.nullish(),
  webhook_id: snowflake.nullish(),
  edited_timestamp: z.string().max(64).nullish(),
});
export type WireUpdate = z.infer<typeof updateSchema>;

export const deleteSchema = z.object({
  id: snowflake.optional(),
  ids: list(snowflake, 1_000).optional(),
  channel_id: snowflake,
  guild_id: snowflake.optional(),
});

export const reactionSchema = z.object({
  user_id: snowflake,
  channel_id: snowflake,
  message_id: snowflake,
  guild_id: snowflake.optional(),
  member: memberSchema.extend({ user: userSchema.optional() }).nullish(),
  message_author_id: snowflake.nullish(),
  emoji: z.object({ id: snowflake.nullish(), name: label.nullish() }),
});
export type WireReaction = z.infer<typeof reactionSchema>;

export const channelSchema = z.object({
  id: snowflake,
  type: z.number().int(),
  guild_id: snowflake.optional(),
  name: label.nullish(),
  parent_id: snowflake.nullish(),
  owner_id: snowflake.nullish(),
  last_message_id: snowflake.nullish(),
});
export type WireChannel = z.infer<typeof channelSchema>;

export const roleSchema = z.object({
  id: snowflake,
  name: label,
  tags: z.object({ bot_id: snowflake.optional() }).optional(),
});
export type WireRole = z.infer<typeof roleSchema>;

export const guildSchema = z.object({
  id: snowflake,
  unavailable: z.boolean().optional(),
  name: label.optional(),
  member_count: z.number().int().min(0).optional(),
  channels: list(channelSchema, 2_000).default([]),
  threads: list(channelSchema, 5_000).default([]),
  roles: list(roleSchema, limits.rolesCountMax).default([]),
});
export type WireGuild = z.infer<typeof guildSchema>;

export const threadsSchema = z.object({
  guild_id: snowflake,
  threads: list(channelSchema, 5_000),
});

export const readySchema = z.object({
  user: userSchema,
  session_id: z.string().min(1).max(256),
  resume_gateway_url: z.url({ protocol: /^wss?$/ }).max(2_048),
  guilds: list(z.object({ id: snowflake }), 10_000),
});

export const selfSchema = userSchema;

const flagsMax = Number.MAX_SAFE_INTEGER;
export const applicationSchema = z.object({
  id: snowflake,
  flags: z.number().int().min(0).max(flagsMax).optional(),
});

export const gatewaySchema = z.object({
  url: z.url({ protocol: /^wss?$/ }).max(2_048),
  shards: z.number().int().min(1).default(1),
  session_start_limit: z.object({
    total: z.number().int(),
    remaining: z.number().int(),
    reset_after: z.number().int().min(0),
    max_concurrency: z.number().int().min(1),
  }),
});
export type WireGateway = z.infer<typeof gatewaySchema>;

export const sentSchema = z.object({ id: snowflake, content: text.optional() });

const optionSchema = z.object({
  name: label,
  value: z.union([z.string().max(limits.textUnitsMax), z.number(), z.boolean()]).optional(),
});
export const interactionSchema = z.object({
  id: snowflake,
  type: z.number().int(),
  token: z.string().min(1).max(1_024),
  guild_id: snowflake.optional(),
  channel_id: snowflake.optional(),
  member: memberSchema.extend({ user: userSchema }).optional(),
  user: userSchema.optional(),
  data: z
    .object({
      name: label.optional(),
      custom_id: label.optional(),
      options: list(optionSchema, 25).optional(),
    })
    .optional(),
  message: plainMessageSchema.optional(),
});
export type WireInteraction = z.infer<typeof interactionSchema>;

export const commandsSchema = list(
  z.object({
    name: label,
    description: label,
    type: z.number().int().optional(),
    options: z.array(z.object({ name: label })).optional(),
  }),
  500,
);

/** A dispatch as the library hands it on. */
export const dispatchSchema = z.object({
  t: z.string().min(1).max(128),
  s: z.number().int().min(0),
  d: z.unknown().optional(),
});
export type Dispatch = z.infer<typeof dispatchSchema>;

/** ms of Discord's first moment (docs: Reference, Snowflakes). */
const epochMs = 1_420_070_400_000;

/** When the thing with this id was made, ms since the epoch. */
export const momentOf = (id: string): number => Number(BigInt(id) >> 22n) + epochMs;

/** The smallest id of that moment. */
export const snowflakeAt = (ms: number): string =>
  String(BigInt(Math.max(0, Math.floor(ms) - epochMs)) << 22n);

/** Channel types (docs: Channel, Channel Types). */
export const channelTypes = {
  text: 0,
  direct: 1,
  voice: 2,
  groupDirect: 3,
  announcement: 5,
  announcementThread: 10,
  publicThread: 11,
  privateThread: 12,
  stage: 13,
} as const;

const threadTypes: ReadonlySet<number> = new Set([10, 11, 12]);
export const isThread = ({ type }: Pick<WireChannel, "type">): boolean => threadTypes.has(type);
