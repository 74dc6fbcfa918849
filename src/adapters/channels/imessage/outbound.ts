/**
 * Sending to iMessage
 * ===================
 * Text is plain: links and quotes are written out. Neither program has an idempotency key for what it
 * has already taken, so a send without a clear answer is in doubt. Replies, tapbacks, edits and typing
 * are there with the private API only.
 */
import { LRUCache } from "lru-cache";
import { EarshotError } from "../../../domain/errors.ts";
import { atMost, limits } from "../../../domain/limits.ts";
import type { Route } from "../../../domain/message.ts";
import type { ChannelOutbound, SendReceipt, SendRequest } from "../../../domain/ports/index.ts";
import { renderMarkdown } from "../shared/markdown.ts";
import { splitRendered } from "../shared/rendering.ts";
import { writtenOut } from "../shared/written-out.ts";
import type { AppleBackend, AppleSend } from "./backend.ts";
import { type ImessageAccountConfig, imessageTextLimit } from "./config.ts";
import { type HeardMessages, selfId } from "./normalise.ts";

/** Messages takes 5 edits of a message, for 15 minutes: https://support.apple.com/guide/iphone/iphe67195653. */
const growingEditsMax = 4;

const textsOf = (markdown: string, most: number = limits.sendPartsMax): string[] =>
  splitRendered(writtenOut(renderMarkdown(markdown)), imessageTextLimit, most).map(
    ({ text }) => text,
  );

export function createImessageOutbound(
  backend: AppleBackend,
  { privateApi }: ImessageAccountConfig,
  heard: HeardMessages,
): ChannelOutbound {
  /** Request id to the ids of delivered parts, for incomplete sends. */
  const unfinished = new LRUCache<string, (string | null)[]>(atMost(limits.unfinishedSendsMax));
  const edits = new LRUCache<string, { readonly count: number; readonly last: string }>(
    atMost(limits.unfinishedSendsMax),
  );

  const sendParts = async (
    { id, route, signal }: Pick<SendRequest, "id" | "route" | "signal">,
    texts: readonly string[],
    first: Pick<AppleSend, "replyTo" | "file"> = {},
  ): Promise<SendReceipt> => {
    const sent = unfinished.get(id) ?? [];
    for (const [index, text] of texts.entries()) {
      if (index < sent.length) continue;
      const guid = await backend.send({
        chatGuid: route.chat.id,
        text,
        sendId: `${id}/${index}`,
        signal,
        ...(index === 0 && first),
      });
      if (guid !== null)
        heard.set(guid, { authorId: selfId, text: text.slice(0, limits.captionUnitsMax) });
      sent.push(guid);
      if (sent.length < texts.length) unfinished.set(id, sent);
    }
    unfinished.delete(id);
    return { messageIds: sent.filter((guid) => guid !== null) };
  };

  const targetOf = ({ chat }: Route, guid: string) => ({ chatGuid: chat.id, guid });
  const plain: ChannelOutbound = {
    sendText: (request) => sendParts(request, textsOf(request.text)),
    replyText: (request) =>
      sendParts(request, textsOf(request.text), privateApi ? { replyTo: request.replyTo } : {}),
    sendMedia(request) {
      const { name, mime, data, caption = "", replyTo } = request;
      const file = { name, mime, data };
      const captions = textsOf(caption);
      const reply = privateApi && replyTo !== undefined ? { replyTo } : {};
      const isAlone = captions.length === 0 || !backend.hasCaptions;
      return sendParts(request, isAlone ? ["", ...captions] : captions, { file, ...reply });
    },
  };
  if (!privateApi) return plain;
  const { typing } = backend;
  return {
    ...plain,
    addReaction: (route, guid, emoji, signal) =>
      backend.react(targetOf(route, guid), emoji, { remove: false, signal }),
    removeReaction: (route, guid, emoji, signal) =>
      backend.react(targetOf(route, guid), emoji, { remove: true, signal }),
    async editText({ id, route, messageId, text, signal, growing }) {
      const [first, ...rest] = textsOf(text, growing === true ? 1 : undefined);
      if (first === undefined)
        throw new EarshotError(
          "EAR_CHANNEL_REJECTED",
          "Cannot edit a message: its new text would be empty",
        );
      const { count, last } = edits.get(messageId) ?? { count: 0, last: "" };
      if (growing === true && count >= growingEditsMax) return;
      if (first !== last) {
        await backend.edit(targetOf(route, messageId), first, signal);
        edits.set(messageId, { count: count + 1, last: first });
      }
      if (rest.length > 0) await sendParts({ id, route, signal }, rest);
    },
    ...(typing !== null && {
      sendTyping: ({ chat }, on, signal) => typing.call(backend, chat.id, on, signal),
    }),
  };
}
