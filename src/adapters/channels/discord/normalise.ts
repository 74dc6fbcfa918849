/**
 * Messages of Discord as messages of earshot
 * ==========================================
 * Pure conversions of checked payloads; what they need besides is in `chats.ts`.
 */
import { limits } from "../../../domain/limits.ts";
import type { Attachment, Edit, Inbound, Reaction } from "../../../domain/message.ts";
import { type DiscordChats, nameOf } from "./chats.ts";
import { saidIn } from "./content.ts";
import {
  momentOf,
  type WireAttachment,
  type WireContent,
  type WireMember,
  type WireMessage,
  type WireReaction,
  type WireUpdate,
  type WireUser,
} from "./wire.ts";

/** What a payload is converted with. */
export interface Receiver {
  readonly account: string;
  readonly chats: DiscordChats;
}

/**
 * Message types that somebody wrote (docs: Message, Message Types): plain, reply, and what commands of
 * other programs say. The others are notices of joins, pins, boosts, threads and calls.
 */
const plain = 0;
const reply = 19;
const spokenTypes: ReadonlySet<number> = new Set([plain, reply, 20, 23]);
/** Reference type of a forward (docs: Message, Message Reference Types). */
const forward = 1;

/** Null: it says nothing (a notice, an empty message). */
export function inboundOf(message: WireMessage, receiver: Receiver): Inbound | null {
  const { chats, account } = receiver;
  const { guild_id: guildId, id, channel_id: channel } = message;
  if (!spokenTypes.has(message.type)) return null;
  for (const user of message.mentions ?? []) chats.meet(user, user.member);
  const snapshot = message.message_snapshots?.[0]?.message;
  const isForward = message.message_reference?.type === forward;
  const content = isForward && snapshot !== undefined ? snapshot : message;
  const { text, verbatim } = saidIn(content, chats, guildId);
  const attachments = attachmentsOf(content, channel, id);
  if (text === "" && attachments.length === 0) return null;
  const roles = message.member?.roles;
  return {
    channel: "discord",
    account,
    ...chats.placeOf(channel, guildId),
    ...(guildId === undefined
      ? {}
      : { scope: { guildId, ...(roles === undefined ? {} : { roles: [...roles] }) } }),
    id,
    author: authorOf(message, chats),
    text,
    mentions: isForward ? [] : mentionsOf(message, chats),
    mentionsEveryone: !isForward && message.mention_everyone === true,
    replyTo: replyOf(message, chats),
    attachments,
    explicitOnly: isForward,
    ...(isForward ? { forwarded: originOf(message, snapshot) } : {}),
    ...(verbatim.length === 0 ? {} : { verbatim: verbatim.slice(0, limits.mentionsCountMax) }),
    sentAt: momentOf(id),
  };
}

/** Null: the author has changed nothing (Discord added a preview, or somebody pinned it). */
export function editOf(update: WireUpdate, { account, chats }: Receiver): Edit | null {
  const { edited_timestamp: edited, content, id, author } = update;
  if (edited == null || content === undefined || author?.id === chats.self.id) return null;
  const editedAt = Date.parse(edited);
  return {
    channel: "discord",
    account,
    ...chats.placeOf(update.channel_id, update.guild_id),
    id,
    text: saidIn(update, chats, update.guild_id).text,
    ...(author === undefined ? {} : { author: authorOf({ ...update, author }, chats) }),
    ...(Number.isNaN(editedAt) ? {} : { editedAt }),
    editId: edited,
  };
}

/** @param change `1:55` for the 55th event of session 1: Discord has no id for it */
export function reactionOf(
  wire: WireReaction,
  isAdded: boolean,
  change: { readonly id: string; readonly at: number },
  { account, chats }: Receiver,
): Reaction {
  const { user_id: userId, emoji, member, message_author_id: of } = wire;
  const user = member?.user ?? chats.person(userId) ?? { id: userId, username: "" };
  const shown = emoji.id == null ? (emoji.name ?? "") : `:${emoji.name ?? "emoji"}:`;
  const changed = [shown === "" ? "(unknown emoji)" : shown];
  return {
    channel: "discord",
    account,
    ...chats.placeOf(wire.channel_id, wire.guild_id),
    id: wire.message_id,
    author: authorOf({ author: user, member }, chats),
    added: isAdded ? changed : [],
    removed: isAdded ? [] : changed,
    ...(of == null ? {} : { ofSelf: of === chats.self.id }),
    reactedAt: change.at,
    reactionId: change.id,
  };
}

