/**
 * What signal-cli writes, as far as it is read: signal-cli-jsonrpc(5), and the JSON of `receive`
 * (signal-cli(1), option --output). Fields that are missing are null there in some versions and left out
 * in others.
 */
import { z } from "zod";
import { limits } from "../../../domain/limits.ts";
import { momentMax } from "../../../domain/message.ts";

const id = z.string().min(1).max(limits.idUnitsMax);
const label = z.string().max(limits.labelUnitsMax);
const text = z.string().max(limits.textUnitsMax);
const moment = z.number().int().min(0).max(momentMax);
const units = z.number().int().min(0).max(limits.textUnitsMax);

const range = { start: units, length: units };
const mentionSchema = z.object({ number: id.nullish(), uuid: id.nullish(), ...range });
const styleSchema = z.object({ style: label, ...range });
const attachmentSchema = z.object({
  id: id.nullish(),
  contentType: label.nullish(),
  filename: label.nullish(),
  size: z.number().int().min(0).nullish(),
});
const targetAuthor = {
  targetAuthorNumber: id.nullish(),
  targetAuthorUuid: id.nullish(),
  targetSentTimestamp: moment,
};
const contactSchema = z.object({
  name: z
    .object({ display: label.nullish(), given: label.nullish(), family: label.nullish() })
    .nullish(),
});

/** A message, a reaction, a deletion, or a change of the room. */
export const dataSchema = z.object({
  timestamp: moment.nullish(),
  message: text.nullish(),
  isExpirationUpdate: z.boolean().nullish(),
  reaction: z.object({ emoji: label, isRemove: z.boolean(), ...targetAuthor }).nullish(),
  quote: z
    .object({
      id: moment,
      authorNumber: id.nullish(),
      authorUuid: id.nullish(),
      text: text.nullish(),
      mentions: z.array(mentionSchema).max(limits.mentionsCountMax).nullish(),
    })
    .nullish(),
  mentions: z.array(mentionSchema).max(limits.mentionsCountMax).nullish(),
  textStyles: z.array(styleSchema).max(limits.mentionsCountMax).nullish(),
  attachments: z.array(attachmentSchema).max(limits.attachmentsCountMax).nullish(),
  sticker: z.object({ packId: label.nullish(), stickerId: z.number().nullish() }).nullish(),
  contacts: z.array(contactSchema).max(limits.attachmentsCountMax).nullish(),
  pollCreate: z.object({ question: text, options: z.array(label).max(256) }).nullish(),
  payment: z.object({ note: label.nullish() }).nullish(),
  remoteDelete: z.object({ timestamp: moment }).nullish(),
  adminDelete: z.object(targetAuthor).nullish(),
  groupInfo: z.object({ groupId: id, groupName: label.nullish(), type: label.nullish() }).nullish(),
  storyContext: z.unknown().optional(),
});
export type WireData = z.infer<typeof dataSchema>;

const editSchema = z.object({ targetSentTimestamp: moment, dataMessage: dataSchema });

const envelopeSchema = z.object({
  sourceNumber: id.nullish(),
  sourceUuid: id.nullish(),
  sourceName: label.nullish(),
  timestamp: moment,
  dataMessage: dataSchema.nullish(),
  editMessage: editSchema.nullish(),
  syncMessage: z
    .object({
      sentMessage: dataSchema
        .extend({
          destinationNumber: id.nullish(),
          destinationUuid: id.nullish(),
          editMessage: editSchema.nullish(),
        })
        .nullish(),
    })
    .nullish(),
});
export type WireEnvelope = z.infer<typeof envelopeSchema>;

const receivedSchema = z.object({
  account: id.nullish(),
  envelope: envelopeSchema.nullish(),
  /** The message could not be decrypted or read. */
  exception: z.object({ type: label.nullish() }).nullish(),
});

/** One event of `/api/v1/events`; in the manual receive mode it is wrapped once more. */
export const eventSchema = z.union([
  z.object({ subscription: z.number(), result: receivedSchema }).transform(({ result }) => result),
  receivedSchema,
]);

const failureSchema = z.object({
  type: label.nullish(),
  retryAfterSeconds: z.number().nullish(),
});
export type WireResult = z.infer<typeof failureSchema>;

const sentResults = z.array(failureSchema).max(limits.ircMembersMax).nullish();

/** An answer to a request. */
export const answerSchema = z.object({
  result: z.unknown().optional(),
  error: z
    .object({
      code: z.number().int(),
      message: z.string().nullish(),
      data: z
        .object({ response: z.object({ results: sentResults }).nullish() })
        .nullish()
        .catch(null),
    })
    .nullish(),
});

/** What each kind of send answers; `timestamp` names the message. */
export const sentSchema = z.object({ timestamp: moment, results: sentResults });

/** What is not read. */
export const anySchema = z.unknown();

const memberSchema = z.union([
  // Before 0.11 members were numbers.
  z.string().transform((number): { number?: string | null; uuid?: string | null } => ({ number })),
  z.object({ number: id.nullish(), uuid: id.nullish() }),
]);

export const groupsSchema = z.array(
  z.object({
    id,
    name: label.nullish(),
    isMember: z.boolean().nullish(),
    members: z.array(memberSchema).max(limits.ircMembersMax).nullish(),
  }),
);

export const fileSchema = z.object({ data: z.string() });
