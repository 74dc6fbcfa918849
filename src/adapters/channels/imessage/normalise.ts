/**
 * From a row of the Messages database to an event
 * ===============================================
 * A room is a chat by its guid (`iMessage;-;+49…` with one person, `iMessage;+;chat…` for a group), a
 * message its guid, a person their phone number or e-mail address. Nothing says who is a bot. A reply
 * names its message by guid; whose that is, is known where it was heard.
 */
import { LRUCache } from "lru-cache";
import { atMost, limits } from "../../../domain/limits.ts";
import type { Inbound } from "../../../domain/message.ts";
import type { ChannelEvent } from "../../../domain/ports/index.ts";
import type { AppleRow } from "./backend.ts";
import { isGroupGuid } from "./config.ts";

/** The account's own id: Messages does not name it in its rows. */
export const selfId = "me";

interface Heard {
  readonly authorId: string;
  readonly text: string;
}

/** Messages that were heard or sent, by guid. */
export type HeardMessages = LRUCache<string, Heard>;
export const createHeard = (): HeardMessages => new LRUCache(atMost(limits.sentTopicsMax));

export interface Receiver {
  readonly account: string;
  readonly heard: HeardMessages;
}

/** What a row says; null: nothing that a conversation needs. */
export function eventOf(row: AppleRow, { account, heard }: Receiver): ChannelEvent | null {
  const authorId = row.isFromMe ? selfId : row.sender;
  if (authorId === null || authorId === "" || row.chatGuid === "") return null;
  const name = row.isFromMe ? selfId : (row.senderName ?? authorId);
  const author = { id: authorId, name, isBot: false, isSelf: row.isFromMe };
  const chat: Inbound["chat"] = {
    id: row.chatGuid,
    kind: isGroupGuid(row.chatGuid) ? "group" : "direct",
    ...(row.chatTitle !== null && row.chatTitle !== "" && { title: row.chatTitle }),
  };
  const place = { channel: "imessage", account, chat, thread: null };
  if (row.reaction !== null) {
    const { target, emoji, isAdded } = row.reaction;
    const known = heard.get(target);
    const reaction = {
      ...place,
      id: target,
      author,
      added: isAdded ? [emoji] : [],
      removed: isAdded ? [] : [emoji],
      reactionId: row.guid,
      ...(known !== undefined && { ofSelf: known.authorId === selfId, text: known.text }),
      ...(row.sentAt !== null && { reactedAt: row.sentAt }),
    };
    return { type: "reaction", reaction };
  }
  if (row.text.trim() === "" && row.attachments.length === 0) return null;
  heard.set(row.guid, { authorId, text: row.text.slice(0, limits.captionUnitsMax) });
  const message: Inbound = {
    ...place,
    id: row.guid,
    author,
    text: row.text,
    mentions: row.mentions,
    mentionsEveryone: false,
    replyTo: replyOf(row.replyTo, heard),
    attachments: [...row.attachments],
    explicitOnly: false,
    ...(row.sentAt !== null && { sentAt: row.sentAt }),
  };
  return { type: "message", message };
}

/** What became of a message that was heard before; null: nothing. */
export function changeOf(row: AppleRow, receiver: Receiver): ChannelEvent | null {
  const { chatGuid, guid, editedAt, retractedAt } = row;
  const kind = isGroupGuid(chatGuid) ? "group" : "direct";
  const place = {
    channel: "imessage",
    account: receiver.account,
    chat: { id: chatGuid, kind } as const,
    thread: null,
  };
  if (chatGuid === "") return null;
  if (retractedAt !== null) return { type: "delete", deletion: { ...place, id: guid } };
  if (editedAt === null || row.text === "" || row.reaction !== null) return null;
  const { text } = row;
  const author = { id: row.isFromMe ? selfId : (row.sender ?? ""), isSelf: row.isFromMe };
  if (author.id === "") return null;
  const named = { ...author, name: row.senderName ?? author.id, isBot: false };
  receiver.heard.set(guid, { authorId: author.id, text: text.slice(0, limits.captionUnitsMax) });
  const edit = { ...place, id: guid, text, author: named, editedAt, editId: `${guid}@${editedAt}` };
  return { type: "edit", edit };
}

function replyOf(guid: string | null, heard: HeardMessages): Inbound["replyTo"] {
  if (guid === null) return null;
  const known = heard.get(guid);
  if (known === undefined) return { id: guid };
  const { authorId, text } = known;
  return { id: guid, authorId, authorIsSelf: authorId === selfId, ...(text !== "" && { text }) };
}
