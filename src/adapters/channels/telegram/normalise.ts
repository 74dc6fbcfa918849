/**
 * Telegram updates to channel events
 * ==================================
 * Facts only, no decisions. What Telegram does not report stays absent: a mention by username has
 * no id, so its id is `@name`; a post in the name of a chat has no person, so its author is that
 * chat (`chat:<id>`), which is no user id and matches no list by accident.
 */
import type { Attachment, Edit, Inbound } from "../../../domain/message.ts";
import type { ChannelEvent } from "../../../domain/ports/index.ts";
import type {
  WireChat,
  WireContent,
  WireEntity,
  WireFile,
  WireMessage,
  WireUpdate,
  WireUser,
} from "./wire.ts";

/** The bot's identity, from `getMe`. */
export interface TelegramSelf {
  readonly id: string;
  readonly username: string;
  readonly name: string;
}

type Author = Inbound["author"];

/** Converts an update; null for one without a message (joins, pins, unknown kinds). */
export function eventOf(
  update: WireUpdate,
  account: string,
  self: TelegramSelf,
): ChannelEvent | null {
  const created = update.message ?? update.channel_post;
  if (created !== undefined) {
    const message = inboundOf(created, account, self);
    return message === null ? null : { type: "message", message };
  }
  const edited = update.edited_message ?? update.edited_channel_post;
  return edited === undefined
    ? null
    : { type: "edit", edit: editOf(update.update_id, edited, account, self) };
}

function inboundOf(message: WireMessage, account: string, self: TelegramSelf): Inbound | null {
  const text = textOf(message);
  const attachments = attachmentsOf(message);
  if (text === "" && attachments.length === 0) return null;
  // Forwarded text is not the author's own: it mentions no one here.
  const forwarded = message.forward_origin !== undefined;
  const mentions = forwarded ? [] : mentionsOf(message, self);
  return {
    channel: "telegram",
    account,
    ...placeOf(message),
    id: String(message.message_id),
    author: authorOf(message, self),
    text,
    mentions,
    mentionsEveryone: false,
    replyTo: replyOf(message, self),
    attachments,
    ...(message.media_group_id === undefined ? {} : { groupId: message.media_group_id }),
    explicitOnly: forwarded,
    ...(forwarded ? { forwarded } : {}),
    ...verbatimIn(message, text),
    sentAt: message.date * 1_000,
  };
}

function editOf(updateId: number, message: WireMessage, account: string, self: TelegramSelf): Edit {
  return {
    channel: "telegram",
    account,
    ...placeOf(message),
    id: String(message.message_id),
    text: textOf(message),
    author: authorOf(message, self),
    editedAt: (message.edit_date ?? message.date) * 1_000,
    // The edit's time has whole seconds, within which a message may change twice.
    editId: String(updateId),
  };
}

function placeOf({ chat, message_thread_id, is_topic_message }: WireMessage) {
  const kind = {
    private: "direct",
    group: "group",
    supergroup: "group",
    channel: "channel",
  } as const;
  // Only forum topics are threads; in other groups the field is the start of a reply chain.
  const topic = is_topic_message === true && message_thread_id !== undefined;
  return {
    chat: {
      id: String(chat.id),
      kind: kind[chat.type],
      ...(chat.title === undefined ? {} : { title: chat.title }),
    },
    thread: topic ? { id: String(message_thread_id), kind: "topic" as const } : null,
  };
}

const fullName = ({ first_name, last_name }: WireUser) =>
  [first_name, last_name].filter((part) => part !== undefined && part !== "").join(" ");

function userAuthor(user: WireUser, self: TelegramSelf): Author {
  const id = String(user.id);
  return {
    id,
    name: fullName(user) || user.username || id,
    ...(user.username === undefined ? {} : { username: user.username }),
    isBot: user.is_bot,
    isSelf: id === self.id,
  };
}

function chatAuthor(chat: WireChat, signature: string | undefined): Author {
  const id = `chat:${chat.id}`;
  const name = [signature, chat.title].filter(Boolean).join(", ");
  return { id, name: name || id, isBot: false, isSelf: false, isChat: true };
}

/** `sender_chat` wins: with it, `from` is a placeholder for old clients. */
function authorOf(
  message: Pick<WireMessage, "from" | "sender_chat" | "author_signature"> & { chat?: WireChat },
  self: TelegramSelf,
): Author {
  if (message.from !== undefined && String(message.from.id) === self.id)
    return userAuthor(message.from, self);
  if (message.sender_chat !== undefined)
    return chatAuthor(message.sender_chat, message.author_signature);
  if (message.from !== undefined) return userAuthor(message.from, self);
  const chat = message.chat ?? ({ id: 0, type: "channel" } as const);
  return chatAuthor(chat, message.author_signature);
}

