/**
 * What a BlueBubbles server answers and posts, as far as it is read: its Postman collection (Message, Chat,
 * Attachment), and the webhooks `new-message` and `updated-message`.
 */
import { z } from "zod";
import { limits } from "../../../domain/limits.ts";
import { type Attachment, type Inbound, momentMax } from "../../../domain/message.ts";
import type { AppleRow } from "./backend.ts";
import { guidOf, tapbackEmoji } from "./tapbacks.ts";

const id = z.string().max(limits.idUnitsMax);
const label = z.string().max(limits.labelUnitsMax);
const moment = z.number().int().min(0).max(momentMax).nullish();

const runSchema = z.object({
  range: z.tuple([z.number().int().min(0), z.number().int().min(0)]),
  attributes: z.record(z.string(), z.unknown()).optional(),
});

export const messageSchema = z.object({
  originalROWID: z.number().int().min(0),
  guid: id.min(1),
  text: z.string().max(limits.textUnitsMax).nullish(),
  /** A line that stands above the text, where the sender writes them. */
  subject: z.string().max(limits.textUnitsMax).nullish(),
  attributedBody: z
    .array(z.object({ string: z.string().optional(), runs: z.array(runSchema).optional() }))
    .nullish()
    .catch(null),
  handle: z.object({ address: id }).nullish(),
  chats: z.array(z.object({ guid: id, displayName: label.nullish() })).nullish(),
  attachments: z
    .array(
      z.object({
        guid: id,
        mimeType: label.nullish(),
        totalBytes: z.number().int().nullish(),
        transferName: label.nullish(),
        hideAttachment: z.boolean().nullish(),
      }),
    )
    .max(limits.attachmentsCountMax)
    .nullish(),
  isFromMe: z.boolean(),
  dateCreated: moment,
  dateEdited: moment,
  dateRetracted: moment,
  itemType: z.number().int().nullish(),
  associatedMessageGuid: id.nullish(),
  associatedMessageType: label.nullish(),
  associatedMessageEmoji: label.nullish(),
  threadOriginatorGuid: id.nullish(),
});
type WireMessage = z.infer<typeof messageSchema>;

/** Of a message that cannot be read. */
export const numberedSchema = z.object({ originalROWID: z.number().int().min(0) });

export const pageSchema = z.object({ data: z.array(z.unknown()).max(1_000) });
export const sentSchema = z.object({ data: z.object({ guid: id.nullish() }).nullish() });
export const infoSchema = z.object({
  data: z.object({
    private_api: z.boolean().nullish(),
    helper_connected: z.boolean().nullish(),
    detected_icloud: label.nullish(),
  }),
});
export const chatSchema = z.object({
  data: z.object({ participants: z.array(z.object({ address: id })).nullish() }),
});
export const postedSchema = z.object({ type: label, data: z.unknown().optional() });
export const anySchema = z.unknown();

/** Mentions are attributes of the text: their handle, over its words. */
function mentionsOf({ attributedBody }: WireMessage): Inbound["mentions"] {
  const found: Inbound["mentions"] = [];
  for (const { string = "", runs = [] } of attributedBody ?? [])
    for (const { range, attributes } of runs) {
      const handle = attributes?.__kIMMentionConfirmedMention;
      if (typeof handle !== "string" || handle === "" || handle.length > limits.idUnitsMax)
        continue;
      const name = string.slice(range[0], range[0] + range[1]);
      if (!found.some((one) => one.id === handle))
        found.push({ id: handle, isSelf: false, ...(name !== "" && { name }) });
    }
  return found.slice(0, limits.mentionsCountMax);
}

/**
 * Of a row about another one: by name, or by its number where the server has no name for it (2000 and on:
 * put on, 3000 and on: taken off). A sticker is about one, too, and a message of its own.
 */
const isTapbackType = (type: string): boolean =>
  /^-|^[23]\d{3}$/.test(type) || !!tapbackEmoji(type);

function reactionOf(message: WireMessage): AppleRow["reaction"] {
  const { associatedMessageGuid: target, associatedMessageType: type } = message;
  if (!target || !type || !isTapbackType(type)) return null;
  const emoji = message.associatedMessageEmoji || tapbackEmoji(type.replace(/^-/, ""));
  if (!emoji) return null;
  return {
    target: guidOf(target),
    emoji: emoji.slice(0, limits.emojiUnitsMax),
    isAdded: !/^(?:-|3\d{3}$)/.test(type),
  };
}

/**
 * Whether the Mac has written all files of a message. Messages has a letter in the place of each; the file
 * itself is written some time after its message.
 */
export const isWhole = ({ text, attachments, itemType }: WireMessage): boolean =>
  (itemType ?? 0) !== 0 || (text ?? "").split("\ufffc").length - 1 <= (attachments ?? []).length;

export function rowOf(message: WireMessage): AppleRow {
  const [chat] = message.chats ?? [];
  // Joins, departures and new names of a group say nothing.
  const isSaid = (message.itemType ?? 0) === 0;
  const isTapback = isTapbackType(message.associatedMessageType ?? "");
  const text = [message.subject, message.text].map((one) => (one ?? "").replaceAll("\ufffc", ""));
  const isSticker = message.associatedMessageType === "sticker";
  const replyTo = message.threadOriginatorGuid || (isSticker && message.associatedMessageGuid);
  const attachments = (message.attachments ?? [])
    .filter(({ hideAttachment }) => hideAttachment !== true)
    .map(({ guid, mimeType, totalBytes, transferName }): Attachment => {
      const [family] = (mimeType ?? "").split("/");
      const isMedia = family === "image" || family === "audio" || family === "video";
      return {
        id: guid,
        kind: isMedia ? family : "file",
        ...(mimeType && { mime: mimeType }),
        ...(totalBytes != null && totalBytes >= 0 && { bytes: totalBytes }),
        ...(transferName && { name: transferName }),
      };
    });
  return {
    rowId: message.originalROWID,
    guid: message.guid,
    chatGuid: chat?.guid ?? "",
    chatTitle: chat?.displayName ?? null,
    sender: message.handle?.address ?? null,
    senderName: null,
    isFromMe: message.isFromMe,
    text: isSaid && !isTapback ? text.filter((one) => one !== "").join("\n") : "",
    mentions: mentionsOf(message),
    sentAt: message.dateCreated ?? null,
    replyTo: replyTo ? guidOf(replyTo) : null,
    attachments: isSaid && !isTapback ? attachments : [],
    reaction: reactionOf(message),
    editedAt: message.dateEdited ?? null,
    retractedAt: message.dateRetracted ?? null,
  };
}
