/**
 * Sending to XMPP
 * ===============
 * A room sends everything back to its author, which settles the send and gives the room's id of it. A
 * direct message is followed by a ping: the server has read the message when it answers, and what it
 * refused came before. A connection that breaks in between leaves the message in doubt.
 */
import { randomUUID } from "node:crypto";
import type { Element } from "@xmpp/client";
import { LRUCache } from "lru-cache";
import { EarshotError } from "../../../domain/errors.ts";
import { atMost, limits } from "../../../domain/limits.ts";
import type { Route } from "../../../domain/message.ts";
import type {
  ChannelOutbound,
  EditRequest,
  MediaRequest,
  SendRequest,
} from "../../../domain/ports/index.ts";
import { renderMarkdown } from "../shared/markdown.ts";
import { splitRendered } from "../shared/rendering.ts";
import { keyOf, type XmppChats, type XmppRoom } from "./chats.ts";
import type { XmppConnection } from "./client.ts";
import { xmppTextLimit } from "./config.ts";
import { refusalOf, refused, XmppLostError, XmppRefusedError } from "./errors.ts";
import type { XmppLink } from "./gateway.ts";
import { bareOf, whoOf } from "./names.ts";
import { type Styled, styled } from "./rendering.ts";
import { spaces } from "./spaces.ts";
import { upload } from "./upload.ts";
import { readMessage } from "./wire.ts";

/** Where a message goes. */
interface Target {
  readonly connection: XmppConnection;
  readonly chat: string;
  readonly to: string;
  /** Null: to one person. */
  readonly room: XmppRoom | null;
  /** Marks a message to somebody in a room (XEP-0045, section 7.5). */
  readonly isInside: boolean;
}

export function createXmppOutbound(link: XmppLink, chats: XmppChats): ChannelOutbound {
  const unfinished = new LRUCache<string, string[]>(atMost(limits.unfinishedSendsMax));

  const sendParts = async (request: SendRequest, replyTo: string | null) => {
    const target = targetOf(link, chats, request.route);
    const whole = renderMarkdown(request.text);
    const parts = splitRendered(whole, xmppTextLimit, limits.sendPartsMax);
    const messageIds = unfinished.get(request.id) ?? [];
    for (const [index, part] of parts.entries()) {
      if (index < messageIds.length) continue;
      const reply = index === 0 && replyTo !== null ? replyTo : null;
      messageIds.push(await sendText(target, chats, styled(part), reply, request.signal));
      if (messageIds.length < parts.length) unfinished.set(request.id, messageIds);
    }
    unfinished.delete(request.id);
    return { messageIds };
  };

  const react = async (
    route: Route,
    messageId: string,
    signal: AbortSignal,
    change: (before: readonly string[]) => readonly string[],
  ) => {
    const target = targetOf(link, chats, route);
    const { connection, chat, room } = target;
    const key = keyOf(chat, messageId, connection.bare);
    const emoji = change(chats.reactions.get(key) ?? []);
    const id = room === null ? (chats.heard(chat, messageId)?.wireId ?? messageId) : messageId;
    const all = emoji.map((one) => connection.element("reaction", {}, one));
    await deliver(
      target,
      [
        connection.element("reactions", { xmlns: spaces.reactions, id }, ...all),
        connection.element("store", { xmlns: spaces.hints }),
      ],
      signal,
    );
    chats.reactions.set(key, emoji);
  };

  return {
    sendText: (request) => sendParts(request, null),
    replyText: (request) => sendParts(request, request.replyTo),
    sendMedia: (request) => sendFile(link, chats, request),
    editText: (request) => correct(link, chats, request),
    async sendTyping(route, on) {
      const target = targetOf(link, chats, route);
      const { connection } = target;
      const state = connection.element(on ? "composing" : "paused", { xmlns: spaces.chatStates });
      const hint = connection.element("no-store", { xmlns: spaces.hints });
      connection.send(stanzaTo(target, randomUUID(), [state, hint]));
    },
    addReaction: (route, messageId, emoji, signal) =>
      react(route, messageId, signal, (before) => [...new Set([...before, emoji])]),
    removeReaction: (route, messageId, emoji, signal) =>
      react(route, messageId, signal, (before) => before.filter((one) => one !== emoji)),
  };
}

/** Where a route leads now. A nick may have passed to somebody else, so people are found by their id. */
function targetOf(link: XmppLink, chats: XmppChats, { chat }: Route): Target {
  const { connection } = link;
  if (connection === null || !connection.isOpen) throw unavailable("it is not connected");
  const common = { connection, chat: chat.id };
  const room = chats.rooms.get(bareOf(chat.id)) ?? null;
  if (chat.kind !== "direct") {
    if (room === null) throw refused("this room is not in the config");
    if (!room.isJoined) throw unavailable(`it is not in ${room.jid} now`);
    return { ...common, to: room.jid, room, isInside: false };
  }
  const slash = chat.id.indexOf("/");
  if (slash < 0) return { ...common, to: chat.id, room: null, isInside: false };
  const who = chat.id.slice(slash + 1);
  const found = [...(room?.occupants.values() ?? [])].find((one) => whoOf(one) === who);
  if (room === null || found === undefined) throw refused("this person is not in the room now");
  return { ...common, to: `${room.jid}/${found.nick}`, room: null, isInside: true };
}

