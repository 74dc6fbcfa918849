/**
 * XMPP messages to channel events
 * ===============================
 * Facts only, no decisions. Chat states, receipts, subjects and invitations are no messages. What
 * XMPP does not report stays absent: a room shows no real addresses unless it wants to, nobody says who
 * is a bot, and a message that refers to one that was not heard here names its id and nothing more.
 */
import type { Attachment, Inbound } from "../../../domain/message.ts";
import type { ChannelEvent } from "../../../domain/ports/index.ts";
import { keyOf, type XmppChats, type XmppRoom } from "./chats.ts";
import {
  addressed,
  authorIdOf,
  bareOf,
  namesNick,
  privateChatOf,
  resourceOf,
  type Who,
} from "./names.ts";
import { verbatimIn, withoutParts } from "./rendering.ts";
import { spaces } from "./spaces.ts";
import type { XmppMessage } from "./wire.ts";

/** What a message is converted with. */
export interface Receiver {
  readonly account: string;
  /** Our address, bare. */
  readonly self: string;
  /** Whether our server gives messages an id, and removes what others claim. */
  readonly hasStanzaIds: boolean;
  readonly chats: XmppChats;
  /** An id for a message that has none. */
  nextId(): string;
}

/** How a message came to us. */
export interface Arrival {
  /** The archive's id of it; null: it came live. */
  readonly archiveId: string | null;
  /** Played back by a room or an archive: nicks have passed on since. */
  readonly isPast: boolean;
}

/** Where a message is, and whose it is. */
interface Place {
  readonly chat: Inbound["chat"];
  readonly room: XmppRoom | null;
  readonly author: Inbound["author"];
  /** Who gives ids to messages there; null: nobody. */
  readonly idsBy: string | null;
}

/** Converts a message; null for one that is nothing for us. */
export function eventOf(
  message: XmppMessage,
  receiver: Receiver,
  arrival: Arrival,
): ChannelEvent | null {
  if (message.type === "error" || message.type === "headline" || message.isInvitation) return null;
  const moderated = moderationOf(message, receiver);
  if (moderated !== null) return moderated;
  const place = placeOf(message, receiver, arrival);
  if (place === null) return null;
  if (message.retracts !== null) return retractionOf(message.retracts, place, receiver);
  if (message.reactions !== null) return reactionOf(message, place, receiver, arrival);
  return saidOf(message, place, receiver, arrival);
}

const whereOf = (place: Place, { account }: Receiver) =>
  ({ channel: "xmpp", account, chat: place.chat, thread: null }) as const;

function placeOf(message: XmppMessage, receiver: Receiver, arrival: Arrival): Place | null {
  const { chats, self, hasStanzaIds } = receiver;
  const bare = bareOf(message.from);
  const room = chats.rooms.get(bare) ?? null;
  if (room === null) {
    // Ours from another client, or of a room that we are not in.
    if (message.type === "groupchat" || bare === self) return null;
    const name = bare.split("@", 1)[0] as string;
    return {
      chat: { id: bare, kind: "direct", title: bare },
      room,
      author: { id: bare, name, username: bare, isBot: false, isSelf: false },
      idsBy: hasStanzaIds ? self : null,
    };
  }
  const nick = resourceOf(message.from);
  if (nick === null || nick === "") return null;
  const who = whoWrote(room, nick, message, arrival);
  const isSelf = isOurs(room, nick, who, receiver, arrival);
  const author = {
    id: isSelf ? self : authorIdOf(room.jid, who),
    name: nick,
    username: nick,
    isBot: false,
    isSelf,
  };
  if (message.type === "groupchat")
    return {
      chat: { id: room.jid, kind: "group", title: room.jid },
      room,
      author,
      idsBy: room.hasStanzaIds ? room.jid : null,
    };
  if (isSelf) return null;
  const chat = { id: privateChatOf(room.jid, who), kind: "direct", title: message.from } as const;
  return { chat, room, author, idsBy: hasStanzaIds ? self : null };
}

function whoWrote(
  room: XmppRoom,
  nick: string,
  { occupantId, real }: XmppMessage,
  { isPast, archiveId }: Arrival,
): Who {
  const present = isPast ? undefined : room.occupants.get(nick);
  if (present !== undefined) return present;
  // Only an archive says it, and only of a room that shows addresses.
  const isShown = archiveId !== null && room.features.has("muc_nonanonymous");
  return room.past(nick, occupantId, isShown && real !== null ? bareOf(real) : null);
}

