/**
 * From an envelope of signal-cli to the events of a channel
 * =========================================================
 * One envelope is one event or none: receipts, typing, calls and stories are none. A message of the
 * account from another of its devices (`syncMessage`) is one of ours. Signal does not say who is a bot.
 */
import { limits } from "../../../domain/limits.ts";
import type { Attachment, Inbound } from "../../../domain/message.ts";
import type { ChannelEvent } from "../../../domain/ports/index.ts";
import { type Address, messageId } from "./ids.ts";
import type { SignalNames } from "./names.ts";
import { linesOf, readText } from "./text.ts";
import type { WireData, WireEnvelope } from "./wire.ts";

export interface Receiver {
  readonly account: string;
  readonly names: SignalNames;
}

/** Who wrote, and where. */
interface Scene {
  readonly author: string;
  readonly sentAt: number;
  readonly place: Pick<Inbound, "channel" | "account" | "chat" | "thread">;
}

/** What an envelope says; null: nothing that a conversation needs. */
export function eventOf(envelope: WireEnvelope, receiver: Receiver): ChannelEvent | null {
  const { names } = receiver;
  const source: Address = { number: envelope.sourceNumber, uuid: envelope.sourceUuid };
  const author = names.idOf(source);
  if (author === null) return null;
  if (author !== names.self.id) names.rename(author, envelope.sourceName);
  const { dataMessage, editMessage, syncMessage, timestamp } = envelope;
  const sent = syncMessage?.sentMessage;
  const edit = editMessage ?? sent?.editMessage;
  const data = edit?.dataMessage ?? dataMessage ?? sent;
  if (data == null) return null;
  const peer =
    sent == null
      ? author
      : names.idOf({ number: sent.destinationNumber, uuid: sent.destinationUuid });
  const chat = chatOf(data, peer ?? author, names);
  const place = { channel: "signal", account: receiver.account, chat, thread: null };
  const scene = { author, place, sentAt: data.timestamp ?? timestamp };
  if (edit != null) return editOf(data, edit.targetSentTimestamp, scene, names);
  return (
    deletionOf(data, scene, names) ?? reactionOf(data, scene, names) ?? said(data, scene, names)
  );
}

function chatOf({ groupInfo }: WireData, peer: string, names: SignalNames): Inbound["chat"] {
  if (groupInfo == null) {
    const title = names.nameOf(peer);
    return { id: peer, kind: "direct", ...(title !== null && { title }) };
  }
  names.retitle(groupInfo.groupId, groupInfo.groupName);
  const title = names.titleOf(groupInfo.groupId);
  return { id: groupInfo.groupId, kind: "group", ...(title !== null && { title }) };
}

function authorOf(id: string, names: SignalNames): Inbound["author"] {
  const name = names.nameOf(id) ?? id;
  return { id, name, isBot: false, isSelf: id === names.self.id };
}

function editOf(
  data: WireData,
  target: number,
  { author, sentAt, place }: Scene,
  names: SignalNames,
): ChannelEvent {
  const editId = messageId(author, sentAt);
  const id = names.firstOf(messageId(author, target));
  names.edited(id, editId);
  const { text } = contentOf(data, names);
  names.said(id, text);
  const edit = { ...place, id, text, author: authorOf(author, names), editedAt: sentAt, editId };
  return { type: "edit", edit };
}

function deletionOf(
  data: WireData,
  { author, place }: Scene,
  names: SignalNames,
): ChannelEvent | null {
  const { remoteDelete, adminDelete } = data;
  const target = adminDelete == null ? author : targetOf(adminDelete, names);
  const at = adminDelete?.targetSentTimestamp ?? remoteDelete?.timestamp;
  if (at === undefined || target === null) return null;
  return { type: "delete", deletion: { ...place, id: names.firstOf(messageId(target, at)) } };
}

const targetOf = (
  target: {
    targetAuthorNumber?: string | null | undefined;
    targetAuthorUuid?: string | null | undefined;
  },
  names: SignalNames,
) => names.idOf({ number: target.targetAuthorNumber, uuid: target.targetAuthorUuid });

function reactionOf(
  { reaction }: WireData,
  { author, sentAt, place }: Scene,
  names: SignalNames,
): ChannelEvent | null {
  if (reaction == null) return null;
  const target = targetOf(reaction, names);
  if (target === null || reaction.emoji === "") return null;
  const id = names.firstOf(messageId(target, reaction.targetSentTimestamp));
  const emoji = [reaction.emoji.slice(0, limits.emojiUnitsMax)];
  const change = reaction.isRemove ? { added: [], removed: emoji } : { added: emoji, removed: [] };
  const text = names.textOf(id);
  return {
    type: "reaction",
    reaction: {
      ...place,
      ...change,
      id,
      author: authorOf(author, names),
      ofSelf: target === names.self.id,
      reactedAt: sentAt,
      reactionId: messageId(author, sentAt),
      ...(text !== null && { text }),
    },
  };
}

function contentOf(data: WireData, names: SignalNames) {
  const { text, mentions, verbatim } = readText(data, names);
  const lines = linesOf(data);
  const whole = [...(text === "" ? [] : [text]), ...lines].join("\n");
  return { text: whole.slice(0, limits.textUnitsMax), mentions, verbatim };
}

function said(
  data: WireData,
  { author, sentAt, place }: Scene,
  names: SignalNames,
): ChannelEvent | null {
  const { text, mentions, verbatim } = contentOf(data, names);
  const attachments = (data.attachments ?? []).flatMap(attachmentOf);
  // Members who come and go, timers, pins, votes, answers to stories: nothing was said here.
  if ((text === "" && attachments.length === 0) || data.storyContext != null) return null;
  const id = messageId(author, sentAt);
  names.said(id, text);
  const message: Inbound = {
    ...place,
    id,
    author: authorOf(author, names),
    text,
    mentions,
    mentionsEveryone: false,
    replyTo: replyOf(data, names),
    attachments,
    explicitOnly: false,
    sentAt,
    ...(verbatim.length > 0 && { verbatim: verbatim.map(([from, to]) => [from, to]) }),
  };
  return { type: "message", message };
}

function replyOf({ quote }: WireData, names: SignalNames): Inbound["replyTo"] {
  if (quote == null) return null;
  const authorId = names.idOf({ number: quote.authorNumber, uuid: quote.authorUuid });
  if (authorId === null) return null;
  const id = names.firstOf(messageId(authorId, quote.id));
  const { text } = readText(
    { message: quote.text, mentions: quote.mentions, textStyles: [] },
    names,
  );
  const authorName = names.nameOf(authorId);
  return {
    id,
    authorId,
    authorIsSelf: authorId === names.self.id,
    ...(authorName !== null && { authorName }),
    ...(text !== "" && { text }),
  };
}

function attachmentOf({
  id,
  contentType,
  filename,
  size,
}: NonNullable<WireData["attachments"]>[number]): Attachment[] {
  if (id == null) return [];
  const [family = ""] = (contentType ?? "").split("/");
  const kind = family === "image" || family === "audio" || family === "video" ? family : "file";
  return [
    {
      id,
      kind,
      ...(contentType != null && { mime: contentType }),
      ...(size != null && { bytes: size }),
      ...(filename != null && { name: filename }),
    },
  ];
}
