/**
 * Sending to Matrix
 * =================
 * Every message has a transaction id that follows from the request's id; for the same login, a homeserver
 * takes it once (https://spec.matrix.org/v1.15/client-server-api/#transaction-identifiers). So a send
 * whose answer was lost is repeated and arrives once; only when it stays unanswered for longer than
 * homeservers remember is it in doubt.
 */
import { randomUUID } from "node:crypto";
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
import { sha256 } from "../../system/digest.ts";
import { createRepeats } from "../shared/repeats.ts";
import { UnsentError } from "../shared/unsent.ts";
import { authedPrefix, type MatrixClient, mediaPrefix, pathOf } from "./client.ts";
import type { MatrixAccountConfig } from "./config.ts";
import { MatrixRefusedError } from "./errors.ts";
import type { MatrixLink } from "./gateway.ts";
import { eventsIn } from "./history.ts";
import { plainEmoji } from "./normalise.ts";
import { type MatrixText, matrixParts } from "./rendering.ts";
import { keyOf, type MatrixRooms } from "./rooms.ts";
import { anySchema, contentSchema, pageSchema, sentSchema, uploadedSchema } from "./wire.ts";

/** How long a transaction id is trusted: Synapse keeps them for 30 minutes. */
const transactionMsMax = 1_200_000;
const typingMs = 30_000;
const uploadMsMax = 120_000;
const idUnits = 32;

interface Parts {
  readonly client: MatrixClient;
  readonly context: Pick<ChannelContext<MatrixAccountConfig>, "clock" | "config" | "log">;
  readonly rooms: MatrixRooms;
  readonly link: MatrixLink;
}

/** Nobody is notified by what an agent writes. */
const quiet = { "m.mentions": {} } as const;

export function createMatrixOutbound(parts: Parts): ChannelOutbound {
  const { client, context, rooms } = parts;
  const put = createPut(parts);
  /** Request id to the ids of delivered messages, for incomplete sends. */
  const unfinished = new LRUCache<string, string[]>(atMost(limits.unfinishedSendsMax));
  const ownReactions = new LRUCache<string, string>(atMost(limits.matrixEventsMax));
  const msgtype = context.config.sendAs === "notice" ? "m.notice" : "m.text";

  /** Sends the messages that have not arrived yet. */
  const sendAll = async (
    { id, route, signal }: Pick<SendRequest, "id" | "route" | "signal">,
    contents: readonly object[],
  ): Promise<SendReceipt> => {
    const room = roomOf(parts, route);
    const messageIds = unfinished.get(id) ?? [];
    for (const [index, content] of contents.entries()) {
      if (index < messageIds.length) continue;
      const transaction = sha256(`${id}/${index}`).slice(0, idUnits);
      const eventId = await put(room, "m.room.message", transaction, content, signal);
      const text = "body" in content ? String(content.body) : "";
      const thread = route.thread?.id ?? null;
      rooms.remember(eventId, { room, authorId: rooms.self, isSelf: true, text, thread });
      messageIds.push(eventId);
      if (messageIds.length < contents.length) unfinished.set(id, messageIds);
    }
    unfinished.delete(id);
    return { messageIds };
  };

  const send = (request: SendRequest, replyTo: string | null) => {
    const contents = matrixParts(request.text).map((text, index) => ({
      msgtype,
      ...text,
      ...quiet,
      ...relationOf(request.route, index === 0 ? replyTo : null),
    }));
    return sendAll(request, contents);
  };

  return {
    sendText: (request) => send(request, null),
    replyText: (request) => send(request, request.replyTo),
    async sendMedia(request) {
      roomOf(parts, request.route);
      const url = await upload(client, request);
      return sendAll(request, [fileOf(request, url)]);
    },
    async sendTyping(route, on, signal) {
      const path = pathOf("rooms", roomOf(parts, route), "typing", rooms.self);
      const body = on ? { typing: true, timeout: typingMs } : { typing: false };
      await client.call("PUT", path, { what: "show typing", body, signal }, anySchema);
    },
    async addReaction(route, messageId, emoji, signal) {
      const room = roomOf(parts, route);
      const relation = { rel_type: "m.annotation", event_id: messageId, key: emoji };
      try {
        const content = { "m.relates_to": relation };
        const id = await put(room, "m.reaction", randomUUID(), content, signal);
        ownReactions.set(keyOf(room, messageId, emoji), id);
      } catch (error) {
        // It is there already.
        const isThere =
          error instanceof MatrixRefusedError && error.errcode === "M_DUPLICATE_ANNOTATION";
        if (!isThere) throw error;
      }
    },
    async removeReaction(route, messageId, emoji, signal) {
      const room = roomOf(parts, route);
      const key = keyOf(room, messageId, emoji);
      const id =
        ownReactions.get(key) ?? (await findReaction(parts, room, messageId, emoji, signal));
      if (id === null) return;
      const path = pathOf("rooms", room, "redact", id, randomUUID());
      await client.call(
        "PUT",
        path,
        { what: "take back a reaction", body: {}, signal },
        sentSchema,
      );
      ownReactions.delete(key);
    },
    async editText(request) {
      const { route, messageId, text, signal, growing } = request;
      const [first, ...rest] = matrixParts(text, growing === true ? 1 : limits.sendPartsMax);
      if (first === undefined)
        throw new EarshotError(
          "EAR_CHANNEL_REJECTED",
          "Cannot edit a message: its new text would be empty",
        );
      const room = roomOf(parts, route);
      await put(room, "m.room.message", randomUUID(), editOf(messageId, msgtype, first), signal);
      if (rest.length === 0) return;
      // Markup may make a text longer than its Markdown.
      const contents = rest.map((part) => ({
        msgtype,
        ...part,
        ...quiet,
        ...relationOf(route, null),
      }));
      await sendAll({ id: `${request.id}/rest`, route, signal }, contents);
    },
  };
}

