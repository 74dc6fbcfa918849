/**
 * IRC lines to channel events
 * ===========================
 * Facts only, no decisions. A notice is nobody's question and is answered by nobody (RFC 2812, section
 * 3.3.2), so it is not heard; neither are requests to the client (CTCP), except what somebody does
 * (`/me`). What IRC does not report stays absent: a mention is a nick in the text, and the nick of
 * another person has no id.
 */
import { createHash } from "node:crypto";
import type { Inbound, Millis } from "../../../domain/message.ts";
import type { IrcChats } from "./chats.ts";
import type { IrcConnection } from "./client.ts";
import { addressed, identityOf, isRoom, namesNick } from "./names.ts";
import { type IrcLine, sentAtOf, withoutFormatting } from "./wire.ts";

/** What a line is converted with. */
export interface Receiver {
  readonly account: string;
  readonly connection: Pick<IrcConnection, "self" | "id" | "fold">;
  readonly chats: IrcChats;
  /** An id for a message to which the server gives neither id nor time. */
  nextId(): string;
}

/** Converts a line; null for one that is no message for us. */
export function messageOf(line: IrcLine, receiver: Receiver, now: Millis): Inbound | null {
  const { command, params, source, tags } = line;
  const [target, said] = params;
  if (command !== "PRIVMSG" || target === undefined || said === undefined) return null;
  const author = identityOf(source, tags.account ?? null);
  const text = textOf(source.nick, said);
  if (author === null || text === null) return null;
  const { connection, chats } = receiver;
  const { fold, self } = connection;
  const isSelf = fold(source.nick) === fold(self.nick);
  const isGroup = isRoom(target);
  // A line of ours to a person comes back for our other clients.
  if (!isGroup && isSelf) return null;
  const id = messageIdOf(line, receiver);
  if (!isGroup) chats.nicks.set(author, source.nick);
  chats.heard.set(id, { nick: source.nick, isServerId: tags.msgid !== undefined });
  return {
    channel: "irc",
    account: receiver.account,
    chat: isGroup
      ? { id: fold(target), kind: "group", title: target }
      : { id: author, kind: "direct", title: source.nick },
    thread: null,
    id,
    author: {
      id: isSelf ? connection.id : author,
      name: source.nick,
      username: source.nick,
      isBot: isBot(line, target, chats),
      isSelf,
    },
    text,
    mentions: isGroup ? mentionsIn(target, text, receiver) : [],
    mentionsEveryone: false,
    replyTo: replyIn(tags),
    attachments: [],
    explicitOnly: false,
    sentAt: wholeSecond(sentAtOf(tags)) ?? now,
  };
}

/** Around a request to the client (https://modern.ircdocs.horse/ctcp). */
const ctcpMark = "\u0001";

/** Said or done; null: a request to the client, or nothing. */
function textOf(nick: string, said: string): string | null {
  let text = said;
  if (text.startsWith(ctcpMark)) {
    const request = text.slice(1).split(ctcpMark, 1)[0] ?? "";
    if (!request.startsWith("ACTION ")) return null;
    text = `* ${nick} ${request.slice("ACTION ".length)}`;
  }
  const plain = withoutFormatting(text);
  return plain.trim() === "" ? null : plain;
}

/**
 * A message is recognised by its time as well as by its id, and a server that gives a line its
 * milliseconds may play it back without them (inspircd).
 */
const wholeSecond = (at: Millis | null): Millis | null => (at === null ? null : at - (at % 1_000));

/**
 * The server's id. Without one, a line that is replayed (a bouncer, a history) is known by its time,
 * author and text.
 */
function messageIdOf({ tags, source, params }: IrcLine, { nextId }: Receiver): string {
  if (tags.msgid !== undefined && tags.msgid !== "") return tags.msgid;
  if (sentAtOf(tags) === null) return nextId();
  const parts = JSON.stringify([tags.time, source, params]);
  return createHash("sha256").update(parts).digest("hex").slice(0, 24);
}

function isBot({ tags, source }: IrcLine, room: string, chats: IrcChats): boolean {
  return "bot" in tags || "draft/bot" in tags || chats.isBot(room, source.nick);
}

/** https://ircv3.net/specs/client-tags/reply: the message, and nothing about its author. */
function replyIn(tags: IrcLine["tags"]): Inbound["replyTo"] {
  const id = tags["+reply"] ?? tags["+draft/reply"];
  return id === undefined || id === "" ? null : { id };
}

/** Our nick anywhere in the text; others' where a line is addressed to them. */
function mentionsIn(
  room: string,
  text: string,
  { connection: { self, fold, id }, chats }: Receiver,
): Inbound["mentions"] {
  const found: Inbound["mentions"] = namesNick(text, self.nick, fold)
    ? [{ id, name: self.nick, isSelf: true }]
    : [];
  for (const nick of addressed(text))
    if (fold(nick) !== fold(self.nick) && chats.hasMember(room, nick))
      found.push({ id: `nick:${fold(nick)}`, name: nick, isSelf: false });
  return found;
}
