/**
 * A message as imsg reports it, as far as it is read: its page JSON output
 * (https://github.com/openclaw/imsg, docs/json.md).
 */
import { z } from "zod";
import { limits } from "../../../domain/limits.ts";
import type { Attachment } from "../../../domain/message.ts";
import type { AppleRow } from "./backend.ts";
import { guidOf, tapbackEmoji } from "./tapbacks.ts";

const id = z.string().max(limits.idUnitsMax);
const label = z.string().max(limits.labelUnitsMax);
const row = z.number().int().min(0);

export const messageSchema = z.object({
  id: row,
  cursor: row.optional(),
  guid: id.min(1),
  chat_guid: id.default(""),
  chat_name: label.optional(),
  sender: id.default(""),
  sender_name: label.optional(),
  is_from_me: z.boolean(),
  text: z.string().max(limits.textUnitsMax).default(""),
  created_at: z.string().optional(),
  reply_to_guid: id.optional(),
  thread_originator_guid: id.optional(),
  attachments: z
    .array(
      z.object({
        original_path: z.string().max(4_096).optional(),
        path: z.string().max(4_096).optional(),
        transfer_name: label.optional(),
        mime_type: label.optional(),
        total_bytes: z.number().int().optional(),
        byte_size: z.number().int().optional(),
        missing: z.boolean().optional(),
      }),
    )
    .max(limits.attachmentsCountMax)
    .default([]),
  is_reaction: z.boolean().optional(),
  reaction_type: label.optional(),
  reaction_emoji: label.optional(),
  is_reaction_add: z.boolean().optional(),
  reacted_to_guid: id.optional(),
  poll: z
    .object({
      kind: label.optional(),
      question: label.optional(),
      options: z.array(z.object({ text: label.optional() })).optional(),
    })
    .optional(),
});
type WireMessage = z.infer<typeof messageSchema>;

function attachmentsOf({ attachments }: WireMessage): Attachment[] {
  return attachments.flatMap((one) => {
    const path = one.path ?? one.original_path ?? "";
    if (one.missing === true || path === "" || path.length > limits.idUnitsMax) return [];
    const [family] = (one.mime_type ?? "").split("/");
    const kind = family === "image" || family === "audio" || family === "video" ? family : "file";
    const bytes = one.byte_size ?? one.total_bytes;
    return [
      {
        id: path,
        kind,
        ...(one.mime_type && { mime: one.mime_type }),
        ...(bytes !== undefined && bytes >= 0 && { bytes }),
        ...(one.transfer_name && { name: one.transfer_name }),
      } satisfies Attachment,
    ];
  });
}

export function rowOf(message: WireMessage): AppleRow {
  const sentAt = Date.parse(message.created_at ?? "");
  const target = message.reacted_to_guid ?? "";
  const emoji = message.reaction_emoji || tapbackEmoji(message.reaction_type ?? "");
  const { poll } = message;
  const asked = (poll?.options ?? []).map((one) => one.text ?? "").join(" / ");
  const line = poll?.kind === "created" ? `[poll: ${poll.question ?? ""} · ${asked}]` : "";
  const missing = message.attachments.filter((one) => one.missing === true);
  const lost = missing.map(
    ({ transfer_name }) => `[file that is not there: ${transfer_name ?? ""}]`,
  );
  const reply = message.reply_to_guid || message.thread_originator_guid;
  return {
    rowId: message.id,
    guid: message.guid,
    chatGuid: message.chat_guid,
    chatTitle: message.chat_name ?? null,
    sender: message.sender === "" ? null : message.sender,
    senderName: message.sender_name || null,
    isFromMe: message.is_from_me,
    // Messages has this letter in the place of each file.
    text: [message.text.replaceAll("\ufffc", ""), line, ...lost].filter(Boolean).join("\n"),
    mentions: [],
    sentAt: Number.isNaN(sentAt) || sentAt < 0 ? null : sentAt,
    replyTo: reply ? guidOf(reply) : null,
    attachments: attachmentsOf(message),
    reaction:
      message.is_reaction === true && target !== "" && emoji
        ? {
            target: guidOf(target),
            emoji: emoji.slice(0, limits.emojiUnitsMax),
            isAdded: message.is_reaction_add !== false,
          }
        : null,
    editedAt: null,
    retractedAt: null,
  };
}