/** Sends an event; resolves to its id. */
function createPut({ client, context: { clock } }: Parts) {
  const platform = "the Matrix homeserver";
  const once = createRepeats({ clock, platform, msMax: transactionMsMax });
  return async (
    room: string,
    type: string,
    transaction: string,
    body: object,
    signal: AbortSignal,
  ): Promise<string> => {
    const path = pathOf("rooms", room, "send", type, transaction);
    const options = { what: "send a message", body, signal, msMax: limits.sendMsMax };
    const { event_id } = await once(transaction, () =>
      client.call("PUT", path, options, sentSchema),
    );
    return event_id;
  };
}

/** The room in which a chat goes on now. */
function roomOf({ link, rooms }: Parts, { chat }: Route): string {
  if (!link.isReady)
    throw new UnsentError(
      "EAR_CHANNEL_UNAVAILABLE",
      "Cannot send at the Matrix homeserver: it is not connected yet",
    );
  const room = rooms.currentOf(chat.id);
  if (rooms.isEncrypted(room))
    throw new EarshotError(
      "EAR_CHANNEL_REJECTED",
      "Cannot send at the Matrix homeserver: the room is encrypted, and earshot writes only in open text",
    );
  return room;
}

/** Where a message belongs: to a thread, to the message that it replies to, or both. */
function relationOf({ thread }: Route, replyTo: string | null): object {
  const reply = replyTo === null ? {} : { "m.in_reply_to": { event_id: replyTo } };
  if (thread === null) return replyTo === null ? {} : { "m.relates_to": reply };
  // Clients that know no threads show it as a reply to the first message.
  const fallback = { is_falling_back: true, "m.in_reply_to": { event_id: thread.id } };
  const inThread = replyTo === null ? fallback : { is_falling_back: false, ...reply };
  return { "m.relates_to": { rel_type: "m.thread", event_id: thread.id, ...inThread } };
}

function editOf(messageId: string, msgtype: string, text: MatrixText): object {
  return {
    msgtype,
    // For clients that know no edits.
    body: `* ${text.body}`,
    ...quiet,
    "m.new_content": { msgtype, ...text, ...quiet },
    "m.relates_to": { rel_type: "m.replace", event_id: messageId },
  };
}

async function upload(
  client: MatrixClient,
  { name, mime, data, signal }: MediaRequest,
): Promise<string> {
  const { content_uri } = await client.call(
    "POST",
    "/upload",
    {
      what: "upload a file",
      query: { filename: name },
      body: data,
      headers: { "Content-Type": mime },
      prefix: mediaPrefix,
      signal,
      msMax: uploadMsMax,
    },
    uploadedSchema,
  );
  return content_uri;
}

function fileOf(request: MediaRequest, url: string): object {
  const { mime, name, data, caption = "", replyTo = null, route } = request;
  const [text] = matrixParts(caption, 1);
  const main = mime.split("/", 1)[0] as string;
  const kind = ["image", "audio", "video"].includes(main) ? `m.${main}` : "m.file";
  return {
    msgtype: kind,
    body: name,
    ...text,
    filename: name,
    url,
    info: { mimetype: mime, size: data.length },
    ...(request.kind === "voice" && { "org.matrix.msc3245.voice": {} }),
    ...quiet,
    ...relationOf(route, replyTo),
  };
}

/** Our reaction of an earlier run; null: there is none. */
async function findReaction(
  { client, context, rooms }: Parts,
  room: string,
  messageId: string,
  emoji: string,
  signal: AbortSignal,
): Promise<string | null> {
  const { chunk } = await client.call(
    "GET",
    pathOf("rooms", room, "relations", messageId, "m.annotation", "m.reaction"),
    { what: "read reactions", query: { limit: 100 }, prefix: authedPrefix, signal },
    pageSchema,
  );
  const own = eventsIn(chunk, context.log).find(({ sender, content }) => {
    const key = contentSchema.safeParse(content).data?.["m.relates_to"]?.key ?? "";
    return sender === rooms.self && plainEmoji(key) === plainEmoji(emoji);
  });
  return own?.event_id ?? null;
}
