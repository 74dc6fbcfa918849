/**
 * Matrix events to channel events
 * ===============================
 * Facts only, no decisions. State of a room is no message. Who wrote a message that is replied to, and
 * who began a thread, is in no event: it is known from what was heard, or asked for once. What nobody
 * answers stays absent. Automatic messages are those of type m.notice
 * (https://spec.matrix.org/v1.15/client-server-api/#mnotice), which bots send and do not answer.
 */
import { limits } from "../../../domain/limits.ts";
import type { Attachment, Inbound } from "../../../domain/message.ts";
import type { ChannelEvent } from "../../../domain/ports/index.ts";
import { oneLine } from "../../../domain/sanitize.ts";
import { usersLinked, verbatimIn, withoutFallback } from "./rendering.ts";
import type { Heard, HeardReaction, MatrixRooms } from "./rooms.ts";
import {
  contentSchema,
  messageTypes,
  type WireBody,
  type WireContent,
  type WireEvent,
  type WireWords,
} from "./wire.ts";

/** What an event is converted with. */
export interface Receiver {
  readonly account: string;
  readonly rooms: MatrixRooms;
  /** Asks for an event of a room; null: it is gone, or not for us. */
  fetch(room: string, eventId: string): Promise<WireEvent | null>;
}

/** Converts an event; null for one that is nothing for us. */
export async function eventOf(
  event: WireEvent,
  room: string,
  receiver: Receiver,
): Promise<ChannelEvent | null> {
  if (event.state_key !== undefined) return null;
  if (event.type === "m.room.redaction") return redactionOf(event, room, receiver);
  const content = contentSchema.safeParse(event.content).data;
  if (content === undefined) return null;
  const relation = content["m.relates_to"];
  if (event.type === "m.reaction") return reactionOf(event, content, room, receiver);
  if (!messageTypes.has(event.type)) return null;
  if (relation?.rel_type === "m.replace") return editOf(event, content, room, receiver);
  const message = await inboundOf(event, room, receiver);
  return message === null ? null : { type: "message", message };
}

/** Converts a message, sent or played back; null for one without words and files. */
export async function inboundOf(
  event: WireEvent,
  room: string,
  receiver: Receiver,
): Promise<Inbound | null> {
  const content = contentSchema.safeParse(event.content).data;
  if (content === undefined) return null;
  const relation = content["m.relates_to"];
  const replied = relation?.["m.in_reply_to"]?.event_id;
  const root = threadOf(content);
  const text = textOf(event, content, room, receiver, replied !== undefined);
  const attachments = attachmentsOf(event, content);
  if (text.trim() === "" && attachments.length === 0) return null;
  const author = authorOf(event, room, receiver, content);
  const heard = { room, authorId: author.id, isSelf: author.isSelf, text, thread: root };
  receiver.rooms.remember(event.event_id, heard);
  // In a thread, older clients name the message before; that is no reply.
  const isReply = replied !== undefined && !(root !== null && relation?.is_falling_back === true);
  const begun = root === null ? undefined : await heardOf(room, root, receiver);
  const verbatim = verbatimIn(text, content.formatted_body);
  return {
    ...whereOf(room, root, receiver, begun),
    id: event.event_id,
    author,
    text,
    mentions: mentionsIn(content, room, receiver),
    mentionsEveryone: content["m.mentions"]?.room === true,
    replyTo: isReply ? await replyOf(room, replied, receiver) : null,
    attachments,
    explicitOnly: false,
    ...(verbatim.length > 0 && { verbatim }),
    sentAt: event.origin_server_ts,
  };
}

function whereOf(
  room: string,
  root: string | null,
  { account, rooms }: Receiver,
  begun?: Heard | undefined,
) {
  const thread =
    root === null
      ? null
      : {
          id: root,
          kind: "thread" as const,
          ...(begun !== undefined && { rootAuthorId: begun.authorId }),
        };
  return { channel: "matrix", account, chat: rooms.chatOf(room), thread };
}

function authorOf(
  { sender }: WireEvent,
  room: string,
  { rooms }: Receiver,
  content?: WireContent,
): Inbound["author"] {
  return {
    id: sender,
    name: rooms.nameOf(room, sender),
    username: sender,
    isBot: content?.msgtype === "m.notice",
    isSelf: sender === rooms.self,
  };
}

/** The first message of the thread that a message is in; null: it is in none. */
function threadOf({ "m.relates_to": relation }: WireContent): string | null {
  return relation?.rel_type === "m.thread" ? (relation.event_id ?? null) : null;
}

/** What the author says; a file's name is not that. */
function textOf(
  { type, sender }: WireEvent,
  content: WireBody,
  room: string,
  { rooms }: Receiver,
  isReply: boolean,
): string {
  const { body = "", url, filename, msgtype } = content;
  const poll = content["org.matrix.msc3381.poll.start"] ?? content["m.poll"];
  if (poll !== undefined && type.endsWith("poll.start")) {
    const answers = poll.answers.map(wordsOf).filter((words) => words !== "");
    const question = `poll: ${wordsOf(poll.question)}`;
    return `[${[question, answers.join(", ")].filter((part) => part !== "").join(" — ")}]`;
  }
  if (url !== undefined) {
    const hasCaption = type !== "m.sticker" && filename !== undefined && filename !== body;
    return hasCaption ? body : "";
  }
  const said = isReply ? withoutFallback(body) : body;
  const isAction = msgtype === "m.emote" && said.trim() !== "";
  return isAction ? `* ${oneLine(rooms.nameOf(room, sender))} ${said}` : said;
}

/** The plain text of a question or an answer. */
const wordsOf = (words: WireWords): string =>
  oneLine(words["org.matrix.msc1767.text"] ?? words["m.text"]?.[0]?.body ?? "");

