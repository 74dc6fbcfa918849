/**
 * Slack's events to channel events
 * ================================
 * Facts only, no decisions. A message's id is its `ts`, which is unique in its conversation. Slack has
 * no replies but threads: what is said in one has the thread's first message and its author.
 */
import { limits } from "../../../domain/limits.ts";
import type { Attachment, Edit, Inbound, Origin } from "../../../domain/message.ts";
import type { ChannelEvent } from "../../../domain/ports/index.ts";
import { cut } from "../../../domain/sanitize.ts";
import type { Person, SlackDirectory, SlackSelf } from "./directory.ts";
import { emojiOf } from "./emoji.ts";
import { blocksText, chatsIn, escapeText, type Names, peopleIn, readText } from "./text.ts";
import {
  changedEventSchema,
  deletedEventSchema,
  messageEventSchema,
  reactionEventSchema,
  tsPattern,
  type WireAttachment,
  type WireFile,
  type WireMessage,
} from "./wire.ts";

/** What an event is converted with. */
export interface Receiver {
  readonly account: string;
  readonly self: SlackSelf;
  readonly directory: SlackDirectory;
  readonly signal: AbortSignal;
}

/** Subtypes of what people and bots say; none is the most common one. */
const said: ReadonlySet<string> = new Set([
  ...["file_share", "me_message", "bot_message", "thread_broadcast", "reply_broadcast"],
]);
/** Subtypes of no interest: who is in a room is asked for, and threads are heard reply by reply. */
const silent: ReadonlySet<string> = new Set([
  ...["channel_join", "channel_leave", "group_join", "group_leave", "message_replied"],
  ...["bot_add", "bot_remove", "bot_enable", "bot_disable", "tombstone", "ekm_access_denied"],
]);

const millisOf = (ts: string): number => Math.round(Number(ts) * 1_000);

/** Converts one event of a conversation; none for those of no interest. @throws ZodError */
export async function eventsOf(
  raw: Readonly<Record<string, unknown>>,
  receiver: Receiver,
): Promise<readonly ChannelEvent[]> {
  if (raw.type === "reaction_added" || raw.type === "reaction_removed")
    return reactionEvents(raw, receiver);
  if (raw.type !== "message" && raw.type !== "app_mention") return [];
  if (raw.subtype === "message_changed") return changedEvents(raw, receiver);
  if (raw.subtype === "message_deleted") {
    const { channel, deleted_ts, previous_message: before } = deletedEventSchema.parse(raw);
    const thread = before?.thread_ts ?? receiver.directory.threadOf(channel, deleted_ts);
    return [deletionOf(channel, deleted_ts, thread, receiver)];
  }
  const message = messageEventSchema.parse(raw);
  const inbound = await inboundOf(message, message.channel, receiver);
  if (inbound === null) return [];
  // Slack delivers to an app what it has said itself, too.
  if (inbound.author.isSelf && (await receiver.directory.hasSent(message.channel, message.ts)))
    return [];
  return [{ type: "message", message: inbound }];
}

async function changedEvents(
  raw: Readonly<Record<string, unknown>>,
  receiver: Receiver,
): Promise<readonly ChannelEvent[]> {
  const event = changedEventSchema.parse(raw);
  const { channel, message, previous_message: before } = event;
  // What was the first message of a thread leaves a place holder.
  if (message.subtype === "tombstone")
    return [deletionOf(channel, message.ts, message.thread_ts ?? null, receiver)];
  // A link's preview was added, or a reply was counted.
  if (before != null && rawTextOf(message) === rawTextOf(before)) return [];
  const edit = await editOf(message, channel, receiver);
  // What this account has changed itself is no news to it.
  return edit === null || edit.author?.isSelf === true ? [] : [{ type: "edit", edit }];
}

/** A message whose text was changed. `null`: it says nothing. */
export async function editOf(
  message: WireMessage,
  channel: string,
  receiver: Receiver,
): Promise<Edit | null> {
  const now = await inboundOf(message, channel, receiver);
  if (now === null) return null;
  const { channel: platform, account, chat, thread, id, text, author } = now;
  const at = message.edited?.ts;
  return {
    channel: platform,
    account,
    chat,
    thread,
    id,
    text,
    author,
    ...(at !== undefined && { editedAt: millisOf(at), editId: at }),
  };
}

function deletionOf(
  channel: string,
  ts: string,
  thread: string | null,
  { account, directory }: Receiver,
): ChannelEvent {
  const place = placeOf(channel, thread === ts ? null : thread, directory);
  return { type: "delete", deletion: { channel: "slack", account, ...place, id: ts } };
}

