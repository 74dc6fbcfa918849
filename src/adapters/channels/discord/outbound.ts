/**
 * Sending to Discord
 * ==================
 * Each message carries a nonce that follows from the request's id, and Discord is asked to enforce it
 * (https://discord.com/developers/docs/resources/message#create-message): for some minutes, the same nonce
 * is the same message. So a send whose answer was lost is repeated and arrives once; only when it stays
 * unanswered for longer is it in doubt. Nothing that an agent writes pings anybody.
 */
import type { RawFile } from "discord.js";
import { LRUCache } from "lru-cache";
import { EarshotError } from "../../../domain/errors.ts";
import { atMost, limits } from "../../../domain/limits.ts";
import type { Route } from "../../../domain/message.ts";
import type {
  ChannelContext,
  ChannelOutbound,
  EditRequest,
  SendReceipt,
  SendRequest,
} from "../../../domain/ports/index.ts";
import { sha256 } from "../../system/digest.ts";
import { createRepeats } from "../shared/repeats.ts";
import { channelIn, type DiscordChats } from "./chats.ts";
import type { DiscordClient } from "./client.ts";
import type { DiscordAccountConfig } from "./config.ts";
import { DiscordRefusedError } from "./errors.ts";
import { choiceFields, messageIn } from "./interactions.ts";
import { discordParts } from "./rendering.ts";
import { sentSchema } from "./wire.ts";

const askMsMax = 10_000;
/** How long a nonce is trusted: Discord says "the past few minutes". */
const nonceMsMax = 120_000;
const nonceUnits = 24;

const silent = { allowed_mentions: { parse: [] } };

/** Where the bot may not read the history it may write, but not reply. */
const noReplyWithoutHistory = 160_002;

interface Message {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly files?: readonly RawFile[];
}

export function createDiscordOutbound(
  client: DiscordClient,
  { clock }: Pick<ChannelContext<DiscordAccountConfig>, "clock">,
  chats: DiscordChats,
): ChannelOutbound {
  /** Request id to the ids of delivered messages, for incomplete sends. */
  const unfinished = new LRUCache<string, string[]>(atMost(limits.unfinishedSendsMax));
  const once = createRepeats({ clock, platform: "Discord", msMax: nonceMsMax });

  const post = async (route: Route, message: Message, nonce: string, signal: AbortSignal) => {
    const { id } = await once(nonce, () =>
      client.ask("POST", `/channels/${channelIn(route)}/messages`, sentSchema, {
        what: "send a message",
        body: { ...message.fields, ...silent, nonce, enforce_nonce: true },
        ...(message.files !== undefined && { files: message.files }),
        signal,
        msMax: limits.sendMsMax,
      }),
    );
    return id;
  };

  const create = async (route: Route, message: Message, nonce: string, signal: AbortSignal) => {
    chats.sent.set(nonce, true);
    try {
      return await post(route, message, nonce, signal);
    } catch (error) {
      const { message_reference: reply, ...fields } = message.fields;
      if (reply === undefined || !(error instanceof DiscordRefusedError)) throw error;
      if (error.reason !== noReplyWithoutHistory) throw error;
      return post(route, { ...message, fields }, nonce, signal);
    }
  };

  /** Sends the messages that have not arrived yet. */
  const createAll = async (
    { id, route, signal }: Pick<SendRequest, "id" | "route" | "signal">,
    messages: readonly Message[],
  ): Promise<SendReceipt> => {
    const messageIds = unfinished.get(id) ?? [];
    for (const [index, message] of messages.entries()) {
      if (index < messageIds.length) continue;
      const nonce = sha256(`${id}/${index}`).slice(0, nonceUnits);
      messageIds.push(await create(route, message, nonce, signal));
      if (messageIds.length < messages.length) unfinished.set(id, messageIds);
    }
    unfinished.delete(id);
    return { messageIds };
  };

  const send = (request: SendRequest, reply: object) => {
    const parts = discordParts(request.text, limits.sendPartsMax);
    return createAll(
      request,
      parts.map((content, index) => ({ fields: { content, ...(index === 0 ? reply : {}) } })),
    );
  };

  const react = async (
    method: "PUT" | "DELETE",
    route: Route,
    messageId: string,
    emoji: string,
    signal: AbortSignal,
  ) => {
    const message = messageIn(messageId);
    // A command that was picked from the menu is no message that could have a reaction.
    if (message === null) return;
    const named = encodeURIComponent(emoji.replace(/^<?a?:(\w+:\d+)>?$/, "$1"));
    const path =
      `/channels/${channelIn(route)}/messages/${message}/reactions/${named}/@me` as const;
    await client.do(method, path, { what: "react", signal, msMax: askMsMax });
  };

  return {
    sendText: (request) => send(request, {}),
    replyText: (request) => send(request, replyingTo(request.replyTo)),
    sendMedia(request) {
      const { name, data, mime, caption = "", replyTo } = request;
      const [content] = discordParts(caption, 1);
      const fields = { ...(content === undefined ? {} : { content }), ...replyingTo(replyTo) };
      const file = { name, data: Buffer.from(data), contentType: mime };
      return createAll(request, [{ fields, files: [file] }]);
    },
    sendChoices(request) {
      const reply = replyingTo(request.replyTo);
      const fields = choiceFields(request);
      if (fields === null) return send(request, reply);
      const [question] = discordParts(request.choices.text, 1);
      const isPoll = request.choices.poll === true;
      const content = isPoll || question === undefined ? {} : { content: question };
      return createAll(request, [{ fields: { ...content, ...fields, ...reply } }]);
    },
    async sendTyping(route, on, signal) {
      // There is no "off": the indicator ends with the message or after 10 s.
      if (!on) return;
      const path = `/channels/${channelIn(route)}/typing` as const;
      await client.do("POST", path, { what: "show typing", signal, msMax: askMsMax });
    },
    addReaction: (route, messageId, emoji, signal) => react("PUT", route, messageId, emoji, signal),
    removeReaction: (route, messageId, emoji, signal) =>
      react("DELETE", route, messageId, emoji, signal),
    async editText(request: EditRequest) {
      const { route, messageId, signal, text, growing } = request;
      const [content, ...rest] = discordParts(text, growing === true ? 1 : limits.sendPartsMax);
      if (content === undefined)
        throw new EarshotError(
          "EAR_CHANNEL_REJECTED",
          "Cannot edit a message: its new text would be empty",
        );
      await client.do("PATCH", `/channels/${channelIn(route)}/messages/${messageId}`, {
        what: "edit a message",
        body: { content, ...silent },
        signal,
        msMax: limits.sendMsMax,
      });
      // Markup may make a text longer than its Markdown.
      const id = `${request.id}/rest`;
      if (rest.length > 0)
        await createAll(
          { id, route, signal },
          rest.map((part) => ({ fields: { content: part } })),
        );
    },
  };
}

/** As a reply to a message; a plain send if it is gone. */
function replyingTo(replyTo: string | undefined): Message["fields"] {
  const message = replyTo === undefined ? null : messageIn(replyTo);
  if (message === null) return {};
  return { message_reference: { message_id: message, fail_if_not_exists: false } };
}
