/**
 * What the Bot API's methods do to the world, with the checks that matter to a client: unknown
 * chats, too long and empty texts, entities out of bounds, replies to nothing, a bot that was
 * blocked.
 */
import type { Message, MessageEntity } from "@grammyjs/types";
import type { Room, TelegramWorld } from "./telegram-world.ts";

/** An error of the platform, answered as `{ ok: false, error_code, description }`. */
export class Refusal extends Error {
  readonly code: number;
  readonly parameters: object;
  constructor(code: number, description: string, parameters: object = {}) {
    super(description);
    this.code = code;
    this.parameters = parameters;
  }
}

type Payload = Readonly<Record<string, unknown>>;
type Method = (world: TelegramWorld, payload: Payload) => unknown;

const textLimit = 4_096;
const reactions = new Set(["👀", "👍", "👎", "❤", "🔥", "🎉", "🤔", "👌", "🙏", "💯", "⚡", "😁"]);

function roomOf(
  world: TelegramWorld,
  { chat_id, business_connection_id: business }: Payload,
): Room {
  if (business !== undefined) {
    const connection = world.businesses.get(String(business));
    const there = world.businessRooms.get(`${String(business)}/${String(chat_id)}`);
    if (connection === undefined || there === undefined)
      throw new Refusal(400, "Bad Request: business connection not found");
    if (!connection.is_enabled || connection.rights?.can_reply !== true)
      throw new Refusal(403, "Forbidden: not enough rights to send messages");
    return there;
  }
  const room = typeof chat_id === "number" ? world.rooms.get(chat_id) : undefined;
  if (room === undefined) throw new Refusal(400, "Bad Request: chat not found");
  if (room.movedTo !== null)
    throw new Refusal(400, "Bad Request: group chat was upgraded to a supergroup chat", {
      migrate_to_chat_id: room.movedTo,
    });
  if (room.blocked) throw new Refusal(403, "Forbidden: bot was blocked by the user");
  return room;
}

function textOf({ text }: Payload): string {
  if (typeof text !== "string" || text.trim() === "")
    throw new Refusal(400, "Bad Request: message text is empty");
  if (text.length > textLimit) throw new Refusal(400, "Bad Request: message is too long");
  if (Buffer.from(text).toString() !== text)
    throw new Refusal(400, "Bad Request: strings must be encoded in UTF-8");
  return text;
}

function entitiesFor({ entities = [], parse_mode }: Payload, text: string): MessageEntity[] {
  if (parse_mode !== undefined) throw new Refusal(400, "Bad Request: this server parses no markup");
  const list = entities as MessageEntity[];
  for (const { offset, length } of list)
    if (offset < 0 || length < 1 || offset + length > text.length)
      throw new Refusal(400, "Bad Request: entity beginning or end is out of bounds");
  return list;
}

function messageOf(room: Room, { message_id }: Payload, what: string): Message {
  const found = room.messages.get(message_id as number);
  if (found === undefined) throw new Refusal(400, `Bad Request: message to ${what} not found`);
  return found;
}

/** The fields of a message in the topic that a call names. */
function topicIn(room: Room, { message_thread_id: topic }: Payload): object {
  if (topic === undefined) return {};
  if (!room.topics.has(topic as number))
    throw new Refusal(400, "Bad Request: message thread not found");
  return { message_thread_id: topic, is_topic_message: true };
}

function sendMessage(world: TelegramWorld, payload: Payload): Message {
  const room = roomOf(world, payload);
  const text = textOf(payload);
  const entities = entitiesFor(payload, text);
  const topic = topicIn(room, payload);
  const reply = payload.reply_parameters as
    | { message_id: number; allow_sending_without_reply?: boolean }
    | undefined;
  const parent = reply === undefined ? undefined : room.messages.get(reply.message_id);
  if (reply !== undefined && parent === undefined && reply.allow_sending_without_reply !== true)
    throw new Refusal(400, "Bad Request: message to be replied not found");
  const sent = world.build(room, world.bot, {
    text,
    ...(entities.length === 0 ? {} : { entities }),
    ...(payload.reply_markup === undefined ? {} : { reply_markup: markupOf(payload) }),
    ...topic,
    ...(parent === undefined
      ? {}
      : { reply_to_message: { ...parent, reply_to_message: undefined } }),
  });
  return sent;
}

function markupOf({ reply_markup }: Payload): unknown {
  const { inline_keyboard } = reply_markup as { inline_keyboard: { callback_data?: string }[][] };
  for (const { callback_data = "" } of inline_keyboard.flat())
    if (Buffer.byteLength(callback_data) > 64)
      throw new Refusal(400, "Bad Request: BUTTON_DATA_INVALID");
  return reply_markup;
}

function sendFile(world: TelegramWorld, payload: Payload, field: string): Message {
  const room = roomOf(world, payload);
  const file = payload[field] as { name: string; data: Buffer } | undefined;
  if (file === undefined || file.data.length === 0)
    throw new Refusal(400, "Bad Request: file must be non-empty");
  const file_id = `sent-${world.files.size}`;
  world.files.set(file_id, file.data);
  const sent = { file_id, file_name: file.name };
  const { caption } = payload;
  if (String(caption ?? "").length > 1_024)
    throw new Refusal(400, "Bad Request: message caption is too long");
  return world.build(room, world.bot, {
    ...topicIn(room, payload),
    [field]: field === "photo" ? [sent] : sent,
    ...(caption === undefined ? {} : { caption }),
  });
}

