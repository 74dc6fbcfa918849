/**
 * Sending to Slack
 * ================
 * Slack has no idempotency key. Each message carries the id of its send as metadata
 * (https://docs.slack.dev/messaging/message-metadata), which nobody sees: when no answer came, the
 * newest messages are looked at, and a message with that id has been sent. Without one it stays in
 * doubt, because it may still arrive.
 */
import { LRUCache } from "lru-cache";
import { EarshotError } from "../../../domain/errors.ts";
import { atMost, limits } from "../../../domain/limits.ts";
import type { Millis, Route } from "../../../domain/message.ts";
import type {
  ChannelContext,
  ChannelOutbound,
  SendReceipt,
  SendRequest,
} from "../../../domain/ports/index.ts";
import { renderMarkdown } from "../shared/markdown.ts";
import { type Rendered, splitRendered } from "../shared/rendering.ts";
import { buttonsOf } from "./choices.ts";
import type { SlackClient } from "./client.ts";
import { type SlackAccountConfig, slackTextLimit } from "./config.ts";
import type { SlackDirectory } from "./directory.ts";
import { reactionOf } from "./emoji.ts";
import { sendFile } from "./media.ts";
import { isRefusal } from "./refusals.ts";
import { messageOf } from "./rendering.ts";
import { historySchema, okSchema, postedSchema, tsPattern } from "./wire.ts";

const lookMsMax = 5_000;
/** Messages that may have been said since. */
const lookMax = 50;
/** Clocks differ. */
const lookBackMs = 300_000;
const eventType = "earshot_send";

type Place = { readonly channel: string; readonly thread_ts?: string };
type Message = Readonly<Record<string, unknown>>;

