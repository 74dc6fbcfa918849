/**
 * Sending to Telegram
 * ===================
 * Markdown becomes text with entities, which is then split at 4,096 units. Telegram has no
 * idempotency key, so a reply of several messages remembers which of them arrived: a retry
 * continues after the last one and never repeats it.
 */
import { LRUCache } from "lru-cache";
import { EarshotError } from "../../../domain/errors.ts";
import { atMost, limits } from "../../../domain/limits.ts";
import type { Route } from "../../../domain/message.ts";
import type {
  ChannelOutbound,
  EditRequest,
  SendReceipt,
  SendRequest,
} from "../../../domain/ports/index.ts";
import { renderMarkdown } from "../shared/markdown.ts";
import { type Rendered, splitRendered } from "../shared/rendering.ts";
import { requireReplies } from "./business.ts";
import { businessIn, GroupMigratedError, type TelegramChats } from "./chats.ts";
import { sendChoices } from "./choices.ts";
import { type TelegramClient, target } from "./client.ts";
import { telegramTextLimit } from "./config.ts";
import { replyingTo, sendFile } from "./outbound-media.ts";

const askMsMax = 10_000;

type Reply = { reply_parameters?: { message_id: number; allow_sending_without_reply: true } };

export function createTelegramOutbound(
  client: TelegramClient,
  chats: TelegramChats,
): ChannelOutbound {
  /** Request id to the platform ids of delivered parts, for incomplete sends. */
  const unfinished = new LRUCache<string, string[]>(atMost(limits.unfinishedSendsMax));

  /** Sends the parts that have not arrived yet. */
  const sendParts = async (request: SendRequest, parts: readonly Rendered[], reply: Reply) => {
    const place = target(request.route);
    const messageIds = unfinished.get(request.id) ?? [];
    for (const [index, part] of parts.entries()) {
      if (index < messageIds.length) continue;
      const sent = await client.call(
        "sendMessage",
        { ...place, ...message(part), ...(index === 0 ? reply : {}) },
        { kind: "send", signal: request.signal, msMax: limits.sendMsMax },
      );
      messageIds.push(chats.sent(place, sent.message_id));
      if (messageIds.length < parts.length) unfinished.set(request.id, messageIds);
    }
    unfinished.delete(request.id);
    return { messageIds };
  };

  const send = (request: SendRequest, reply: Reply) =>
    sendParts(request, partsOf(request, limits.sendPartsMax), reply);

  /** @throws EarshotError EAR_CHANNEL_REJECTED for one that stayed in the group. */
  const messageOf = (chat_id: number, messageId: string) => {
    const message_id = chats.messageNumber(chat_id, messageId);
    if (message_id !== null) return { chat_id, message_id };
    throw new GroupMigratedError(
      "Cannot change a message: it is from before its group became a supergroup",
      chats.currentId(chat_id),
    );
  };

  const noted = (route: Route, receipt: SendReceipt): SendReceipt => ({
    messageIds: receipt.messageIds.map((id) => chats.sent(target(route), Number(id))),
  });

  const react = (route: Route, messageId: string, emoji: string | null, signal: AbortSignal) => {
    if (businessIn(route) !== null)
      throw new EarshotError(
        "EAR_CHANNEL_REJECTED",
        "Cannot react: Telegram has no reactions on behalf of a business account",
      );
    const reaction = emoji === null ? [] : [{ type: "emoji" as const, emoji: emoji as "👀" }];
    return client.call(
      "setMessageReaction",
      { ...messageOf(target(route).chat_id, messageId), reaction },
      { kind: "ask", signal, msMax: askMsMax },
    );
  };

  /** Only where Telegram lets the bot write. */
  const where =
    <Request extends { readonly route: Route; readonly signal: AbortSignal }, Result>(
      perform: (request: Request) => Promise<Result>,
    ) =>
    async (request: Request): Promise<Result> => {
      await requireReplies(client, chats, request.route, request.signal);
      return perform(request);
    };

  return {
    sendText: where((request) => send(request, {})),
    replyText: where((request) => send(request, replyingTo(chats, request.route, request.replyTo))),
    sendMedia: where(async (request) =>
      noted(request.route, await sendFile(client, chats, request)),
    ),
    sendChoices: where(async (request) => {
      const sent = await sendChoices(client, chats, request);
      if (sent !== null) return noted(request.route, sent);
      return send(request, replyingTo(chats, request.route, request.replyTo));
    }),
    async sendTyping(route, on, signal) {
      // There is no "off": the indicator ends with the message or after 5 s.
      if (!on) return;
      const { direct_messages_topic_id, ...place } = target(route);
      // Telegram shows no typing to who writes to a channel.
      if (direct_messages_topic_id !== undefined) return;
      const payload = { ...place, action: "typing" as const };
      await client.call("sendChatAction", payload, { kind: "ask", signal, msMax: askMsMax });
    },
    async addReaction(route, messageId, emoji, signal) {
      await react(route, messageId, emoji, signal);
    },
    async removeReaction(route, messageId, _emoji, signal) {
      await react(route, messageId, null, signal);
    },
    editText: where(async (request: EditRequest) => {
      const [first, ...rest] = partsOf(request, request.growing ? 1 : limits.sendPartsMax);
      try {
        const { chat_id, business_connection_id } = target(request.route);
        const place = {
          ...messageOf(chat_id, request.messageId),
          ...(business_connection_id === undefined ? {} : { business_connection_id }),
        };
        await edit(client, place, request, first);
      } catch (error) {
        if (!(error instanceof GroupMigratedError)) throw error;
        // A growing message that stayed in the group is said in the supergroup when it is complete.
        if (request.growing !== true && first !== undefined)
          await sendParts(request, [first, ...rest], {});
        return;
      }
      // Rendered text may be longer than its Markdown (tables are padded).
      if (rest.length > 0) await sendParts(request, rest, {});
    }),
  };
}

const partsOf = ({ text }: SendRequest, most: number): Rendered[] =>
  splitRendered(renderMarkdown(text), telegramTextLimit, most);

async function edit(
  client: TelegramClient,
  place: {
    readonly chat_id: number;
    readonly message_id: number;
    readonly business_connection_id?: string;
  },
  request: EditRequest,
  part: Rendered | undefined,
): Promise<void> {
  if (part === undefined)
    throw new EarshotError(
      "EAR_CHANNEL_REJECTED",
      "Cannot edit a message: its new text would be empty",
    );
  const payload = { ...place, ...message(part) };
  try {
    await client.call("editMessageText", payload, {
      kind: "ask",
      signal: request.signal,
      msMax: limits.sendMsMax,
    });
  } catch (error) {
    // The message already has this text: success.
    const same = error instanceof EarshotError && error.message.includes("message is not modified");
    if (!same) throw error;
  }
}

const message = ({ text, entities }: Rendered) => ({
  text,
  ...(entities.length === 0 ? {} : { entities: [...entities] as never[] }),
});
