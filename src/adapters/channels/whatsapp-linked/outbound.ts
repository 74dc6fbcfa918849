/**
 * Sending as a linked device
 * ==========================
 * A message is encrypted for each device of those who get it, and WhatsApp's server acknowledges it by its
 * id. The id follows from the request, and programs show a message of one id once, so a send whose answer
 * was lost is repeated under the same id. No link preview is made: that would fetch addresses that an agent
 * wrote.
 */
import { createHash } from "node:crypto";
import type { BinaryNode, proto } from "baileys";
import { LRUCache } from "lru-cache";
import { EarshotError } from "../../../domain/errors.ts";
import { atMost, limits } from "../../../domain/limits.ts";
import type { Route } from "../../../domain/message.ts";
import type {
  ChannelContext,
  ChannelOutbound,
  SendReceipt,
  SendRequest,
} from "../../../domain/ports/index.ts";
import { late, within } from "../../../domain/ports/within.ts";
import { cut } from "../../../domain/sanitize.ts";
import { createRepeats } from "../shared/repeats.ts";
import { UnsentError } from "../shared/unsent.ts";
import { partsOf } from "../shared/whatsapp-marks.ts";
import type { LinkedAccountConfig } from "./config.ts";
import { refusal } from "./errors.ts";
import type { LinkedLink, Live } from "./live.ts";
import { uploaded } from "./media.ts";
import { heardUnitsMax } from "./normalise.ts";
import { addressOf } from "./people.ts";

const captionUnitsMax = 1_024;
/** How long a repeat is taken for the same message, ms. */
const repeatMsMax = 1_200_000;

interface Sending {
  readonly id: string;
  readonly route: Route;
  readonly signal: AbortSignal;
}

type Message = proto.IMessage;

export function createLinkedOutbound(
  context: Pick<ChannelContext<LinkedAccountConfig>, "clock" | "config">,
  link: LinkedLink,
): ChannelOutbound {
  const { clock } = context;
  const once = createRepeats({ clock, platform: "WhatsApp", msMax: repeatMsMax });
  /** Request id to the ids of messages that were taken, for incomplete sends. */
  const unfinished = new LRUCache<string, string[]>(atMost(limits.unfinishedSendsMax));

  /** Uploaded files by request id, for sends that are repeated. */
  const files = new LRUCache<string, Message>(atMost(limits.unfinishedSendsMax));

  const liveNow = (): Live => {
    if (link.live !== null) return link.live;
    throw new UnsentError(
      "EAR_CHANNEL_UNAVAILABLE",
      "Cannot send a message at WhatsApp: it is not connected",
    );
  };

  const put = async (
    { route, signal }: Pick<Sending, "route" | "signal">,
    id: string,
    message: Message,
    attributes: Readonly<Record<string, string>> = {},
  ): Promise<void> => {
    const live = liveNow();
    const answer = await transmit(live, {
      address: addressOf(route.chat.id),
      id,
      message,
      attributes,
      signal,
      within: (work) => within(clock, limits.sendMsMax, work),
    });
    if (answer.attrs.error !== undefined) throw refusal(answer.attrs.error);
  };

  const sendAll = async (request: Sending, messages: readonly Message[]): Promise<SendReceipt> => {
    const messageIds = unfinished.get(request.id) ?? [];
    for (const [index, message] of messages.entries()) {
      if (index < messageIds.length) continue;
      const id = messageIdOf(`${request.id}/${index}`);
      await once(id, () => put(request, id, message));
      const { people, groups } = liveNow();
      const chatId = request.route.chat.id;
      const text = cut(message.extendedTextMessage?.text ?? "", heardUnitsMax);
      people.remember(chatId, id, {
        authorId: people.self,
        address: people.ownAddress(groups.known(chatId)?.addressingMode === "lid"),
        isSelf: true,
        text,
      });
      messageIds.push(id);
      if (messageIds.length < messages.length) unfinished.set(request.id, messageIds);
    }
    unfinished.delete(request.id);
    return { messageIds };
  };

  const send = (request: SendRequest, replyTo: string | null) => {
    const texts = partsOf(request.text);
    const messages = texts.map((text, index) => {
      const context = index === 0 && replyTo !== null ? replyContext(link, request, replyTo) : null;
      return textMessage(text, context);
    });
    return sendAll(request, messages);
  };

  const react = async (route: Route, messageId: string, text: string, signal: AbortSignal) => {
    const key = keyOf(liveNow(), route, messageId);
    const reactionMessage = { key, text, senderTimestampMs: clock.now() };
    await put({ route, signal }, newIdOf(liveNow()), { reactionMessage });
  };

  return {
    sendText: (request) => send(request, null),
    replyText: (request) => send(request, request.replyTo),
    async sendMedia(request) {
      const [caption = "", ...more] = partsOf(request.caption ?? "", captionUnitsMax);
      const known = files.get(request.id);
      const file = known ?? (await uploaded(liveNow(), context.config, request, caption));
      files.set(request.id, file);
      const { replyTo = null } = request;
      const contextInfo = replyTo === null ? null : replyContext(link, request, replyTo);
      const words = file.audioMessage && caption !== "" ? [caption, ...more] : more;
      const texts = words.map((text) => textMessage(text, null));
      const receipt = await sendAll(request, [withContext(file, contextInfo), ...texts]);
      files.delete(request.id);
      return receipt;
    },
    addReaction: react,
    removeReaction: (route, messageId, _emoji, signal) => react(route, messageId, "", signal),
    async sendTyping(route, on) {
      const { connection } = liveNow();
      await connection.socket.sendPresenceUpdate(
        on ? "composing" : "paused",
        addressOf(route.chat.id),
      );
    },
    async editText(request) {
      const { route, messageId, text, signal, growing } = request;
      const [first = "", ...rest] = partsOf(text);
      const live = liveNow();
      const key = { remoteJid: addressOf(route.chat.id), fromMe: true, id: messageId };
      const protocolMessage = {
        key,
        type: live.baileys.proto.Message.ProtocolMessage.Type.MESSAGE_EDIT,
        editedMessage: textMessage(first, null),
        timestampMs: clock.now(),
      };
      await put({ route, signal }, newIdOf(live), { protocolMessage }, { edit: "1" });
      if (growing === true || rest.length === 0) return;
      const id = `${request.id}/rest`;
      await sendAll(
        { id, route, signal },
        rest.map((part) => textMessage(part, null)),
      );
    },
  };
}

