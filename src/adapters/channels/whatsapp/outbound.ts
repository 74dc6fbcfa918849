/**
 * Sending to WhatsApp
 * ===================
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/messages/send-messages
 * There is no idempotency key: a send whose answer is lost is in doubt. Of an answer that needs several
 * messages, those that were sent are not sent again.
 */
import { LRUCache } from "lru-cache";
import { EarshotError } from "../../../domain/errors.ts";
import { atMost, limits } from "../../../domain/limits.ts";
import type { Route } from "../../../domain/message.ts";
import type { ChannelOutbound, MediaRequest, SendReceipt } from "../../../domain/ports/index.ts";
import { partsOf } from "../shared/whatsapp-marks.ts";
import type { WhatsAppApi } from "./api.ts";
import { interactiveOf } from "./choices.ts";
import type { WhatsAppAccountConfig } from "./config.ts";
import { kindOf, upload } from "./media.ts";
import type { WhatsAppPeople } from "./people.ts";
import { okSchema, sentSchema } from "./wire.ts";

const captionUnitsMax = 1_024;

type Message = Readonly<Record<string, unknown>>;

interface Sending {
  readonly id: string;
  readonly route: Route;
  readonly signal: AbortSignal;
}

export function createWhatsAppOutbound(
  api: WhatsAppApi,
  config: WhatsAppAccountConfig,
  people: WhatsAppPeople,
): ChannelOutbound {
  /** Request id to the ids of delivered parts, for incomplete sends. */
  const unfinished = new LRUCache<string, string[]>(atMost(limits.unfinishedSendsMax));
  const uploaded = new LRUCache<string, string>(atMost(limits.unfinishedSendsMax));

  const target = ({ chat }: Route): Message => {
    if (chat.kind !== "direct") return { recipient_type: "group", to: chat.id };
    const address = people.addressOf(chat.id);
    // An id of a person without a number goes into a field of its own.
    const person = /^\+?\d+$/.test(address) ? { to: address } : { recipient: address };
    return { recipient_type: "individual", ...person };
  };

  const sendParts = async (
    { id, route, signal }: Sending,
    parts: readonly Message[],
    replyTo?: string,
  ): Promise<SendReceipt> => {
    const messageIds = unfinished.get(id) ?? [];
    for (const [index, part] of parts.entries()) {
      if (index < messageIds.length) continue;
      const context =
        index === 0 && replyTo !== undefined ? { context: { message_id: replyTo } } : {};
      const call = { kind: "send", signal, schema: sentSchema, what: "send a message" } as const;
      const sent = await api.message({ ...target(route), ...context, ...part }, call);
      messageIds.push(...sent.messages.slice(0, 1).map((message) => message.id));
      if (messageIds.length < parts.length) unfinished.set(id, messageIds);
    }
    unfinished.delete(id);
    return { messageIds };
  };

  const textMessage = (body: string): Message => ({
    type: "text",
    text: { preview_url: false, body },
  });
  const textsOf = (markdown: string) => partsOf(markdown).map(textMessage);

  const sendFile = async (request: MediaRequest): Promise<SendReceipt> => {
    const media = uploaded.get(request.id) ?? (await upload(api, config.phoneNumberId, request));
    uploaded.set(request.id, media);
    const kind = kindOf(request);
    const [caption = "", ...more] = partsOf(request.caption ?? "", captionUnitsMax);
    const hasCaption = kind !== "audio" && caption !== "";
    const isVoice =
      kind === "audio" && request.kind === "voice" && /^audio\/ogg/.test(request.mime);
    const file = {
      type: kind,
      [kind]: {
        id: media,
        ...(hasCaption && { caption }),
        ...(kind === "document" && { filename: request.name }),
        ...(isVoice && { voice: true }),
      },
    };
    const before = kind === "audio" && caption !== "" ? [textMessage(caption)] : [];
    const receipt = await sendParts(
      request,
      [...before, file, ...more.map(textMessage)],
      request.replyTo,
    );
    uploaded.delete(request.id);
    return receipt;
  };

  const react = async (route: Route, message_id: string, emoji: string, signal: AbortSignal) => {
    const reaction = { type: "reaction", reaction: { message_id, emoji } };
    const call = { kind: "ask", signal, schema: sentSchema, what: "react" } as const;
    await api.message({ ...target(route), ...reaction }, call);
  };

  return {
    sendText: (request) => sendParts(request, textsOf(request.text)),
    replyText: (request) => sendParts(request, textsOf(request.text), request.replyTo),
    sendMedia: sendFile,
    async sendChoices(request) {
      const { choices, route, replyTo, text } = request;
      const [question = "", ...more] = partsOf(choices.text);
      // Groups have no interactive messages.
      const interactive =
        route.chat.kind === "direct" && more.length === 0 ? interactiveOf(choices, question) : null;
      if (interactive === null) return sendParts(request, textsOf(text), replyTo);
      return sendParts(request, [{ type: "interactive", interactive }], replyTo);
    },
    addReaction: react,
    removeReaction: (route, messageId, _emoji, signal) => react(route, messageId, "", signal),
    async sendTyping({ chat }, on, signal) {
      const message_id = people.heard.get(chat.id);
      // It is shown with the read mark of a message; groups have none, and it ends by itself.
      if (!on || chat.kind !== "direct" || message_id === undefined) return;
      const read = { status: "read", message_id, typing_indicator: { type: "text" } };
      const call = { kind: "ask", signal, schema: okSchema, what: "show typing" } as const;
      try {
        await api.message(read, call);
      } catch (error) {
        // The message may be too old for a read mark.
        if (!(error instanceof EarshotError) || error.code !== "EAR_CHANNEL_REJECTED") throw error;
      }
    },
  };
}