function stanzaTo(
  { connection, to, room, isInside }: Target,
  id: string,
  children: readonly Element[],
): Element {
  const mark = isInside ? [connection.element("x", { xmlns: spaces.mucUser })] : [];
  const type = room === null ? "chat" : "groupchat";
  return connection.element("message", { to, type, id }, ...children, ...mark);
}

/** Sends one message; resolves to the id that others use for it. */
async function deliver(
  target: Target,
  children: readonly Element[],
  signal: AbortSignal,
): Promise<{ readonly id: string; readonly wireId: string }> {
  const { connection, room, to } = target;
  const wireId = randomUUID();
  const origin = connection.element("origin-id", { xmlns: spaces.stanzaId, id: wireId });
  const stanza = stanzaTo(target, wireId, [...children, origin]);
  try {
    if (room !== null) {
      const back = readMessage(await connection.await(wireId, room.jid, stanza, signal));
      const given = back?.stanzaIds.find(({ by }) => room.hasStanzaIds && by === room.jid);
      return { id: given?.id ?? wireId, wireId };
    }
    // Only a refusal answers it; the ping ends the wait.
    const answer = connection.await(wireId, to, stanza, signal);
    await Promise.race([answer, connection.ping(signal)]);
    connection.settle(wireId, to, stanza);
    await answer;
    return { id: wireId, wireId };
  } catch (error) {
    if (error instanceof XmppRefusedError) throw refusalOf(error.fault);
    if (!(error instanceof XmppLostError)) throw error;
    throw new EarshotError(
      "EAR_SEND_IN_DOUBT",
      `Cannot send on XMPP: the message was written and not confirmed (${error.message})`,
    );
  }
}

async function sendText(
  target: Target,
  chats: XmppChats,
  { text, isStyled }: Styled,
  replyTo: string | null,
  signal: AbortSignal,
): Promise<string> {
  const { connection, chat, room } = target;
  const make = connection.element.bind(connection);
  const replied = replyTo === null ? undefined : chats.heard(chat, replyTo);
  const reply =
    replied === undefined
      ? []
      : [
          make("reply", {
            xmlns: spaces.reply,
            to: replied.from,
            id: room === null ? replied.wireId : replied.id,
          }),
        ];
  const quote = replied === undefined ? "" : quoteOf(replied.text);
  const end = String([...quote].length);
  const fallback =
    quote === ""
      ? []
      : [
          make(
            "fallback",
            { xmlns: spaces.fallback, for: spaces.reply },
            make("body", { start: "0", end }),
          ),
        ];
  const plain = isStyled || quote !== "" ? [] : [make("unstyled", { xmlns: spaces.styling })];
  const { id, wireId } = await deliver(
    target,
    [
      make("body", {}, quote + text),
      make("active", { xmlns: spaces.chatStates }),
      ...reply,
      ...fallback,
      ...plain,
    ],
    signal,
  );
  remember(target, chats, id, wireId, text);
  return id;
}

/** For clients that do not know replies (XEP-0461, section 3.2); empty: nothing to repeat. */
function quoteOf(text: string): string {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines
    .slice(0, 3)
    .map((line) => `> ${line}\n`)
    .join("");
}

function remember(
  { connection, chat, room }: Target,
  chats: XmppChats,
  id: string,
  wireId: string,
  text: string,
): void {
  const from = room === null ? connection.full : `${room.jid}/${room.ownNick}`;
  chats.remember(chat, { id, authorId: connection.bare, isSelf: true, wireId, from, text });
}

/** XEP-0308: always of the first form of the message. */
async function correct(link: XmppLink, chats: XmppChats, request: EditRequest): Promise<void> {
  const target = targetOf(link, chats, request.route);
  const { connection, chat, room } = target;
  const heard = chats.heard(chat, request.messageId);
  if (heard === undefined && room !== null)
    throw refused("the message is too old to be corrected, or not ours");
  const [part] = splitRendered(renderMarkdown(request.text), xmppTextLimit, 1);
  const { text, isStyled } = styled(part ?? { text: request.text, entities: [] });
  const id = heard?.wireId ?? request.messageId;
  const plain = isStyled ? [] : [connection.element("unstyled", { xmlns: spaces.styling })];
  await deliver(
    target,
    [
      connection.element("body", {}, text),
      connection.element("replace", { xmlns: spaces.correct, id }),
      ...plain,
    ],
    request.signal,
  );
}

/** A file is a message of its own, whose text is its address; the caption comes before it. */
async function sendFile(link: XmppLink, chats: XmppChats, request: MediaRequest) {
  const { route, caption = "", replyTo = null, signal } = request;
  const first = targetOf(link, chats, route);
  const url = await upload(first.connection, request);
  const target = targetOf(link, chats, route);
  const messageIds: string[] = [];
  if (caption.trim() !== "") {
    const [part] = splitRendered(renderMarkdown(caption), xmppTextLimit, 1);
    if (part !== undefined)
      messageIds.push(await sendText(target, chats, styled(part), replyTo, signal));
  }
  const { connection } = target;
  const file = [
    connection.element("body", {}, url),
    connection.element("x", { xmlns: spaces.oob }, connection.element("url", {}, url)),
  ];
  const { id, wireId } = await deliver(target, file, signal);
  remember(target, chats, id, wireId, "");
  return { messageIds: [...messageIds, id] };
}

const unavailable = (why: string) =>
  new EarshotError("EAR_CHANNEL_UNAVAILABLE", `Cannot send on XMPP: ${why}`);
