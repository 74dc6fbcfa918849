/**
 * Plain messages
 * ==============
 * A fast path: nearly every line of a long recording is a message without anything unusual. These
 * are recognised by hand, about twenty times faster than by their schema, with the same result.
 * Anything else is left to the schema, which alone refuses.
 */
import { limits } from "../limits.ts";
import { type Inbound, momentMax } from "../message.ts";

type Fields = Readonly<Record<string, unknown>>;
type Known = Readonly<Record<string, true>>;

const inboundFields: Known = {
  channel: true,
  account: true,
  chat: true,
  thread: true,
  id: true,
  author: true,
  text: true,
  mentions: true,
  mentionsEveryone: true,
  replyTo: true,
  attachments: true,
  explicitOnly: true,
  sentAt: true,
};
const chatFields: Known = { id: true, kind: true, title: true };
const authorFields: Known = { id: true, name: true, username: true, isBot: true, isSelf: true };
const mentionFields: Known = { id: true, name: true, isSelf: true };
const replyFields: Known = {
  id: true,
  authorId: true,
  authorName: true,
  authorIsSelf: true,
  text: true,
};

/** The message with its defaults, or null: use the schema. */
export function plainInbound(value: unknown): Inbound | null {
  if (!isFields(value, inboundFields)) return null;
  const { channel, account = "default", thread = null, id, text = "", sentAt } = value;
  const { mentionsEveryone = false, explicitOnly = false, attachments = nothing } = value;
  if (!isId(channel) || !isId(account) || !isId(id) || thread !== null) return null;
  if (typeof text !== "string" || text.length > limits.textUnitsMax) return null;
  if (typeof mentionsEveryone !== "boolean" || typeof explicitOnly !== "boolean") return null;
  if (!Array.isArray(attachments) || attachments.length > 0) return null;
  if (sentAt !== undefined && !isMillis(sentAt)) return null;
  const chat = plainChat(value.chat);
  const author = plainAuthor(value.author);
  const mentions = plainMentions(value.mentions);
  const replyTo = plainReply(value.replyTo);
  if (chat === null || author === null || mentions === null || replyTo === undefined) return null;
  const message: Inbound = {
    channel,
    account,
    chat,
    thread: null,
    id,
    author,
    text,
    mentions,
    mentionsEveryone,
    replyTo,
    attachments: [],
    explicitOnly,
  };
  if (sentAt !== undefined) message.sentAt = sentAt;
  return message;
}

const nothing: readonly unknown[] = [];

function plainChat(value: unknown): Inbound["chat"] | null {
  if (!isFields(value, chatFields) || !isId(value.id) || !isLabel(value.title)) return null;
  const { kind } = value;
  const isKind = kind === "group" || kind === "direct" || kind === "channel";
  return isKind ? (value as Inbound["chat"]) : null;
}

function plainAuthor(value: unknown): Inbound["author"] | null {
  if (!isFields(value, authorFields)) return null;
  const { id, name, username, isBot = false, isSelf = false } = value;
  if (!isId(id) || !isLabel(name) || !isLabel(username)) return null;
  if (typeof isBot !== "boolean" || typeof isSelf !== "boolean") return null;
  const author = { id, name: name || id, isBot, isSelf };
  return username === undefined ? author : { ...author, username };
}

function plainMentions(value: unknown): Inbound["mentions"] | null {
  if (value === undefined) return [];
  if (!Array.isArray(value) || value.length > limits.mentionsCountMax) return null;
  const mentions: Inbound["mentions"] = [];
  for (const mention of value as unknown[]) {
    if (!isFields(mention, mentionFields)) return null;
    const { id, name, isSelf = false } = mention;
    if (!isId(id) || !isLabel(name) || typeof isSelf !== "boolean") return null;
    mentions.push(name === undefined ? { id, isSelf } : { id, name, isSelf });
  }
  return mentions;
}

/** Undefined: use the schema. */
function plainReply(value: unknown): Inbound["replyTo"] | undefined {
  if (value === undefined || value === null) return null;
  if (!isFields(value, replyFields) || !isId(value.id)) return undefined;
  const { authorId, authorName, authorIsSelf, text } = value;
  if (authorId !== undefined && !isId(authorId)) return undefined;
  if (authorIsSelf !== undefined && typeof authorIsSelf !== "boolean") return undefined;
  if (text !== undefined && (typeof text !== "string" || text.length > limits.textUnitsMax))
    return undefined;
  return isLabel(authorName) ? (value as NonNullable<Inbound["replyTo"]>) : undefined;
}

/** A JSON object with only known fields. */
function isFields(value: unknown, known: Known): value is Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  for (const field in value) if (known[field] !== true) return false;
  return true;
}

const isId = (value: unknown): value is string =>
  typeof value === "string" && value.length > 0 && value.length <= limits.idUnitsMax;
const isLabel = (value: unknown): value is string | undefined =>
  value === undefined || (typeof value === "string" && value.length <= limits.labelUnitsMax);
const isMillis = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= momentMax;
