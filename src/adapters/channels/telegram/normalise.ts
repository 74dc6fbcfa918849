/**
 * Telegram updates to channel events
 * ==================================
 * Facts only, no decisions. What Telegram does not report stays absent: a mention by username has
 * no id, so its id is `@name`; a post in the name of a chat has no person, so its author is that
 * chat (`chat:<id>`), which is no user id and matches no list by accident.
 */
import type { Attachment, Edit, Inbound, Origin } from "../../../domain/message.ts";
import type { ChannelEvent } from "../../../domain/ports/index.ts";
import { businessThread, type TelegramChats } from "./chats.ts";
import { lineOf, noticeOf } from "./content-lines.ts";
import type {
  WireChat,
  WireContent,
  WireEntity,
  WireFile,
  WireMessage,
  WireOrigin,
  WireReaction,
  WireUpdate,
  WireUser,
} from "./wire.ts";

/** The bot's identity, from `getMe`. */
export interface TelegramSelf {
  readonly id: string;
  readonly username: string;
  readonly name: string;
  /** Whether it can be connected to business accounts; absent: an API server that does not say. */
  readonly isConnectable?: boolean;
  /** Whether it gets every message of its groups; absent: an API server that does not say. */
  readonly hearsAll?: boolean;
}

type Author = Inbound["author"];

/** What an update is converted with. */
export interface Receiver {
  readonly account: string;
  readonly self: TelegramSelf;
  readonly chats: TelegramChats;
}

/** Converts an update; null for one that says nothing (joins, pins, unknown kinds). */
export function eventOf(update: WireUpdate, receiver: Receiver): ChannelEvent | null {
  const { chats } = receiver;
  if (update.message_reaction !== undefined)
    return reactionOf(update.update_id, update.message_reaction, receiver);
  const created = update.message ?? update.channel_post;
  if (created !== undefined) {
    const { chat, migrate_to_chat_id: to, migrate_from_chat_id: from } = created;
    if (to !== undefined) chats.migrate(chat.id, to);
    if (from !== undefined) chats.migrate(from, chat.id);
    const name = (created.forum_topic_edited ?? created.forum_topic_created)?.name;
    const topic = created.message_thread_id;
    if (name !== undefined && topic !== undefined) chats.nameTopic(chat.id, topic, name);
    const message = inboundOf(created, receiver);
    return message === null ? null : { type: "message", message };
  }
  const edited = update.edited_message ?? update.edited_channel_post;
  return edited === undefined
    ? null
    : { type: "edit", edit: editOf(update.update_id, edited, receiver) };
}

function inboundOf(message: WireMessage, { account, self, chats }: Receiver): Inbound | null {
  // In a private chat a notice would be answered like a message: it is left out.
  const notice = message.chat.type === "private" ? null : noticeOf(message);
  const text = notice ?? textOf(message);
  const attachments = attachmentsOf(message);
  if (text === "" && attachments.length === 0) return null;
  // Forwarded text is not the author's own: it mentions no one here.
  const origin = message.forward_origin;
  const mentions = origin === undefined ? mentionsOf(message, self) : [];
  return {
    channel: "telegram",
    account,
    ...placeOf(message, chats),
    id: chats.messageId(message.chat.id, message.message_id),
    author: authorIn(message, { self, chats }),
    text,
    mentions,
    mentionsEveryone: false,
    replyTo: replyOf(message, self, chats),
    attachments,
    ...(message.media_group_id === undefined ? {} : { groupId: message.media_group_id }),
    explicitOnly: origin !== undefined || notice !== null,
    ...(origin === undefined ? {} : { forwarded: originOf(origin) }),
    ...quoteOf(message),
    ...verbatimIn(message, text),
    sentAt: message.date * 1_000,
  };
}

function editOf(updateId: number, message: WireMessage, { account, self, chats }: Receiver): Edit {
  return {
    channel: "telegram",
    account,
    ...placeOf(message, chats),
    id: chats.messageId(message.chat.id, message.message_id),
    text: textOf(message),
    author: authorIn(message, { self, chats }),
    editedAt: (message.edit_date ?? message.date) * 1_000,
    // The edit's time has whole seconds, within which a message may change twice.
    editId: String(updateId),
  };
}

function reactionOf(
  updateId: number,
  reaction: WireReaction,
  { account, self, chats }: Receiver,
): ChannelEvent | null {
  const { chat, user, actor_chat, message_id, date, old_reaction, new_reaction } = reaction;
  const before = old_reaction.map(emojiOf);
  const after = new_reaction.map(emojiOf);
  const added = after.filter((emoji) => !before.includes(emoji));
  const removed = before.filter((emoji) => !after.includes(emoji));
  if (added.length + removed.length === 0) return null;
  const topic = chats.topicOf(chat.id, message_id);
  const thread = topic === undefined ? null : { id: String(topic), kind: "topic" as const };
  return {
    type: "reaction",
    reaction: {
      channel: "telegram",
      account,
      ...placeOf({ chat }, chats),
      thread,
      id: chats.messageId(chat.id, message_id),
      author:
        user === undefined ? chatAuthor(actor_chat ?? chat, undefined) : userAuthor(user, self),
      added,
      removed,
      reactedAt: date * 1_000,
      reactionId: String(updateId),
    },
  };
}

/** Custom emoji are pictures, which Telegram names by a number. */
const emojiOf = ({ type, emoji }: WireReaction["new_reaction"][number]) =>
  emoji ?? (type === "paid" ? "⭐" : "(custom emoji)");

type Located = Pick<WireMessage, "chat"> & Partial<WireMessage>;