export function createSlackOutbound(
  client: SlackClient,
  { config, clock }: Pick<ChannelContext<SlackAccountConfig>, "config" | "clock">,
  directory: SlackDirectory,
): ChannelOutbound {
  /** Request id to the ids of delivered parts, for incomplete sends. */
  const unfinished = new LRUCache<string, string[]>(atMost(limits.unfinishedSendsMax));

  const target = ({ chat, thread }: Route, replyTo?: string): Place => {
    const channel = directory.currentId(chat.id);
    if (thread !== null) return { channel, thread_ts: tsIn(thread.id) };
    // The id of a press or of a slash command is no message.
    if (!config.replyInThread || chat.kind === "direct" || replyTo === undefined)
      return { channel };
    if (!tsPattern.test(replyTo)) return { channel };
    return { channel, thread_ts: directory.threadOf(channel, replyTo) ?? replyTo };
  };

  /** Sends one message; resolves to its id. */
  const post = async (place: Place, message: Message, sendId: string, signal: AbortSignal) => {
    const metadata = { event_type: eventType, event_payload: { id: sendId } };
    const quiet = { unfurl_links: false, unfurl_media: false, link_names: false };
    const args = { ...place, ...message, ...quiet, metadata };
    const options = { kind: "send", signal, msMax: limits.sendMsMax } as const;
    const sent = async () => {
      try {
        return (await client.call("chat.postMessage", args, options, postedSchema)).ts;
      } catch (error) {
        if (!(error instanceof EarshotError) || error.disposition !== "in-doubt") throw error;
        const found = await lookFor(client, place, { sendId, now: clock.now(), signal });
        if (found === null) throw error;
        return found;
      }
    };
    return directory.sent(place.channel, place.thread_ts ?? null, sent());
  };

  /** Sends the parts that have not arrived yet. */
  const sendParts = async (
    { id, signal }: Pick<SendRequest, "id" | "signal">,
    place: Place,
    parts: readonly Message[],
  ): Promise<SendReceipt> => {
    const messageIds = unfinished.get(id) ?? [];
    for (const [index, part] of parts.entries()) {
      if (index < messageIds.length) continue;
      messageIds.push(await post(place, part, `${id}/${index}`, signal));
      if (messageIds.length < parts.length) unfinished.set(id, messageIds);
    }
    unfinished.delete(id);
    return { messageIds };
  };

  const send = (request: SendRequest, replyTo?: string) =>
    sendParts(request, target(request.route, replyTo), partsOf(request.text).map(messageOf));

  const react = async (
    method: "reactions.add" | "reactions.remove",
    route: Route,
    messageId: string,
    { emoji, signal }: { readonly emoji: string; readonly signal: AbortSignal },
  ) => {
    const name = reactionOf(emoji);
    if (name === null)
      throw new EarshotError(
        "EAR_CHANNEL_REJECTED",
        "Cannot react: Slack's name of this emoji is unknown. Write it as :name:",
      );
    const args = { channel: target(route).channel, timestamp: tsIn(messageId), name };
    try {
      await client.call(method, args, { kind: "ask", signal }, okSchema);
    } catch (error) {
      if (!isRefusal(error, "already_reacted", "no_reaction")) throw error;
    }
  };

  return {
    sendText: (request) => send(request),
    replyText: (request) => send(request, request.replyTo),
    sendMedia: (request) =>
      sendFile(client, { config, clock }, request, target(request.route, request.replyTo)),
    async sendChoices(request) {
      const { choices, route, replyTo } = request;
      // Slack has no polls: the text has the options, numbered.
      if (choices.poll === true) return send(request, replyTo);
      const parts = partsOf(choices.text).map(messageOf);
      const last = parts.at(-1);
      if (last === undefined) return send(request, replyTo);
      const asked = { ...last, blocks: [...last.blocks, buttonsOf(choices)] };
      return sendParts(request, target(route, replyTo), [...parts.slice(0, -1), asked]);
    },
    addReaction: (route, messageId, emoji, signal) =>
      react("reactions.add", route, messageId, { emoji, signal }),
    removeReaction: (route, messageId, emoji, signal) =>
      react("reactions.remove", route, messageId, { emoji, signal }),
    async editText(request) {
      const { route, messageId, signal, growing, id } = request;
      const [first, ...rest] = partsOf(request.text, growing === true ? 1 : undefined);
      if (first === undefined)
        throw new EarshotError(
          "EAR_CHANNEL_REJECTED",
          "Cannot edit a message: its new text would be empty",
        );
      const place = target(route, messageId);
      const args = { channel: place.channel, ts: tsIn(messageId), ...messageOf(first) };
      const options = { kind: "ask", signal, msMax: limits.sendMsMax } as const;
      await client.call("chat.update", args, options, okSchema);
      // Rendered text may be longer than its Markdown (tables are padded).
      if (rest.length > 0) await sendParts({ id, signal }, target(route), rest.map(messageOf));
    },
  };
}

const partsOf = (text: string, most: number = limits.sendPartsMax): Rendered[] =>
  splitRendered(renderMarkdown(text), slackTextLimit, most);

/** @throws EarshotError EAR_CHANNEL_REJECTED for what is no message of Slack */
function tsIn(id: string): string {
  if (tsPattern.test(id)) return id;
  throw new EarshotError(
    "EAR_CHANNEL_REJECTED",
    "Cannot refer to a message: its id is none of Slack's",
  );
}

/** The message with the metadata of a send, among the newest ones; null: none is found. */
async function lookFor(
  client: SlackClient,
  { channel, thread_ts }: Place,
  { sendId, now, signal }: { sendId: string; now: Millis; signal: AbortSignal },
): Promise<string | null> {
  const method = thread_ts === undefined ? "conversations.history" : "conversations.replies";
  const args = { channel, limit: lookMax, include_all_metadata: true };
  try {
    const { messages } = await client.call(
      method,
      // Replies come oldest first.
      thread_ts === undefined
        ? args
        : { ...args, ts: thread_ts, oldest: ((now - lookBackMs) / 1_000).toFixed(6) },
      { kind: "ask", signal, msMax: lookMsMax },
      historySchema,
    );
    const found = messages.find(
      ({ metadata }) => metadata?.event_type === eventType && metadata.event_payload.id === sendId,
    );
    return found?.ts ?? null;
  } catch {
    return null;
  }
}
