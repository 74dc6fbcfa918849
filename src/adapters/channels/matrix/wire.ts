/**
 * Matrix's wire format
 * ====================
 * The answers of the client-server API (https://spec.matrix.org/v1.15/client-server-api/), as far as
 * they are used. Events are read one by one: one that has not the form of an event is passed over, and
 * the rest is read all the same.
 */
import { z } from "zod";
import { limits } from "../../../domain/limits.ts";
import { momentMax } from "../../../domain/message.ts";

const id = z.string().min(1).max(limits.idUnitsMax);
const text = z.string().max(limits.textUnitsMax);
/** More answers are read than clients show, which is 20. */
const pollAnswersMax = 100;
/** Forms of one text: plain, HTML. */
const pollTextsMax = 16;
/** Optional parts of a content that are left out where they have another form. */
const maybe = <Schema extends z.ZodType>(schema: Schema) => schema.optional().catch(undefined);

export const eventSchema = z.object({
  type: z.string().max(255),
  event_id: id,
  sender: id,
  origin_server_ts: z.number().min(0).max(momentMax).transform(Math.floor),
  state_key: maybe(z.string().max(limits.idUnitsMax)),
  content: z.record(z.string(), z.unknown()),
  redacts: maybe(id),
  unsigned: maybe(
    z.object({
      transaction_id: maybe(z.string()),
      prev_content: maybe(z.record(z.string(), z.unknown())),
    }),
  ),
});
export type WireEvent = z.infer<typeof eventSchema>;

/** State of a room that somebody is invited to has no more. */
export const strippedSchema = z.object({
  type: z.string().max(255),
  sender: id,
  state_key: z.string().max(limits.idUnitsMax),
  content: z.record(z.string(), z.unknown()),
});

/** Of an event that another one refers to, as anybody may have written it: not with half a character. */
const namedId = id.regex(/^\P{Cs}+$/u);

/** Events in which somebody says something. Polls have two names until rooms know the second one (MSC3381). */
export const messageTypes: ReadonlySet<string> = new Set([
  ...["m.room.message", "m.sticker", "org.matrix.msc3381.poll.start", "m.poll.start"],
]);

const label = z.string().max(limits.labelUnitsMax);
/** A question or an answer of a poll. */
const wordsSchema = z.object({
  "org.matrix.msc1767.text": maybe(label),
  "m.text": maybe(
    z.union([
      label.transform((body) => [{ body }]),
      z.array(z.object({ body: label })).max(pollTextsMax),
    ]),
  ),
});
const pollSchema = z.object({
  question: wordsSchema,
  answers: z.array(wordsSchema).max(pollAnswersMax).catch([]),
});
export type WireWords = z.infer<typeof wordsSchema>;

const relationSchema = z.object({
  rel_type: maybe(z.string().max(255)),
  event_id: maybe(namedId),
  key: maybe(z.string().min(1).max(limits.emojiUnitsMax)),
  is_falling_back: maybe(z.boolean()),
  "m.in_reply_to": maybe(z.object({ event_id: namedId })),
});

const bodySchema = z.object({
  msgtype: maybe(z.string().max(255)),
  body: maybe(text),
  format: maybe(z.string().max(255)),
  formatted_body: maybe(text),
  filename: maybe(z.string().max(limits.labelUnitsMax)),
  url: maybe(z.string().max(limits.idUnitsMax)),
  info: maybe(
    z.object({
      mimetype: maybe(z.string().max(limits.labelUnitsMax)),
      size: maybe(z.number().int().min(0)),
    }),
  ),
  "m.mentions": maybe(
    z.object({
      user_ids: maybe(z.array(id).max(limits.mentionsCountMax)),
      room: maybe(z.boolean()),
    }),
  ),
  "org.matrix.msc3381.poll.start": maybe(pollSchema),
  "m.poll": maybe(pollSchema),
});
export type WireBody = z.infer<typeof bodySchema>;

/** The content of messages and of m.reaction. */
export const contentSchema = bodySchema.extend({
  "m.relates_to": maybe(relationSchema),
  "m.new_content": maybe(bodySchema),
});
export type WireContent = z.infer<typeof contentSchema>;

export const memberSchema = z.object({
  membership: z.string().max(32),
  displayname: maybe(z.string().max(limits.labelUnitsMax)),
  is_direct: maybe(z.boolean()),
});
export const nameSchema = z.object({ name: maybe(z.string().max(limits.labelUnitsMax)) });
export const aliasSchema = z.object({ alias: maybe(z.string().max(limits.labelUnitsMax)) });
export const createSchema = z.object({ predecessor: maybe(z.object({ room_id: id })) });
export const tombstoneSchema = z.object({ replacement_room: maybe(id) });
/** Something that an account keeps about itself. */
export const accountDataSchema = z.object({ type: z.string(), content: z.unknown().optional() });
/** Who is written to directly, and in which rooms. */
export const directSchema = z.record(z.string(), maybe(z.array(id)));

const events = z.object({ events: z.array(z.unknown()).default([]) }).default({ events: [] });

const joinedSchema = z.object({
  state: events,
  timeline: z
    .object({
      events: z.array(z.unknown()).default([]),
      limited: z.boolean().default(false),
      prev_batch: z.string().optional(),
    })
    .default({ events: [], limited: false }),
});
export type WireJoined = z.infer<typeof joinedSchema>;

export const syncSchema = z.object({
  next_batch: z.string().min(1),
  account_data: events,
  rooms: z
    .object({
      join: z.record(z.string(), joinedSchema).default({}),
      invite: z.record(z.string(), z.object({ invite_state: events })).default({}),
      leave: z.record(z.string(), z.object({ timeline: events })).default({}),
    })
    .default({ join: {}, invite: {}, leave: {} }),
});
export type WireSync = z.infer<typeof syncSchema>;

export const whoamiSchema = z.object({ user_id: id, device_id: z.string().optional() });
export const profileSchema = z.object({ displayname: z.string().nullish() });
export const sentSchema = z.object({ event_id: id });
export const joinSchema = z.object({ room_id: id });
export const uploadedSchema = z.object({ content_uri: z.string().startsWith("mxc://") });
export const membersSchema = z.object({ joined: z.record(z.string(), z.unknown()) });
export const pageSchema = z.object({
  chunk: z.array(z.unknown()),
  end: z.string().optional(),
});
export const anySchema = z.unknown();