const kinds: Readonly<Record<string, Attachment["kind"]>> = {
  "m.image": "image",
  "m.audio": "audio",
  "m.video": "video",
};

function attachmentsOf({ type }: WireEvent, { url, msgtype = "", body, filename, info }: WireBody) {
  if (url === undefined || !url.startsWith("mxc://")) return [];
  const name = filename ?? body;
  const attachment: Attachment = {
    id: url,
    kind: type === "m.sticker" ? "image" : (kinds[msgtype] ?? "file"),
    ...(info?.mimetype !== undefined && { mime: info.mimetype }),
    ...(info?.size !== undefined && { bytes: info.size }),
    ...(name !== undefined && name !== "" && { name: name.slice(0, limits.labelUnitsMax) }),
  };
  return [attachment];
}

/** The list that the sender's client made; without one, the links to people. */
function mentionsIn(content: WireBody, room: string, { rooms }: Receiver): Inbound["mentions"] {
  const users = content["m.mentions"]?.user_ids ?? [];
  const named = content["m.mentions"] === undefined ? usersLinked(content.formatted_body) : users;
  return [...new Set(named)].map((id) => ({
    id,
    name: rooms.nameOf(room, id),
    isSelf: id === rooms.self,
  }));
}

async function replyOf(room: string, id: string, receiver: Receiver): Promise<Inbound["replyTo"]> {
  const heard = await heardOf(room, id, receiver);
  if (heard === undefined) return { id };
  return {
    id,
    authorId: heard.authorId,
    authorName: receiver.rooms.nameOf(room, heard.authorId),
    authorIsSelf: heard.isSelf,
    ...(heard.text !== "" && { text: heard.text }),
  };
}

/** Who wrote a message, and what: from memory, or asked for. */
async function heardOf(room: string, id: string, receiver: Receiver): Promise<Heard | undefined> {
  const { rooms } = receiver;
  const known = rooms.heard(room, id);
  if (known !== undefined) return known;
  const event = await receiver.fetch(room, id);
  if (event === null) return undefined;
  const content = contentSchema.safeParse(event.content).data;
  const relation = content?.["m.relates_to"];
  const heard: Heard = {
    room,
    authorId: event.sender,
    isSelf: event.sender === rooms.self,
    text:
      content === undefined ? "" : textOf(event, content, room, receiver, relation !== undefined),
    thread: content === undefined ? null : threadOf(content),
  };
  rooms.remember(id, heard);
  return heard;
}

/** Only its author may edit a message; homeservers pass on what anybody sends. */
async function editOf(
  event: WireEvent,
  content: WireContent,
  room: string,
  receiver: Receiver,
): Promise<ChannelEvent | null> {
  const id = content["m.relates_to"]?.event_id;
  const changed = content["m.new_content"];
  if (id === undefined || changed === undefined) return null;
  const before = await heardOf(room, id, receiver);
  if (before !== undefined && before.authorId !== event.sender) return null;
  const text = textOf(event, changed, room, receiver, false);
  if (before !== undefined) receiver.rooms.remember(id, { ...before, text });
  return {
    type: "edit",
    edit: {
      ...whereOf(room, before?.thread ?? null, receiver),
      id,
      text,
      author: authorOf(event, room, receiver, content),
      editedAt: event.origin_server_ts,
      editId: event.event_id,
    },
  };
}

async function reactionOf(
  event: WireEvent,
  content: WireContent,
  room: string,
  receiver: Receiver,
): Promise<ChannelEvent | null> {
  const { event_id: of, key, rel_type: type } = content["m.relates_to"] ?? {};
  if (type !== "m.annotation" || of === undefined || key === undefined) return null;
  const emoji = plainEmoji(key);
  const reaction = { room, of, emoji, authorId: event.sender };
  receiver.rooms.rememberReaction(event.event_id, reaction);
  return changeOf(event, room, reaction, "added", receiver);
}

async function changeOf(
  event: WireEvent,
  room: string,
  { of, emoji, authorId }: HeardReaction,
  what: "added" | "removed",
  receiver: Receiver,
): Promise<ChannelEvent | null> {
  // Ours say nothing new.
  if (authorId === receiver.rooms.self) return null;
  const heard = await heardOf(room, of, receiver);
  return {
    type: "reaction",
    reaction: {
      ...whereOf(room, heard?.thread ?? null, receiver),
      id: of,
      author: authorOf({ ...event, sender: authorId }, room, receiver),
      added: what === "added" ? [emoji] : [],
      removed: what === "removed" ? [emoji] : [],
      ...(heard !== undefined && { ofSelf: heard.isSelf }),
      ...(heard !== undefined && heard.text !== "" && { text: heard.text }),
      reactedAt: event.origin_server_ts,
      reactionId: event.event_id,
    },
  };
}

/** Something is taken back: a reaction, or a message. */
async function redactionOf(
  event: WireEvent,
  room: string,
  receiver: Receiver,
): Promise<ChannelEvent | null> {
  // Rooms of version 11 have it in the content.
  const inContent = event.content.redacts;
  const id = event.redacts ?? (typeof inContent === "string" ? inContent : undefined);
  if (id === undefined || id === "" || id.length > limits.idUnitsMax) return null;
  const reaction = receiver.rooms.reaction(room, id);
  if (reaction !== undefined) return changeOf(event, room, reaction, "removed", receiver);
  const thread = receiver.rooms.heard(room, id)?.thread ?? null;
  return { type: "delete", deletion: { ...whereOf(room, thread, receiver), id } };
}

/** Clients differ in whether they write the sign for coloured presentation (U+FE0F). */
export const plainEmoji = (key: string): string => key.replaceAll("\ufe0f", "") || key;