function isOurs(
  room: XmppRoom,
  nick: string,
  who: Who,
  { self }: Receiver,
  { isPast }: Arrival,
): boolean {
  if (who.real !== null) return who.real === self;
  if (who.occupantId !== null && room.ownOccupantId !== null)
    return who.occupantId === room.ownOccupantId;
  return !isPast && nick === room.ownNick;
}

/** The id that others use for it, and the sender's own. */
function idsOf(message: XmppMessage, { idsBy }: Place, receiver: Receiver, arrival: Arrival) {
  const given = message.stanzaIds.find(({ by }) => idsBy !== null && bareOf(by) === idsBy)?.id;
  const own = message.originId ?? message.id;
  const id = given ?? arrival.archiveId ?? own ?? receiver.nextId();
  return { id, wireId: message.id ?? own ?? id, originId: message.originId };
}

/** Said, or corrected; null: without words and files. */
function saidOf(
  message: XmppMessage,
  place: Place,
  receiver: Receiver,
  arrival: Arrival,
): ChannelEvent | null {
  const { chats } = receiver;
  const { chat, author } = place;
  const text = textOf(message, author.name);
  const attachments = attachmentsOf(message);
  if (text.trim() === "" && attachments.length === 0) return null;
  const ids = idsOf(message, place, receiver, arrival);
  // What comes live has no time of the platform's.
  const sentAt = message.delayedAt;
  if (message.replaces !== null) {
    const before =
      chats.byWireId(chat.id, author.id, message.replaces) ??
      chats.heard(chat.id, message.replaces);
    // Rooms pass on what anybody writes.
    if (before !== undefined && before.authorId !== author.id) return null;
    const id = before?.id ?? message.replaces;
    const edit = { ...whereOf(place, receiver), id, text, author, editId: ids.id };
    return { type: "edit", edit: sentAt === null ? edit : { ...edit, editedAt: sentAt } };
  }
  const heard = { id: ids.id, authorId: author.id, isSelf: author.isSelf, text };
  const kept = { ...heard, wireId: ids.wireId, from: message.from };
  chats.remember(chat.id, kept);
  const verbatim = message.isUnstyled ? [] : verbatimIn(text);
  return {
    type: "message",
    message: {
      ...whereOf(place, receiver),
      id: ids.id,
      author,
      text,
      mentions: place.room === null ? [] : mentionsIn(message, text, place.room, receiver),
      mentionsEveryone: false,
      replyTo: replyOf(message, place, receiver),
      attachments,
      explicitOnly: message.isEncrypted,
      ...(verbatim.length === 0 ? {} : { verbatim }),
      ...(sentAt === null ? {} : { sentAt }),
    },
  };
}

/** What the author says, without quotes for clients that cannot show replies. */
function textOf(
  { body, urls, reply, fallbacks, isEncrypted }: XmppMessage,
  author: string,
): string {
  if (isEncrypted) return "[an encrypted message, which this account cannot read]";
  if (body === null) return "";
  const quotes = reply === null ? [] : fallbacks.filter((one) => one.for === spaces.reply);
  const parts = quotes.map(({ range }) => range).filter((range) => range !== null);
  const text = withoutParts(body, parts);
  // A client without XEP-0066 shows the address of the file as the text.
  if (urls.includes(text.trim())) return "";
  // XEP-0245: what its author does.
  return text.startsWith("/me ") ? `* ${author} ${text.slice("/me ".length)}` : text;
}

const kinds: readonly (readonly [RegExp, Attachment["kind"]])[] = [
  [/\.(?:jpe?g|png|gif|webp|avif|heic)$/i, "image"],
  [/\.(?:ogg|oga|opus|mp3|m4a|aac|flac|wav)$/i, "audio"],
  [/\.(?:mp4|webm|mov|mkv)$/i, "video"],
];