async function reactionEvents(
  raw: Readonly<Record<string, unknown>>,
  { account, self, directory, signal }: Receiver,
): Promise<readonly ChannelEvent[]> {
  const { user, reaction, item, item_user, event_ts } = reactionEventSchema.parse(raw);
  if (item.type !== "message" || item.channel == null || item.ts == null) return [];
  if (user === self.id) return [];
  const emoji = [emojiOf(reaction)];
  const added = raw.type === "reaction_added";
  const person = await directory.person(user, signal);
  const place = placeOf(item.channel, directory.threadOf(item.channel, item.ts), directory);
  return [
    {
      type: "reaction",
      reaction: {
        channel: "slack",
        account,
        ...place,
        id: item.ts,
        author: personAuthor(user, person, self, person?.isBot === true),
        added: added ? emoji : [],
        removed: added ? [] : emoji,
        ...(item_user != null && { ofSelf: item_user === self.id }),
        ...(event_ts != null &&
          tsPattern.test(event_ts) && { reactedAt: millisOf(event_ts), reactionId: event_ts }),
      },
    },
  ];
}

/** A conversation and its thread. */
export function placeOf(channel: string, thread: string | null, directory: SlackDirectory) {
  const own = directory.firstId(channel);
  const title = directory.titleNow(channel);
  return {
    chat: {
      id: own,
      kind: channel.startsWith("D") ? ("direct" as const) : ("group" as const),
      ...(title !== null && { title }),
      ...(own !== channel && { movedTo: channel }),
    },
    thread: thread === null ? null : { id: thread, kind: "thread" as const },
  };
}

/** A message of an event or of a history; null: it says nothing. */
export async function inboundOf(
  message: WireMessage,
  channel: string,
  receiver: Receiver,
): Promise<Inbound | null> {
  const { account, self, directory } = receiver;
  const subtype = message.subtype ?? "";
  if (silent.has(subtype)) return null;
  const isNotice = subtype !== "" && !said.has(subtype);
  // In a direct chat a notice would be answered like a message: it is left out.
  if (isNotice && channel.startsWith("D")) return null;
  const shared = message.attachments.find(isShared);
  const own = rawTextOf(message);
  const forwards = shared !== undefined && own.trim() === "";
  const raw = forwards ? sharedText(shared) : own;
  const { person, names } = await nameAll(message, raw, shared, channel, receiver);
  const read = readText(raw, names);
  const text = cut(spokenText(message, read.text, person, isNotice), limits.textUnitsMax);
  const attachments = [...message.files, ...(shared?.files ?? [])].flatMap(attachmentOf);
  if (text.trim() === "" && attachments.length === 0) return null;
  const thread = threadOf(message);
  directory.noteThread(channel, message.ts, thread);
  const place = placeOf(channel, thread, directory);
  const root = rootAuthor(message, self);
  const origin = shared === undefined ? undefined : originOf(shared);
  const calls = !forwards && !isNotice;
  return {
    channel: "slack",
    account,
    chat: place.chat,
    thread: place.thread && { ...place.thread, ...(root !== null && { rootAuthorId: root }) },
    scope: { teamId: self.teamId },
    id: message.ts,
    author: authorOf(message, person, self),
    text,
    mentions: calls ? read.mentions.slice(0, limits.mentionsCountMax) : [],
    mentionsEveryone: calls && read.mentionsEveryone,
    replyTo: null,
    attachments: attachments.slice(0, limits.attachmentsCountMax),
    explicitOnly: forwards || isNotice,
    ...(forwards && origin !== undefined && { forwarded: origin }),
    ...(!forwards &&
      shared !== undefined && {
        quote: { text: readText(sharedText(shared), names).text, from: origin },
      }),
    ...(text === read.text && read.verbatim.length > 0 && { verbatim: read.verbatim }),
    sentAt: millisOf(message.ts),
  };
}

/** Asks for the names that a message needs. */
async function nameAll(
  message: WireMessage,
  raw: string,
  shared: WireAttachment | undefined,
  channel: string,
  { self, directory, signal }: Receiver,
): Promise<{ readonly person: Person | null; readonly names: Names }> {
  const everything = shared === undefined ? raw : `${raw}\n${sharedText(shared)}`;
  const others = peopleIn(everything).filter((id) => id !== self.id);
  const { user } = message;
  const [person] = await Promise.all([
    user == null || user === self.id ? null : directory.person(user, signal),
    directory.title(channel, signal),
    ...others.slice(0, 50).map((id) => directory.person(id, signal)),
    ...chatsIn(everything)
      .slice(0, 50)
      .map((id) => directory.title(id, signal)),
  ]);
  return {
    person,
    names: {
      selfId: self.id,
      person: (id) => (id === self.id ? self.name : (directory.personNow(id)?.name ?? null)),
      chat: directory.titleNow,
    },
  };
}

function threadOf({ thread_ts, ts }: WireMessage): string | null {
  return thread_ts == null || thread_ts === ts ? null : thread_ts;
}