/** Everything this server can do, by the name in the Bot API. getUpdates is the server's own. */
export const methods: Readonly<Record<string, Method>> = {
  getMe: (world) => ({
    ...world.bot,
    can_join_groups: true,
    can_read_all_group_messages: world.hearsAll,
    supports_inline_queries: false,
  }),
  sendMessage,
  editMessageText(world, payload) {
    const room = roomOf(world, payload);
    const old = messageOf(room, payload, "edit");
    if (old.from?.id !== world.bot.id)
      throw new Refusal(400, "Bad Request: message can't be edited");
    const text = textOf(payload);
    const entities = entitiesFor(payload, text);
    if (old.text === text && JSON.stringify(old.entities ?? []) === JSON.stringify(entities))
      throw new Refusal(
        400,
        "Bad Request: message is not modified: specified new message content and reply markup are " +
          "exactly the same as a current content and reply markup of the message",
      );
    const edited = { ...old, text, entities, edit_date: Math.floor(Date.now() / 1_000) } as Message;
    room.messages.set(edited.message_id, edited);
    return edited;
  },
  deleteMessage(world, payload) {
    const room = roomOf(world, payload);
    room.messages.delete(messageOf(room, payload, "delete").message_id);
    return true;
  },
  getBusinessConnection(world, { business_connection_id }) {
    const found = world.businesses.get(String(business_connection_id));
    if (found === undefined) throw new Refusal(400, "Bad Request: business connection not found");
    return found;
  },
  setMessageReaction(world, payload) {
    const room = roomOf(world, payload);
    const message = messageOf(room, payload, "react to");
    const list = (payload.reaction ?? []) as { type: string; emoji: string }[];
    for (const { emoji } of list)
      if (!reactions.has(emoji)) throw new Refusal(400, "Bad Request: REACTION_INVALID");
    if (list.length > 1) throw new Refusal(400, "Bad Request: too many reactions");
    room.reactions.set(
      message.message_id,
      list.map(({ emoji }) => emoji),
    );
    return true;
  },
  sendPhoto(world, payload) {
    const { data } = payload.photo as { data: Buffer };
    if (!world.takesPhoto(data)) throw new Refusal(400, "Bad Request: PHOTO_INVALID_DIMENSIONS");
    return sendFile(world, payload, "photo");
  },
  sendVideo: (world, payload) => sendFile(world, payload, "video"),
  sendPoll(world, payload) {
    const { question, options } = payload as { question: string; options: object[] };
    if (options.length < 2) throw new Refusal(400, "Bad Request: poll must have at least 2 option");
    const room = roomOf(world, payload);
    return world.build(room, world.bot, { ...topicIn(room, payload), poll: { question, options } });
  },
  answerCallbackQuery: () => true,
  sendVoice: (world, payload) => sendFile(world, payload, "voice"),
  sendAudio: (world, payload) => sendFile(world, payload, "audio"),
  sendDocument: (world, payload) => sendFile(world, payload, "document"),
  sendChatAction(world, payload) {
    topicIn(roomOf(world, payload), payload);
    return true;
  },
  getChat: (world, payload) => roomOf(world, payload).chat,
  getMyCommands: (world) => world.commands,
  setMyCommands(world, payload) {
    const commands = payload.commands as { command: string; description: string }[];
    if (commands.length > 100) throw new Refusal(400, "Bad Request: BOT_COMMANDS_TOO_MUCH");
    for (const { command, description } of commands)
      if (!/^[a-z0-9_]{1,32}$/.test(command) || description === "" || description.length > 256)
        throw new Refusal(400, "Bad Request: BOT_COMMAND_INVALID");
    world.commands = commands;
    return true;
  },
  getChatMemberCount: (world, payload) => roomOf(world, payload).members.size,
  getFile(world, { file_id }) {
    const bytes = world.files.get(String(file_id));
    if (bytes === undefined) throw new Refusal(400, "Bad Request: invalid file_id");
    return {
      file_id,
      file_unique_id: `u${String(file_id)}`,
      file_size: bytes.length,
      file_path: `files/${String(file_id)}`,
    };
  },
  setWebhook(world, { url, secret_token }) {
    if (typeof url !== "string" || !/^https?:\/\/[^/]/.test(url))
      throw new Refusal(400, "Bad Request: bad webhook: An HTTPS URL must be provided for webhook");
    if (secret_token !== undefined && !/^[A-Za-z0-9_-]{1,256}$/.test(String(secret_token)))
      throw new Refusal(400, "Bad Request: secret token contains unallowed characters");
    world.webhook = {
      url,
      ...(secret_token === undefined ? {} : { secret_token: String(secret_token) }),
    };
    return true;
  },
  deleteWebhook(world) {
    world.webhook = null;
    return true;
  },
  getWebhookInfo: (world) => ({
    url: world.webhook?.url ?? "",
    has_custom_certificate: false,
    pending_update_count: world.queue.length,
    ...(world.webhookError && {
      last_error_date: Math.floor(world.webhookError.at / 1_000),
      last_error_message: world.webhookError.message,
    }),
  }),
  logOut: () => true,
  close: () => true,
};
