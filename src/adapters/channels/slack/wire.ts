/**
 * The parts of Slack's payloads that are read. Slack sends null for what is absent in some places, and
 * leaves it out in others: both are the same here. Events:
 * https://docs.slack.dev/reference/events/message; messages of histories have the same form.
 */
import { z } from "zod";
import { limits } from "../../../domain/limits.ts";

/** A message's time, which is its id within a conversation. */
export const tsPattern = /^\d{1,12}\.\d{1,9}$/;
const ts = z.string().regex(tsPattern);
const id = z.string().min(1).max(64);
const label = z.string().max(limits.labelUnitsMax);
const text = z.string().max(limits.textUnitsMax);
const listMax = 1_000;

/** Of a list from outside, the entries that can be read. */
const readable = <Entry extends z.ZodType>(entry: Entry) =>
  z
    .array(z.unknown())
    .nullish()
    .transform((list) =>
      (list ?? []).slice(0, listMax).flatMap((raw): z.infer<Entry>[] => {
        const read = entry.safeParse(raw);
        return read.success ? [read.data] : [];
      }),
    );

const fileSchema = z.object({
  id,
  name: label.nullish(),
  title: label.nullish(),
  mimetype: label.nullish(),
  size: z.number().int().min(0).nullish(),
  mode: label.nullish(),
  subtype: label.nullish(),
  is_external: z.boolean().nullish(),
});
export type WireFile = z.infer<typeof fileSchema>;

/** A shared message, an unfurled link, or a part of what a bot says in the older form. */
const attachmentSchema = z.object({
  is_share: z.boolean().nullish(),
  is_msg_unfurl: z.boolean().nullish(),
  from_url: label.nullish(),
  original_url: label.nullish(),
  channel_id: id.nullish(),
  channel_name: label.nullish(),
  author_id: id.nullish(),
  author_name: label.nullish(),
  ts: z.union([ts, z.number()]).nullish().catch(null),
  pretext: text.nullish(),
  title: text.nullish(),
  title_link: label.nullish(),
  text: text.nullish(),
  fallback: text.nullish(),
  blocks: z.array(z.unknown()).max(listMax).nullish(),
  message_blocks: z.array(z.unknown()).max(listMax).nullish().catch(null),
  fields: readable(z.object({ title: text.nullish(), value: text.nullish() })),
  files: readable(fileSchema),
});
export type WireAttachment = z.infer<typeof attachmentSchema>;

const botProfileSchema = z.object({ name: label.nullish() }).nullish().catch(null);

export const messageSchema = z.object({
  ts,
  subtype: label.nullish(),
  user: id.nullish(),
  bot_id: id.nullish(),
  username: label.nullish(),
  bot_profile: botProfileSchema,
  text: text.nullish(),
  thread_ts: ts.nullish(),
  parent_user_id: id.nullish(),
  /** The first message of the thread, in a reply that was also sent to the channel. */
  root: z.object({ user: id.nullish(), bot_id: id.nullish() }).nullish().catch(null),
  latest_reply: ts.nullish().catch(null),
  edited: z.object({ ts }).nullish().catch(null),
  files: readable(fileSchema),
  attachments: readable(attachmentSchema),
  blocks: z.array(z.unknown()).max(listMax).nullish().catch(null),
  metadata: z
    .object({ event_type: label, event_payload: z.record(z.string(), z.unknown()) })
    .nullish()
    .catch(null),
});
export type WireMessage = z.infer<typeof messageSchema>;

const place = { channel: id, channel_type: label.nullish(), event_ts: label.nullish() };

export const messageEventSchema = messageSchema.extend(place);
export const changedEventSchema = z.object({
  ...place,
  message: messageSchema,
  previous_message: messageSchema
    .pick({ text: true, blocks: true, bot_id: true, attachments: true })
    .nullish()
    .catch(null),
});
export const deletedEventSchema = z.object({
  ...place,
  deleted_ts: ts,
  previous_message: z.object({ thread_ts: ts.nullish(), ts: ts.nullish() }).nullish().catch(null),
});
export const reactionEventSchema = z.object({
  user: id,
  reaction: z.string().min(1).max(256),
  item: z.object({ type: label, channel: id.nullish(), ts: ts.nullish() }),
  item_user: id.nullish(),
  event_ts: label.nullish(),
});
export const renamedEventSchema = z.object({ channel: z.object({ id, name: label }) });
export const movedEventSchema = z.object({ old_channel_id: id, new_channel_id: id });
export const userEventSchema = z.object({ user: z.object({ id }) });