const textMessage = (text: string, contextInfo: proto.IContextInfo | null): Message => ({
  extendedTextMessage: { text, ...(contextInfo !== null && { contextInfo }) },
});

function withContext(file: Message, contextInfo: proto.IContextInfo | null): Message {
  if (contextInfo === null) return file;
  return Object.fromEntries(
    Object.entries(file).map(([name, value]) => [name, { ...(value as object), contextInfo }]),
  );
}

/** WhatsApp Web's form of an id: 3EB0 and hexadecimal digits. */
const messageIdOf = (id: string): string =>
  `3EB0${createHash("sha256").update(id).digest("hex").slice(0, 18).toUpperCase()}`;

const newIdOf = ({ baileys }: Live): string => baileys.generateMessageIDV2();

function keyOf({ people }: Live, { chat }: Route, id: string): proto.IMessageKey {
  const remoteJid = addressOf(chat.id);
  const heard = people.heard(chat.id, id);
  const fromMe = heard?.isSelf === true;
  const isGroup = chat.kind !== "direct";
  const participant = isGroup && heard !== undefined ? heard.address : undefined;
  return { remoteJid, fromMe, id, ...(participant !== undefined && { participant }) };
}

/** A reply shows who wrote the other message, and a part of it. */
function replyContext(
  link: LinkedLink,
  { route }: Pick<Sending, "route">,
  id: string,
): proto.IContextInfo {
  const people = link.live?.people;
  const heard = people?.heard(route.chat.id, id);
  const isDirect = route.chat.kind === "direct";
  const author = heard?.address ?? (isDirect ? addressOf(route.chat.id) : undefined);
  return {
    stanzaId: id,
    ...(author !== undefined && { participant: author }),
    quotedMessage: { conversation: heard?.text ?? "" },
  };
}

interface Transmission {
  readonly address: string;
  readonly id: string;
  readonly message: Message;
  readonly attributes: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  within<Answer>(work: Promise<Answer>): Promise<Answer | typeof late>;
}

/** Sends one message; resolves to the server's acknowledgement. */
async function transmit(
  { baileys, connection, store }: Live,
  { address, id, message, attributes, signal, within: limited }: Transmission,
): Promise<BinaryNode> {
  const { socket, ended } = connection;
  store.rememberSent(id, baileys.proto.Message.encode(message).finish());
  let isSent = false;
  const unanswered = (why: string) => {
    const Kind = isSent ? EarshotError : UnsentError;
    return new Kind("EAR_CHANNEL_UNAVAILABLE", `Cannot send a message at WhatsApp: ${why}`);
  };
  const onAnswer = new AbortController();
  const acknowledged = new Promise<BinaryNode>((resolve, reject) => {
    const take = (node: BinaryNode) => {
      if (node.tag === "ack") resolve(node);
    };
    const abort = () => reject(unanswered("the call was cancelled"));
    socket.ws.on(`TAG:${id}`, take);
    signal.addEventListener("abort", abort, { once: true });
    onAnswer.signal.addEventListener("abort", () => {
      socket.ws.off(`TAG:${id}`, take);
      signal.removeEventListener("abort", abort);
    });
    if (signal.aborted) abort();
    void ended.then(() => reject(unanswered("the connection ended")));
  });
  // The caller may have given up before.
  acknowledged.catch(() => undefined);
  const relayed = socket
    .relayMessage(address, message, { messageId: id, additionalAttributes: { ...attributes } })
    .then(() => {
      isSent = true;
      return acknowledged;
    });
  try {
    const answer = await limited(Promise.race([relayed, acknowledged]));
    if (answer === late) throw unanswered("no answer came in time");
    return answer;
  } catch (error) {
    if (error instanceof EarshotError) throw error;
    throw unsentError(error, unanswered);
  } finally {
    onAnswer.abort();
  }
}

/** Of what the library threw before anything was sent. Its text may name addresses and is left out. */
function unsentError(error: unknown, unanswered: (why: string) => EarshotError): EarshotError {
  const data = (error as { data?: unknown } | null)?.data;
  if (data === 429)
    return new EarshotError(
      "EAR_CHANNEL_RATE",
      "Cannot send a message at WhatsApp: it asks to wait",
      { retryAfterMs: 60_000 },
    );
  if (data === 403 || data === 404)
    return new EarshotError(
      "EAR_CHANNEL_REJECTED",
      `Cannot send a message at WhatsApp: the account is not in this chat, or it does not exist (${data})`,
    );
  return unanswered("it could not be prepared: WhatsApp did not answer what it takes");
}