/** A webhook posts under any name; the person behind it is unknown, so it counts as a bot. */
export function authorOf(
  {
    author,
    member,
    webhook_id: webhook,
  }: {
    readonly author: WireUser;
    readonly member?: WireMember | null | undefined;
    readonly webhook_id?: string | null | undefined;
  },
  chats: DiscordChats,
): Inbound["author"] {
  const { id, username, bot } = author;
  return {
    id,
    name: member?.nick || nameOf(author) || id,
    ...(username === "" ? {} : { username }),
    isBot: bot === true || webhook != null,
    isSelf: id === chats.self.id,
  };
}

function mentionsOf(message: WireMessage, chats: DiscordChats): Inbound["mentions"] {
  const { content = "", mentions = [], guild_id: guildId } = message;
  const parent = message.type === reply ? message.referenced_message?.author.id : undefined;
  const found = new Map<string, Inbound["mentions"][number]>();
  for (const user of mentions) {
    // A reply that pings lists the parent's author here, although the text names nobody.
    const isPing = user.id === parent && content !== "" && !new Set(idsIn(content)).has(user.id);
    if (isPing) continue;
    const isSelf = user.id === chats.self.id;
    found.set(user.id, { id: user.id, name: user.member?.nick || nameOf(user), isSelf });
  }
  for (const id of message.mention_roles ?? []) {
    const role = chats.role(guildId, id);
    // People often choose the bot's own role in place of the bot.
    if (role?.isOurs === true)
      found.set(chats.self.id, { id: chats.self.id, name: role.name, isSelf: true });
    else found.set(`role:${id}`, { id: `role:${id}`, name: role?.name ?? id, isSelf: false });
  }
  return [...found.values()].slice(0, limits.mentionsCountMax);
}

const idsIn = (content: string): string[] =>
  [...content.matchAll(/<@!?(\d{1,20})>/g)].map(([, id = ""]) => id);

function replyOf(message: WireMessage, chats: DiscordChats): Inbound["replyTo"] {
  const { message_reference: reference, referenced_message: parent, type } = message;
  if (type !== reply || reference?.message_id === undefined || reference.type === forward)
    return null;
  if (parent == null) return { id: reference.message_id };
  const { id, name, isSelf } = authorOf(parent, chats);
  const { text } = saidIn(parent, chats, message.guild_id);
  return {
    id: parent.id,
    authorId: id,
    authorName: name,
    authorIsSelf: isSelf,
    ...(text === "" ? {} : { text }),
  };
}

/** Discord says where a forwarded message was posted, not by which person. */
function originOf(
  { message_reference: reference }: WireMessage,
  snapshot: WireContent | undefined,
): Inbound["forwarded"] {
  const sentAt = Date.parse(snapshot?.timestamp ?? "");
  return {
    ...(reference?.channel_id === undefined ? {} : { chat: { id: reference.channel_id } }),
    ...(reference?.message_id === undefined ? {} : { messageId: reference.message_id }),
    ...(Number.isNaN(sentAt) ? {} : { sentAt }),
  };
}

/** Addresses of files expire after a day, so an id says where to ask for a new one. */
function attachmentsOf(content: WireContent, channel: string, message: string): Attachment[] {
  return (content.attachments ?? []).map((file) => ({
    id: `${channel}/${message}/${file.id}`,
    kind: kindOf(file),
    ...(file.content_type == null ? {} : { mime: file.content_type }),
    ...(file.size === undefined ? {} : { bytes: file.size }),
    name: file.filename,
  }));
}

function kindOf({ content_type: mime }: WireAttachment): Attachment["kind"] {
  const type = mime?.split("/")[0];
  return type === "image" || type === "audio" || type === "video" ? type : "file";
}