export function placeOf(message: Located, chats: TelegramChats) {
  const { chat } = message;
  const kinds = {
    private: "direct",
    group: "group",
    supergroup: "group",
    channel: "channel",
  } as const;
  const kind = chat.is_direct_messages === true ? "direct" : kinds[chat.type];
  const title = chat.title === undefined ? {} : { title: chat.title };
  const own = chats.ownId(chat.id);
  const moved = own === chat.id ? {} : { movedTo: String(chat.id) };
  return {
    chat: { id: String(own), kind, ...title, ...moved },
    thread: threadOf(message, chats),
  };
}

/** A topic of a forum, what one person writes to a channel, or a chat of a business account. */
function threadOf(message: Located, chats: TelegramChats): Inbound["thread"] {
  const { direct_messages_topic: direct, message_thread_id, is_topic_message } = message;
  const { business_connection_id: business, chat } = message;
  if (business !== undefined) return businessThread(business, chat.id);
  if (direct !== undefined) return { id: String(direct.topic_id), kind: "topic" };
  // Only forum topics are threads; in other groups the field is the start of a reply chain.
  if (is_topic_message !== true || message_thread_id === undefined) return null;
  const opened = message.reply_to_message?.forum_topic_created?.name;
  const title = chats.topicName(message.chat.id, message_thread_id) ?? opened;
  return {
    id: String(message_thread_id),
    kind: "topic",
    ...(title === undefined ? {} : { title }),
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

/** In a chat of a business account, all but the customer write as its owner. */
function authorIn(message: WireMessage, { self, chats }: Omit<Receiver, "account">): Author {
  const author = authorOf(message, self);
  const { business_connection_id: business, chat } = message;
  if (business === undefined || author.isSelf) return author;
  const isCustomer =
    author.id === String(chat.id) && author.id !== chats.business.get(business)?.owner;
  return isCustomer ? author : { ...author, isHost: true };
}

/** `sender_chat` wins: with it, `from` is a placeholder for old clients. */
function authorOf(
  message: Pick<
    WireMessage,
    "from" | "sender_chat" | "author_signature" | "sender_business_bot"
  > & { chat?: WireChat },
  self: TelegramSelf,
): Author {
  const { sender_business_bot: bot } = message;
  if (bot !== undefined && String(bot.id) === self.id) return userAuthor(bot, self);
  if (message.from !== undefined && String(message.from.id) === self.id)
    return userAuthor(message.from, self);
  if (message.sender_chat !== undefined)
    return chatAuthor(message.sender_chat, message.author_signature);
  if (message.from !== undefined) return userAuthor(message.from, self);
  const chat = message.chat ?? ({ id: 0, type: "channel" } as const);
  return chatAuthor(chat, message.author_signature);
}

/** Who wrote a forwarded message, and where, as far as its author allows. */
function originOf(origin: WireOrigin): Origin {
  const { sender_user: user, sender_user_name, author_signature, message_id, date } = origin;
  const chat = origin.chat ?? origin.sender_chat;
  const authorName = user === undefined ? (sender_user_name ?? author_signature) : fullName(user);
  return {
    ...(user === undefined ? {} : { authorId: String(user.id) }),
    ...(authorName === undefined || authorName === "" ? {} : { authorName }),
    ...(chat === undefined ? {} : { chat: originChat(chat) }),
    ...(message_id === undefined ? {} : { messageId: String(message_id) }),
    ...(date === undefined || date === 0 ? {} : { sentAt: date * 1_000 }),
  };
}

const originChat = ({ id, title, username }: WireChat) => {
  const name = title ?? username;
  return { id: String(id), ...(name === undefined ? {} : { title: name }) };
};

/** A part of the message replied to, or a message of another chat. */
function quoteOf(message: WireMessage): Pick<Inbound, "quote"> {
  const { quote, external_reply: external, reply_to_story: story } = message;
  if (story !== undefined) return { quote: { text: lineOf({ story }) ?? "", from: {} } };
  if (external === undefined)
    return quote?.is_manual === true && message.reply_to_message !== undefined
      ? { quote: { text: quote.text } }
      : {};
  const { origin, chat, message_id } = external;
  const text = quote?.text ?? textOf(external);
  const from = {
    ...originOf(origin),
    ...(chat === undefined ? {} : { chat: originChat(chat) }),
    ...(message_id === undefined ? {} : { messageId: String(message_id) }),
  };
  return { quote: { ...(text === "" ? {} : { text }), from } };
}

function replyOf(
  message: WireMessage,
  self: TelegramSelf,
  chats: TelegramChats,
): Inbound["replyTo"] {
  const parent = message.reply_to_message;
  if (parent === undefined) return null;
  // In a topic every message "replies" to the service message that opened it.
  const opener =
    parent.forum_topic_created !== undefined ||
    (message.is_topic_message === true && parent.message_id === message.message_thread_id);
  if (opener) return null;
  const author = authorOf({ ...parent, chat: message.chat }, self);
  // What somebody chose to quote is said apart; what Telegram did is a part of a long message.
  const chosen = message.quote?.is_manual === true;
  const text = chosen ? textOf(parent) : (message.quote?.text ?? textOf(parent));
  return {
    id: chats.messageId(message.chat.id, parent.message_id),
    authorId: author.id,
    authorName: author.name,
    authorIsSelf: author.isSelf,
    ...(text === "" ? {} : { text }),
  };
}

/** The text of a message; what is no text becomes one bracketed line, below the text if there is one. */
function textOf(content: WireContent): string {
  const text = content.text ?? content.caption;
  const line = lineOf(content);
  if (line === null) return text ?? "";
  return text === undefined || text === "" ? line : `${text}\n${line}`;
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
