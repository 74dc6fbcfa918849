/**
 * Sending with signal-cli
 * =======================
 * A send is answered with the time that names the message. Signal has no idempotency key: a send without
 * a clear answer is in doubt. signal-cli(1) describes the commands: send, sendReaction, sendTyping.
 */
import { LRUCache } from "lru-cache";
import { EarshotError } from "../../../domain/errors.ts";
import { atMost, limits } from "../../../domain/limits.ts";
import type { Route } from "../../../domain/message.ts";
import type {
  ChannelContext,
  ChannelOutbound,
  MediaRequest,
  SendReceipt,
  SendRequest,
} from "../../../domain/ports/index.ts";
import type { SignalClient } from "./client.ts";
import type { SignalAccountConfig } from "./config.ts";
import { type CallKind, failureOf } from "./errors.ts";
import { messageId, messageIn, readMessageId, targetOf } from "./ids.ts";
import type { SignalNames } from "./names.ts";
import { type SignalText, signalTexts } from "./rendering.ts";
import { anySchema, sentSchema } from "./wire.ts";

/** Signal's apps take at most 10 edits of a message; the last ones are for what it says in the end. */
const growingEditsMax = 8;

type Params = Readonly<Record<string, unknown>>;

export function createSignalOutbound(
  client: SignalClient,
  { log }: Pick<ChannelContext<SignalAccountConfig>, "log">,
  names: SignalNames,
): ChannelOutbound {
  /** Request id to the ids of delivered parts, for incomplete sends. */
  const unfinished = new LRUCache<string, string[]>(atMost(limits.unfinishedSendsMax));
  /** How often a message was edited, and what it says now. */
  const edits = new LRUCache<string, { readonly count: number; readonly last: string }>(
    atMost(limits.unfinishedSendsMax),
  );

  /** Sends one message, or an edit of one, which may be repeated; resolves to its id. */
  const post = async (
    route: Route,
    params: Params,
    { signal, kind = "send" }: { readonly signal: AbortSignal; readonly kind?: CallKind },
  ): Promise<string> => {
    const options = { kind, signal, msMax: limits.sendMsMax };
    const sent = await client.call("send", { ...targetOf(route), ...params }, options, sentSchema);
    const results = sent.results ?? [];
    const failure = failureOf(results, "send", kind);
    if (failure !== null) throw failure;
    const missed = results.filter(({ type }) => type !== "SUCCESS");
    // Sent again, the others would get it twice.
    if (missed.length > 0)
      log("warn", "signal.partly-sent", {
        people: missed.length,
        of: results.length,
        why: [...new Set(missed.map(({ type }) => type))].join(", ").slice(0, 200),
      });
    return messageId(names.self.id, sent.timestamp);
  };

  const sendParts = async (
    { id, route, signal }: Pick<SendRequest, "id" | "route" | "signal">,
    parts: readonly SignalText[],
    first: Params = {},
  ): Promise<SendReceipt> => {
    const messageIds = unfinished.get(id) ?? [];
    for (const [index, part] of parts.entries()) {
      if (index < messageIds.length) continue;
      const params = { ...textOf(part), ...(index === 0 && first) };
      const sent = await post(route, params, { signal });
      names.said(sent, part.message);
      messageIds.push(sent);
      if (messageIds.length < parts.length) unfinished.set(id, messageIds);
    }
    unfinished.delete(id);
    return { messageIds };
  };

  const quoteOf = (replyTo: string | undefined): Params => {
    const target = replyTo === undefined ? null : readMessageId(replyTo);
    if (replyTo === undefined || target === null) return {};
    return {
      quoteTimestamp: target.sentAt,
      quoteAuthor: target.author,
      quoteMessage: names.textOf(replyTo) ?? "",
    };
  };

  const react = async (
    route: Route,
    message: string,
    { emoji, remove, signal }: { emoji: string; remove: boolean; signal: AbortSignal },
  ) => {
    const { author, sentAt } = messageIn(message);
    const params = { ...targetOf(route), emoji, targetAuthor: author, targetTimestamp: sentAt };
    const whole = { ...params, ...(remove && { remove }) };
    await client.call("sendReaction", whole, { kind: "ask", signal }, anySchema);
  };

  return {
    sendText: (request) => sendParts(request, signalTexts(request.text)),
    replyText: (request) => sendParts(request, signalTexts(request.text), quoteOf(request.replyTo)),
    sendMedia(request) {
      const captions = signalTexts(request.caption ?? "");
      const parts = captions.length === 0 ? [{ message: "", styles: [] }] : captions;
      return sendParts(request, parts, {
        ...quoteOf(request.replyTo),
        attachments: [dataUri(request)],
      });
    },
    async sendTyping(route, on, signal) {
      const params = { ...targetOf(route), ...(!on && { stop: true }) };
      await client.call("sendTyping", params, { kind: "ask", signal }, anySchema);
    },
    addReaction: (route, message, emoji, signal) =>
      react(route, message, { emoji, remove: false, signal }),
    removeReaction: (route, message, emoji, signal) =>
      react(route, message, { emoji, remove: true, signal }),
    async editText(request) {
      const { id, route, signal, growing } = request;
      const [first, ...rest] = signalTexts(request.text, growing === true ? 1 : undefined);
      if (first === undefined)
        throw new EarshotError(
          "EAR_CHANNEL_REJECTED",
          "Cannot edit a message: its new text would be empty",
        );
      // An edit names the one before it.
      const { sentAt } = messageIn(names.newestOf(request.messageId));
      const { count, last } = edits.get(request.messageId) ?? { count: 0, last: "" };
      if (growing === true && count >= growingEditsMax) return;
      const content = textOf(first);
      // The same again needs no edit: there are few.
      if (JSON.stringify(content) !== last) {
        const params = { ...content, editTimestamp: sentAt };
        const edit = await post(route, params, { signal, kind: "ask" });
        edits.set(request.messageId, { count: count + 1, last: JSON.stringify(content) });
        names.edited(request.messageId, edit);
        names.said(request.messageId, first.message);
      }
      if (rest.length > 0) await sendParts({ id, route, signal }, rest);
    },
  };
}

const textOf = ({ message, styles }: SignalText): Params => ({
  message,
  ...(styles.length > 0 && { textStyles: styles }),
});

/** RFC 2397, with a file name as signal-cli(1) has it; what could end the name is replaced. */
function dataUri({ mime, name, data }: MediaRequest): string {
  const type = /^[\w.+-]+\/[\w.+-]+$/.test(mime) ? mime : "application/octet-stream";
  const shown = name.replace(/[;,=%"\s\\/]/gu, "_").slice(0, 120) || "file";
  return `data:${type};filename=${shown};base64,${Buffer.from(data).toString("base64")}`;
}