function replyOf(message: WireMessage, self: TelegramSelf): Inbound["replyTo"] {
  const parent = message.reply_to_message;
  if (parent === undefined) return null;
  // In a topic every message "replies" to the service message that opened it.
  const opener =
    parent.forum_topic_created !== undefined ||
    (message.is_topic_message === true && parent.message_id === message.message_thread_id);
  if (opener) return null;
  const author = authorOf({ ...parent, chat: message.chat }, self);
  const text = message.quote?.text ?? textOf(parent);
  return {
    id: String(parent.message_id),
    authorId: author.id,
    authorName: author.name,
    authorIsSelf: author.isSelf,
    ...(text === "" ? {} : { text }),
  };
}

/** The text of a message; content without text becomes one bracketed line. */
function textOf(content: WireContent): string {
  const text = content.text ?? content.caption;
  if (text !== undefined) return text;
  if (content.poll !== undefined) return `[poll: ${content.poll.question}]`;
  if (content.location !== undefined)
    return `[location: ${content.location.latitude}, ${content.location.longitude}]`;
  if (content.contact !== undefined)
    return `[contact: ${[content.contact.first_name, content.contact.last_name].join(" ").trim()}]`;
  if (content.dice !== undefined) return `[${content.dice.emoji} ${content.dice.value}]`;
  return "";
}

/** Kinds of entities that quote text. */
const quotingEntities: ReadonlySet<string> = new Set([
  ...["code", "pre", "blockquote", "expandable_blockquote"],
]);

function verbatimIn(content: WireContent, text: string): Pick<Inbound, "verbatim"> {
  const verbatim = entitiesOf(content).flatMap(({ type, offset, length }): [number, number][] => {
    const to = Math.min(offset + length, text.length);
    return quotingEntities.has(type) && offset < to ? [[offset, to]] : [];
  });
  return verbatim.length === 0 ? {} : { verbatim };
}

const entitiesOf = ({ text, entities, caption_entities }: WireContent) =>
  (text === undefined ? caption_entities : entities) ?? [];

function mentionsOf(content: WireContent, self: TelegramSelf): Inbound["mentions"] {
  const text = content.text ?? content.caption ?? "";
  const byId = new Map<string, Inbound["mentions"][number]>();
  for (const entity of entitiesOf(content)) {
    const mention = mentionOf(entity, text, self);
    if (mention !== null) byId.set(mention.id, mention);
  }
  return [...byId.values()];
}

function mentionOf(
  entity: WireEntity,
  text: string,
  self: TelegramSelf,
): Inbound["mentions"][number] | null {
  if (entity.type === "text_mention" && entity.user !== undefined) {
    const { id, name, isSelf } = userAuthor(entity.user, self);
    return { id, name, isSelf };
  }
  if (entity.type !== "mention" && entity.type !== "bot_command") return null;
  const covered = text.slice(entity.offset, entity.offset + entity.length);
  // A command addresses a bot only as /help@that_bot.
  const at = covered.indexOf("@");
  const name = at < 0 ? "" : covered.slice(at + 1);
  if (name === "") return null;
  // Telegram's usernames are ASCII and case-insensitive.
  const isSelf = self.username !== "" && name.toLowerCase() === self.username.toLowerCase();
  return isSelf
    ? { id: self.id, name: self.name, isSelf }
    : { id: `@${name.toLowerCase()}`, name: `@${name}`, isSelf };
}

function attachmentsOf(content: WireContent): Attachment[] {
  const sticker = content.sticker;
  const still = sticker?.is_animated !== true && sticker?.is_video !== true;
  // `document` repeats an animation for old clients.
  const found: (Attachment | null)[] = [
    attachment("image", content.photo?.at(-1), "image/jpeg"),
    attachment("video", content.animation),
    content.animation === undefined ? documentOf(content.document) : null,
    attachment("audio", content.audio),
    attachment("audio", content.voice),
    attachment("video", content.video),
    attachment("video", content.video_note, "video/mp4"),
    attachment(still ? "image" : "video", sticker, undefined, sticker?.emoji),
  ];
  return found.filter((entry) => entry !== null);
}

const documentOf = (file: WireFile | undefined) => {
  const type = file?.mime_type?.split("/")[0];
  const kind = type === "image" || type === "audio" || type === "video" ? type : "file";
  return attachment(kind, file);
};

function attachment(
  kind: Attachment["kind"],
  file: WireFile | undefined,
  usualMime?: string,
  usualName?: string,
): Attachment | null {
  if (file === undefined) return null;
  const mime = file.mime_type ?? usualMime;
  const name = file.file_name ?? usualName;
  return {
    id: file.file_id,
    kind,
    ...(mime === undefined ? {} : { mime }),
    ...(file.file_size === undefined ? {} : { bytes: file.file_size }),
    ...(name === undefined ? {} : { name }),
  };
}
