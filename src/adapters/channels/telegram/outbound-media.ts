/**
 * Files for Telegram
 * ==================
 * Each kind has its method. What Telegram does not take as that kind (a picture of odd proportions, a
 * voice message to somebody who allows none) is sent as a document; only if that is refused too, the
 * file is.
 */
import { EarshotError } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import type { Route } from "../../../domain/message.ts";
import type { OutgoingKind } from "../../../domain/outgoing.ts";
import type { MediaRequest, SendReceipt } from "../../../domain/ports/index.ts";
import { renderMarkdown } from "../shared/markdown.ts";
import type { TelegramChats } from "./chats.ts";
import { type TelegramClient, target } from "./client.ts";

/** UTF-16 units after entities parsing (Bot API: sendPhoto.caption). */
const captionLimit = 1_024;
/** Bytes of a photo; a larger picture is a document. */
const photoBytesMax = 10_485_760;
const photoTypes: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/webp"]);

/** As a reply to a message, if that is still there. */
export function replyingTo(chats: TelegramChats, route: Route, replyTo: string | undefined) {
  if (replyTo === undefined) return {};
  const message_id = chats.messageNumber(target(route).chat_id, replyTo);
  const reply = { allow_sending_without_reply: true } as const;
  return message_id === null ? {} : { reply_parameters: { message_id, ...reply } };
}

export async function sendFile(
  client: TelegramClient,
  chats: TelegramChats,
  request: MediaRequest,
): Promise<SendReceipt> {
  const kind = kindOf(request);
  try {
    return await sendAs(client, chats, kind, request);
  } catch (error) {
    const refused = error instanceof EarshotError && error.code === "EAR_CHANNEL_REJECTED";
    if (kind === "file" || !refused) throw error;
    return sendAs(client, chats, "file", request);
  }
}

function kindOf({ kind, mime, data }: MediaRequest): OutgoingKind {
  if (kind === "image")
    return photoTypes.has(mime) && data.length <= photoBytesMax ? "image" : "file";
  if (kind !== undefined) return kind;
  if (mime === "audio/ogg") return "voice";
  return mime.startsWith("audio/") ? "audio" : "file";
}

async function sendAs(
  client: TelegramClient,
  chats: TelegramChats,
  kind: OutgoingKind,
  { route, name, data, signal, caption = "", replyTo }: MediaRequest,
): Promise<SendReceipt> {
  const about = { ...target(route), ...captionOf(caption), ...replyingTo(chats, route, replyTo) };
  const file = await client.file(data, name);
  const options = { kind: "send", signal, msMax: limits.sendMsMax } as const;
  const send = () => {
    switch (kind) {
      case "image":
        return client.call("sendPhoto", { ...about, photo: file }, options);
      case "voice":
        return client.call("sendVoice", { ...about, voice: file }, options);
      case "audio":
        return client.call("sendAudio", { ...about, audio: file }, options);
      case "video":
        return client.call("sendVideo", { ...about, video: file }, options);
      case "file":
        return client.call("sendDocument", { ...about, document: file }, options);
    }
  };
  return { messageIds: [String((await send()).message_id)] };
}

function captionOf(markdown: string) {
  if (markdown === "") return {};
  const { text, entities } = renderMarkdown(markdown);
  // Rendered text may be longer than its Markdown (tables are padded).
  if (text.length > captionLimit) return { caption: markdown.slice(0, captionLimit) };
  return {
    caption: text,
    ...(entities.length === 0 ? {} : { caption_entities: [...entities] as never[] }),
  };
}
