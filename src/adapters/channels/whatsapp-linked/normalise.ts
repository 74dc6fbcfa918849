/**
 * From decrypted messages to events
 * =================================
 * What happened in a chat is a message of its own: an edit, a deletion and a reaction name the message that
 * they are about. Mentions are addresses beside the text. What does not come from a person in a chat
 * (channels, status, the account's own devices talking to each other) is passed over.
 */
import type { BinaryNode, GroupMetadata } from "baileys";
import { limits } from "../../../domain/limits.ts";
import type { Inbound } from "../../../domain/message.ts";
import type { ChannelEvent } from "../../../domain/ports/index.ts";
import { cut } from "../../../domain/sanitize.ts";
import { verbatimIn } from "../shared/whatsapp-marks.ts";
import { channelId } from "./config.ts";
import { type Content, contentOf } from "./content.ts";
import { groupServer, jidOf } from "./jid.ts";
import type { Baileys } from "./library.ts";
import { type LinkedPeople, userAddress } from "./people.ts";
import {
  contentSchema,
  envelopeSchema,
  type WireContent,
  type WireContext,
  type WireEnvelope,
} from "./wire.ts";

export interface Receiver {
  readonly account: string;
  readonly people: LinkedPeople;
  /** A group's name and members, as far as they are known. */
  groupOf(groupId: string): Promise<Pick<GroupMetadata, "subject" | "participants"> | null>;
}

/** A message that was decrypted and read. */
export interface Letter {
  readonly envelope: WireEnvelope;
  readonly content: WireContent;
}

/** WAProto.proto, Message.ProtocolMessage.Type. */
const revoke = 0;
const messageEdit = 14;

/**
 * Reads a decrypted message; null: it carries nothing but keys.
 * @throws when the stanza or the content has another form
 */
export function letterOf(
  baileys: Baileys,
  stanza: BinaryNode,
  plain: Uint8Array,
  { self, selfLid }: LinkedPeople,
): Letter | null {
  const { fullMessage } = baileys.decodeMessageNode(
    stanza,
    `${self}@s.whatsapp.net`,
    `${selfLid}@lid`,
  );
  const envelope = envelopeSchema.parse(fullMessage);
  const message = baileys.proto.Message.decode(baileys.unpadRandomMax16(plain));
  const written = message.deviceSentMessage?.message ?? message;
  const content = baileys.normalizeMessageContent(written);
  const names = Object.keys(content ?? {}).filter((name) => !silentParts.has(name));
  return names.length === 0 ? null : { envelope, content: contentSchema.parse(content) };
}

/** Parts of a message that nobody sees as a message. */
const silentParts: ReadonlySet<string> = new Set([
  "senderKeyDistributionMessage",
  "fastRatchetKeySenderKeyDistributionMessage",
  "messageContextInfo",
  // Only announces the files that come next.
  "albumMessage",
  // What people do to a message: they say nothing, and an agent would answer it in a direct chat.
  "pinInChatMessage",
  "keepInChatMessage",
  "pollUpdateMessage",
  "encReactionMessage",
  "encEventResponseMessage",
]);

/** The event of a message; null: it is none for a conversation. */
export async function eventOf(
  baileys: Baileys,
  { envelope, content }: Letter,
  receiver: Receiver,
): Promise<ChannelEvent | null> {
  const { key, messageTimestamp } = envelope;
  const { server } = jidOf(key.remoteJid);
  if (server !== groupServer && server !== "s.whatsapp.net" && server !== "lid") return null;
  const author = authorOf(envelope, receiver);
  const place = await placeOf(envelope, author, receiver);
  const at = messageTimestamp * 1_000;
  const { reactionMessage: reaction, protocolMessage: change } = content;
  if (reaction !== undefined) {
    const { id } = reaction.key;
    return {
      type: "reaction",
      reaction: {
        ...place,
        ...changeOf(`${place.chat.id} ${id} ${author.id}`, reaction.text ?? "", receiver),
        id,
        author,
        reactedAt: at,
        reactionId: key.id,
      },
    };
  }
  if (change === undefined)
    return { type: "message", message: inboundOf(envelope, content, author, place, receiver) };
  const id = change.key?.id;
  if (id === undefined) return null;
  // A program may name any message.
  const heard = receiver.people.heard(place.chat.id, id);
  const isAuthors = heard === undefined || heard.authorId === author.id;
  if (change.type === revoke)
    return isAuthors || (await mayModerate(envelope, place, receiver))
      ? { type: "delete", deletion: { ...place, id } }
      : null;
  if (change.type !== messageEdit || change.editedMessage === undefined || !isAuthors) return null;
  const edited = contentSchema.parse(baileys.normalizeMessageContent(change.editedMessage));
  const { text } = contentOf(id, edited);
  return { type: "edit", edit: { ...place, id, text, author, editedAt: at, editId: key.id } };
}

