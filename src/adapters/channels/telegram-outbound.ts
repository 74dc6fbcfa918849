/**
 * Sending at Telegram
 * ===================
 * Markdown becomes text with entities and is cut to 4,096 units after that. Telegram has no
 * idempotency key, so a reply of several messages remembers which of them arrived: a retry goes on
 * after the last one and never repeats it.
 */
import { LRUCache } from "lru-cache";
import { EarshotError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import type { ChannelOutbound, SendRequest } from "../../domain/ports.ts";
import { numericId, type TelegramClient, target } from "./telegram-client.ts";
import { renderMarkdown } from "./telegram-markdown.ts";
import { type Rendered, splitRendered } from "./telegram-rendering.ts";

/** UTF-16 units after entities parsing (Bot API: sendMessage.text). */
export const telegramTextLimit = 4_096;
const askMsMax = 10_000;

type Reply = { reply_parameters?: { message_id: number; allow_sending_without_reply: true } };

export function createTelegramOutbound(client: TelegramClient): ChannelOutbound {
  /** Request id to the platform ids of the parts that arrived, for sends that are not complete. */
  const unfinished = new LRUCache<string, string[]>({ max: limits.unfinishedSendsMax });

  const send = async (request: SendRequest, reply: Reply) => {
    const place = target(request.route);
    const parts = splitRendered(
      renderMarkdown(request.text),
      telegramTextLimit,
      limits.sendPartsMax,
    );
    const messageIds = unfinished.get(request.id) ?? [];
    for (const [index, part] of parts.entries()) {
      if (index < messageIds.length) continue;
      const sent = await client.call(
        "sendMessage",
        { ...place, ...message(part), ...(index === 0 ? reply : {}) },
        { kind: "send", signal: request.signal, msMax: limits.sendMsMax },
      );
      messageIds.push(String(sent.message_id));
      if (messageIds.length < parts.length) unfinished.set(request.id, messageIds);
    }
    unfinished.delete(request.id);
    return { messageIds };
  };

  const react = (chat: number, messageId: string, emoji: string | null, signal: AbortSignal) =>
    client.call(
      "setMessageReaction",
      {
        chat_id: chat,
        message_id: numericId(messageId, "message id"),
        reaction: emoji === null ? [] : [{ type: "emoji", emoji: emoji as "👀" }],
      },
      { kind: "ask", signal, msMax: askMsMax },
    );

  return {
    sendText: (request) => send(request, {}),
    replyText: (request) =>
      send(request, {
        reply_parameters: {
          message_id: numericId(request.replyTo, "message id"),
          allow_sending_without_reply: true,
        },
      }),
    async sendTyping(route, on, signal) {
      // There is no "off": the notice goes with the message or after 5 s.
      if (!on) return;
      const payload = { ...target(route), action: "typing" as const };
      await client.call("sendChatAction", payload, { kind: "ask", signal, msMax: askMsMax });
    },
    async addReaction(route, messageId, emoji, signal) {
      await react(target(route).chat_id, messageId, emoji, signal);
    },
    async removeReaction(route, messageId, _emoji, signal) {
      await react(target(route).chat_id, messageId, null, signal);
    },
    editText: (request) => edit(client, request),
  };
}

async function edit(
  client: TelegramClient,
  request: SendRequest & { readonly messageId: string },
): Promise<void> {
  const [part] = splitRendered(renderMarkdown(request.text), telegramTextLimit, 1);
  if (part === undefined)
    throw new EarshotError(
      "EAR_CHANNEL_REJECTED",
      "Cannot edit a message as nothing would be left",
    );
  const payload = {
    chat_id: target(request.route).chat_id,
    message_id: numericId(request.messageId, "message id"),
    ...message(part),
  };
  try {
    await client.call("editMessageText", payload, {
      kind: "ask",
      signal: request.signal,
      msMax: limits.sendMsMax,
    });
  } catch (error) {
    // Asked to show what it already shows: done.
    const same = error instanceof EarshotError && error.message.includes("message is not modified");
    if (!same) throw error;
  }
}

const message = ({ text, entities }: Rendered) => ({
  text,
  ...(entities.length === 0 ? {} : { entities: [...entities] as never[] }),
});