function attachmentsOf({ urls }: XmppMessage): Attachment[] {
  return urls.flatMap((url) => {
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) return [];
    const file = new URL(url).pathname.split("/").at(-1) ?? "";
    const kind = kinds.find(([pattern]) => pattern.test(file))?.[1] ?? "file";
    return [{ id: url.slice(0, 512), kind, ...(file === "" ? {} : { name: decoded(file) }), url }];
  });
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function replyOf({ reply }: XmppMessage, place: Place, { chats, self }: Receiver) {
  if (reply === null) return null;
  const { id: given, to } = reply;
  const own = chats.byWireId(place.chat.id, self, given);
  const theirs = chats.byWireId(place.chat.id, place.author.id, given);
  const heard = chats.heard(place.chat.id, given) ?? own ?? theirs;
  if (heard !== undefined)
    return {
      id: heard.id,
      authorId: heard.authorId,
      authorIsSelf: heard.isSelf,
      ...(heard.text === "" ? {} : { text: heard.text }),
    };
  if (to === null) return { id: given };
  const ownAddress = place.room === null ? self : `${place.room.jid}/${place.room.ownNick}`;
  const isSelf = place.room === null ? bareOf(to) === self : to === ownAddress;
  return isSelf ? { id: given, authorId: self, authorIsSelf: true } : { id: given };
}

/** Who is named by address (XEP-0372); our nick in the text; others where it is addressed to them. */
function mentionsIn(
  { mentioned }: XmppMessage,
  text: string,
  room: XmppRoom,
  { self }: Receiver,
): Inbound["mentions"] {
  const found = new Map<string, Inbound["mentions"][number]>();
  const add = (id: string, name: string) => {
    if (!found.has(id)) found.set(id, { id, name, isSelf: id === self });
  };
  const addNick = (nick: string) => {
    const who = room.occupants.get(nick);
    if (nick === room.ownNick) add(self, nick);
    else if (who !== undefined) add(authorIdOf(room.jid, who), nick);
  };
  for (const uri of mentioned) {
    const jid = decoded(/^xmpp:([^?]+)/.exec(uri)?.[1] ?? "");
    if (jid === "") continue;
    const nick = bareOf(jid) === room.jid ? resourceOf(jid) : null;
    if (nick !== null) addNick(nick);
    else if (bareOf(jid) !== room.jid) add(bareOf(jid), bareOf(jid));
  }
  if (namesNick(text, room.ownNick)) addNick(room.ownNick);
  for (const nick of addressed(text, [...room.occupants.keys()])) addNick(nick);
  return [...found.values()].slice(0, 64);
}

/** By a moderator, in the name of the room. */
function moderationOf(message: XmppMessage, receiver: Receiver): ChannelEvent | null {
  const room = receiver.chats.rooms.get(message.from);
  if (room === undefined || message.retracts === null || !message.isModerated) return null;
  const { account } = receiver;
  const chat = { id: room.jid, kind: "group" } as const;
  const where = { channel: "xmpp", account, chat, thread: null };
  return { type: "delete", deletion: { ...where, id: message.retracts } };
}

/** By its author. Rooms pass on what anybody writes, so the message must be known to be theirs. */
function retractionOf(retracts: string, place: Place, receiver: Receiver): ChannelEvent | null {
  const { chat, author } = place;
  const heard =
    receiver.chats.heard(chat.id, retracts) ??
    receiver.chats.byWireId(chat.id, author.id, retracts);
  if (heard === undefined && place.room !== null) return null;
  if (heard !== undefined && heard.authorId !== author.id) return null;
  return {
    type: "delete",
    deletion: { ...whereOf(place, receiver), id: heard?.id ?? retracts },
  };
}

function reactionOf(
  message: XmppMessage,
  place: Place,
  receiver: Receiver,
  arrival: Arrival,
): ChannelEvent | null {
  const { chats, self } = receiver;
  const { chat, author } = place;
  const { id: given, emoji } = message.reactions as NonNullable<XmppMessage["reactions"]>;
  const heard = chats.heard(chat.id, given) ?? chats.byWireId(chat.id, self, given);
  const id = heard?.id ?? given;
  const key = keyOf(chat.id, id, author.id);
  const before = chats.reactions.get(key) ?? [];
  chats.reactions.set(key, emoji);
  const added = emoji.filter((one) => !before.includes(one));
  const removed = before.filter((one) => !emoji.includes(one));
  if (author.isSelf || (added.length === 0 && removed.length === 0)) return null;
  return {
    type: "reaction",
    reaction: {
      ...whereOf(place, receiver),
      id,
      author,
      added,
      removed,
      ...(heard === undefined ? {} : { ofSelf: heard.isSelf }),
      ...(message.delayedAt === null ? {} : { reactedAt: message.delayedAt }),
      reactionId: idsOf(message, place, receiver, arrival).id,
    },
  };
}