type Author = Inbound["author"];
type Place = Pick<Inbound, "channel" | "account" | "chat" | "thread">;

function inboundOf(
  { key, messageTimestamp }: WireEnvelope,
  content: WireContent,
  author: Author,
  place: Place,
  receiver: Receiver,
): Inbound {
  const fileId = `${place.chat.id}/${author.id}/${key.id}`;
  const read: Content = contentOf(fileId, content);
  const { text, attachments, context, stored, isKnown } = read;
  if (stored !== null) receiver.people.rememberFile(fileId, stored);
  const verbatim = verbatimIn(text);
  const { people } = receiver;
  const album = content.messageContextInfo?.messageAssociation?.parentMessageKey?.id;
  people.remember(place.chat.id, key.id, {
    authorId: author.id,
    address: userAddress(
      key.participant ?? (key.fromMe ? people.ownAddress(false) : key.remoteJid),
    ),
    isSelf: author.isSelf,
    text: cut(text, heardUnitsMax),
  });
  return {
    ...place,
    id: key.id,
    author,
    text,
    mentions: mentionsIn(context, people),
    mentionsEveryone: (context?.nonJidMentions ?? 0) > 0,
    replyTo: replyOf(context, place, people),
    attachments: [...attachments],
    explicitOnly: !isKnown,
    sentAt: messageTimestamp * 1_000,
    ...(album !== undefined && attachments.length > 0 && { groupId: album }),
    ...(context?.isForwarded === true && { forwarded: true }),
    ...(verbatim.length > 0 && { verbatim }),
  };
}

/** Units of a text that a reply repeats. */
export const heardUnitsMax = 300;

function authorOf({ key, pushName }: WireEnvelope, { people }: Receiver): Author {
  if (key.fromMe)
    return { id: people.self, name: pushName || people.self, isBot: false, isSelf: true };
  const address = key.participant ?? key.remoteJid;
  const id = people.idOf(address, key.participantAlt ?? key.remoteJidAlt);
  return { id, name: pushName || id, isBot: false, isSelf: false };
}

/** Whether the author is an admin of the group; also true where nobody says who is one. */
async function mayModerate(
  { key }: WireEnvelope,
  { chat }: Place,
  { people, groupOf }: Receiver,
): Promise<boolean> {
  if (chat.kind !== "group") return false;
  const group = await groupOf(chat.id);
  if (group === null) return true;
  const ours = [people.ownAddress(true), people.ownAddress(false)];
  const named = [key.participant, key.participantAlt].map((one) => one && userAddress(one));
  const own = new Set(key.fromMe ? ours : named);
  return group.participants.some(
    ({ id, phoneNumber, lid, admin }) =>
      (admin ?? null) !== null && [id, phoneNumber, lid].some((one) => one && own.has(one)),
  );
}

async function placeOf(
  { key }: WireEnvelope,
  author: Author,
  { account, people, groupOf }: Receiver,
): Promise<Place> {
  const at = { channel: channelId, account, thread: null };
  const { user, server } = jidOf(key.remoteJid);
  if (server === groupServer) {
    const id = `${user}@${server}`;
    const title = (await groupOf(id))?.subject;
    return { ...at, chat: { id, kind: "group", ...(title !== undefined && { title }) } };
  }
  const id = people.idOf(key.remoteJid, key.remoteJidAlt);
  const title = author.isSelf ? undefined : author.name;
  return { ...at, chat: { id, kind: "direct", ...(title !== undefined && { title }) } };
}

/** A removal does not say which one: a person has one at most. */
function changeOf(place: string, emoji: string, { people }: Receiver) {
  const before = people.reactions.get(place) ?? [];
  const now = emoji === "" ? [] : [emoji];
  people.reactions.set(place, now);
  return {
    added: now.filter((one) => !before.includes(one)),
    removed: before.filter((one) => !now.includes(one)),
  };
}

function mentionsIn(context: WireContext | undefined, people: LinkedPeople): Inbound["mentions"] {
  const ids = (context?.mentionedJid ?? []).map((address) => people.namedId(address));
  return [...new Set(ids)].map((id) => ({ id, isSelf: id === people.self }));
}

function replyOf(
  context: WireContext | undefined,
  { chat }: Place,
  people: LinkedPeople,
): Inbound["replyTo"] {
  const id = context?.stanzaId;
  if (context === undefined || id === undefined) return null;
  const heard = people.heard(chat.id, id);
  const authorId =
    context.participant === undefined ? undefined : people.namedId(context.participant);
  const quoted = contentSchema.safeParse(context.quotedMessage ?? {});
  const text = heard?.text ?? (quoted.success ? contentOf(id, quoted.data).text : undefined);
  const known = heard?.authorId ?? authorId;
  return {
    id,
    ...(known !== undefined && { authorId: known, authorIsSelf: known === people.self }),
    ...(text !== undefined &&
      context.quotedMessage !== undefined && { text: cut(text, limits.textUnitsMax) }),
  };
}
