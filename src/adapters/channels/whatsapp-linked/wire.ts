/**
 * What people write, in WhatsApp's form
 * =====================================
 * The parts of a decrypted message that are read (the library's WAProto/WAProto.proto has all of them).
 * The sender's own program made it, so nothing in it is taken as it comes: a part of another form is
 * left out.
 */
import { z } from "zod";
import { limits } from "../../../domain/limits.ts";
import { momentMax } from "../../../domain/message.ts";

const id = z.string().min(1).max(limits.idUnitsMax);
const text = z.string().max(limits.textUnitsMax);
const label = z.string().max(limits.labelUnitsMax);
/** Optional parts that are left out where they have another form; the library has null for none. */
const maybe = <Schema extends z.ZodType>(schema: Schema) =>
  schema
    .nullish()
    .catch(undefined)
    .transform((value) => value ?? undefined);

/** A message within a message: it is read when it is looked at. */
const inner = z.custom<object>((value) => typeof value === "object" && value !== null);

const keySchema = z.object({
  id,
  remoteJid: maybe(id),
  participant: maybe(id),
  fromMe: maybe(z.boolean()),
});

const contextSchema = z.object({
  stanzaId: maybe(id),
  participant: maybe(id),
  quotedMessage: maybe(inner),
  mentionedJid: maybe(z.array(id).max(limits.mentionsCountMax)),
  /** Mentions of everybody. */
  nonJidMentions: maybe(z.number()),
  isForwarded: maybe(z.boolean()),
});
export type WireContext = z.infer<typeof contextSchema>;
const context = maybe(contextSchema);

const fileSchema = z.object({
  mimetype: maybe(label),
  caption: maybe(text),
  fileName: maybe(label),
  /** A number of the protobuf library's own. */
  mediaKey: maybe(z.instanceof(Uint8Array)),
  directPath: maybe(z.string().max(limits.labelUnitsMax)),
  fileLength: maybe(z.coerce.number().int().min(0)),
  ptt: maybe(z.boolean()),
  contextInfo: context,
});
export type WireFile = z.infer<typeof fileSchema>;

const pollSchema = z.object({
  name: maybe(text),
  options: maybe(z.array(z.object({ optionName: maybe(text) })).max(64)),
  contextInfo: context,
});

/** The content of one message, its wrappers removed. */
export const contentSchema = z.object({
  conversation: maybe(text),
  extendedTextMessage: maybe(z.object({ text: maybe(text), contextInfo: context })),
  imageMessage: maybe(fileSchema),
  videoMessage: maybe(fileSchema),
  ptvMessage: maybe(fileSchema),
  audioMessage: maybe(fileSchema),
  documentMessage: maybe(fileSchema),
  stickerMessage: maybe(fileSchema),
  locationMessage: maybe(
    z.object({
      degreesLatitude: z.number(),
      degreesLongitude: z.number(),
      name: maybe(label),
      contextInfo: context,
    }),
  ),
  contactMessage: maybe(z.object({ displayName: maybe(label), contextInfo: context })),
  pollCreationMessage: maybe(pollSchema),
  pollCreationMessageV2: maybe(pollSchema),
  pollCreationMessageV3: maybe(pollSchema),
  /** Which album a file is of. */
  messageContextInfo: maybe(
    z.object({ messageAssociation: maybe(z.object({ parentMessageKey: maybe(keySchema) })) }),
  ),
  reactionMessage: maybe(
    z.object({ key: keySchema, text: maybe(z.string().max(limits.emojiUnitsMax)) }),
  ),
  protocolMessage: maybe(
    z.object({
      type: maybe(z.number()),
      key: maybe(keySchema),
      editedMessage: maybe(inner),
    }),
  ),
});
export type WireContent = z.infer<typeof contentSchema>;

/** The attributes of a message's stanza, as the library reads them. */
export const envelopeSchema = z.object({
  key: z.object({
    id,
    remoteJid: id,
    remoteJidAlt: maybe(id),
    participant: maybe(id),
    participantAlt: maybe(id),
    fromMe: z.boolean(),
  }),
  /** Seconds. */
  messageTimestamp: z.coerce
    .number()
    .min(0)
    .max(momentMax / 1_000),
  pushName: maybe(label),
});
export type WireEnvelope = z.infer<typeof envelopeSchema>;