/** Who began the thread; null: Slack does not say. */
function rootAuthor({ parent_user_id, root }: WireMessage, self: SlackSelf): string | null {
  const id = parent_user_id ?? root?.user ?? root?.bot_id ?? null;
  return id !== null && id === self.botId ? self.id : id;
}

function spokenText(
  { subtype, user, username }: WireMessage,
  text: string,
  person: Person | null,
  isNotice: boolean,
): string {
  const name = person?.name ?? username ?? user ?? "";
  if (subtype === "me_message") return `* ${name} ${text}`;
  if (!isNotice || text === "") return text;
  const line = text.replace(/\s+/g, " ").trim();
  return line.startsWith("@") || name === "" ? `[${line}]` : `[${name} ${line}]`;
}

function personAuthor(id: string, person: Person | null, self: SlackSelf, isBot: boolean) {
  const isSelf = id === self.id;
  return {
    id,
    name: person?.name ?? (isSelf ? self.name : id),
    ...(person?.username !== undefined && { username: person.username }),
    isBot: isBot || isSelf,
    isSelf,
  };
}

function authorOf(
  { user, bot_id, bot_profile, username, subtype }: WireMessage,
  person: Person | null,
  self: SlackSelf,
): Inbound["author"] {
  const isOurs = user === self.id || (bot_id != null && bot_id === self.botId);
  if (isOurs) return personAuthor(self.id, null, self, true);
  const isBot = bot_id != null || subtype === "bot_message" || user === "USLACKBOT";
  if (user != null) return personAuthor(user, person, self, isBot || person?.isBot === true);
  const id = bot_id ?? "unknown";
  return { id, name: username || bot_profile?.name || id, isBot, isSelf: false };
}

/** A message of another place that was shared here, as opposed to a link's preview. */
const isShared = ({ is_share, is_msg_unfurl, author_id, channel_id }: WireAttachment): boolean =>
  is_share === true || (is_msg_unfurl === true && (author_id ?? channel_id) != null);

const sharedText = ({ text, fallback }: WireAttachment): string => text || fallback || "";

function originOf({ author_id, author_name, channel_id, channel_name, ts }: WireAttachment) {
  const at = ts == null ? null : String(ts);
  const isId = at !== null && tsPattern.test(at);
  const origin: Origin = {
    ...(author_id != null && { authorId: author_id }),
    ...(author_name && { authorName: author_name }),
    ...(channel_id != null && {
      chat: { id: channel_id, ...(channel_name && { title: channel_name }) },
    }),
    ...(isId && { messageId: at, sentAt: millisOf(at) }),
  };
  return origin;
}

/**
 * What a message says, in Slack's form. Of a bot the blocks are what people see, and the text is for
 * notifications; of a person the text has everything.
 */
function rawTextOf(
  message: Partial<Pick<WireMessage, "text" | "blocks" | "bot_id" | "attachments">>,
): string {
  const { text, blocks, bot_id, attachments = [] } = message;
  const inBlocks = (blocks ?? []).length === 0 ? "" : blocksText(blocks ?? []);
  const isBlank = (text ?? "").trim() === "";
  const main = inBlocks !== "" && (isBlank || bot_id != null) ? inBlocks : (text ?? "");
  const more = attachments
    .filter((part) => !isShared(part) && part.from_url == null && part.original_url == null)
    .map(legacyText);
  return [main, ...more].filter((part) => part.trim() !== "").join("\n");
}

function legacyText({
  blocks,
  pretext,
  title,
  title_link,
  text,
  fields,
  fallback,
}: WireAttachment) {
  const inBlocks = (blocks ?? []).length === 0 ? "" : blocksText(blocks ?? []);
  if (inBlocks !== "") return inBlocks;
  const head =
    title && title_link ? `<${escapeText(title_link).replaceAll("|", "%7C")}|${title}>` : title;
  const rows = fields.map(({ title: name, value }) => [name, value].filter(Boolean).join(": "));
  const parts = [pretext, head, text, ...rows].filter((part) => part != null && part !== "");
  return parts.length === 0 ? (fallback ?? "") : parts.join("\n");
}

/** Files that are gone, or older than the workspace's plan shows, are left out. */
function attachmentOf({ id, name, title, mimetype, size, mode, subtype }: WireFile): Attachment[] {
  if (mode === "tombstone" || mode === "hidden_by_limit") return [];
  const type = mimetype?.split("/")[0] ?? "";
  const kind =
    subtype === "slack_audio"
      ? "audio"
      : type === "image" || type === "audio" || type === "video"
        ? type
        : "file";
  const shown = name || title;
  return [
    {
      id,
      kind,
      ...(mimetype && { mime: mimetype }),
      ...(size != null && { bytes: size }),
      ...(shown && { name: shown }),
    },
  ];
}