/** What is common to all events; `subtype` of messages only. */
export const anyEventSchema = z.object({ type: label, subtype: label.nullish().catch(null) });

/** An event as Slack delivers it, over the socket and by HTTP alike. */
export const eventCallbackSchema = z.object({
  event_id: label.nullish(),
  team_id: id.nullish(),
  authorizations: z
    .array(z.object({ team_id: id.nullish(), user_id: id.nullish() }))
    .nullish()
    .catch(null),
  event: z.looseObject({ type: label }),
});
export type EventCallback = z.infer<typeof eventCallbackSchema>;

export const slashCommandSchema = z.object({
  command: z.string().regex(/^\/\S{1,64}$/),
  text: text.nullish(),
  user_id: id,
  user_name: label.nullish(),
  channel_id: id,
  team_id: id.nullish(),
  trigger_id: z.string().min(1).max(256),
});

export const pressSchema = z.object({
  type: z.literal("block_actions"),
  team: z.object({ id }).nullish(),
  user: z.object({ id, username: label.nullish(), name: label.nullish() }),
  channel: z.object({ id }),
  message: messageSchema,
  actions: z
    .array(
      z.object({
        action_id: z.string().max(255),
        action_ts: label.nullish(),
        text: z.object({ text: label }).nullish(),
      }),
    )
    .min(1),
});

/** A frame of Socket Mode (https://docs.slack.dev/apis/events-api/using-socket-mode). */
export const frameSchema = z.object({
  type: label,
  envelope_id: z.string().max(256).optional(),
  payload: z.looseObject({}).optional(),
});

/** A page of a list: where the next one begins. */
const nextPage = z.object({ next_cursor: label.nullish() }).nullish();
export const nextOf = (metadata: z.infer<typeof nextPage>): string | null =>
  metadata?.next_cursor || null;

export const okSchema = z.looseObject({});
export const authSchema = z.object({
  user_id: id,
  user: label.nullish(),
  bot_id: id.nullish(),
  team_id: id,
  team: label.nullish(),
  response_metadata: z.object({ scopes: z.array(label).optional() }).nullish(),
});
export const postedSchema = z.object({ ts, channel: id.nullish() });
export const historySchema = z.object({
  messages: readable(messageSchema),
  has_more: z.boolean().nullish(),
  response_metadata: nextPage,
});
export const membersSchema = z.object({ members: z.array(id), response_metadata: nextPage });
const flag = z.boolean().nullish();
const conversationSchema = z.object({
  id,
  name: label.nullish(),
  is_im: flag,
  is_mpim: flag,
  is_private: flag,
  /** Only said of channels. */
  is_member: flag,
});
export const conversationsSchema = z.object({
  channels: readable(conversationSchema),
  response_metadata: nextPage,
});
export const conversationInfoSchema = z.object({ channel: conversationSchema });
export const userInfoSchema = z.object({
  user: z.object({
    id,
    name: label.nullish(),
    real_name: label.nullish(),
    is_bot: z.boolean().nullish(),
    profile: z
      .object({ display_name: label.nullish(), real_name: label.nullish() })
      .nullish()
      .catch(null),
  }),
});
const sharesSchema = z.record(z.string(), z.array(z.object({ ts }))).nullish();
export const fileInfoSchema = z.object({
  file: fileSchema.extend({
    url_private: label.nullish(),
    url_private_download: label.nullish(),
    shares: z.object({ public: sharesSchema, private: sharesSchema }).nullish().catch(null),
  }),
});
export const uploadSchema = z.object({ upload_url: z.string().max(4_096), file_id: id });
