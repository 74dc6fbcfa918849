/**
 * grammY's `Api` with additions for every call: a time limit, no redirects, a size limit on the
 * response, and converted errors. One per account; nothing else knows the token. grammY is loaded
 * with the first call, so a daemon without a bot does not load it.
 */
import type { InputFile } from "grammy";
import type { ApiMethods } from "grammy/types";
import { EarshotError } from "../../../domain/errors.ts";
import type { Route } from "../../../domain/message.ts";
import { deadline } from "../../http/deadline.ts";
import type { TelegramApi } from "./api.ts";
import {
  businessIn,
  GroupMigratedError,
  numericId,
  type TelegramChats,
  type TelegramTarget,
  TopicGoneError,
} from "./chats.ts";
import type { TelegramAccountConfig } from "./config.ts";
import type { CallKind } from "./errors.ts";

type Method = keyof ApiMethods;
type Payload<Name extends Method> = Parameters<ApiMethods[Name]>[0];
type Answer<Name extends Method> = ReturnType<ApiMethods[Name]>;

export interface TelegramClient {
  /**
   * One call of the Bot API. `msMax` is its time limit.
   * @throws EarshotError with the disposition that fits the call's kind.
   */
  call<Name extends Method>(
    method: Name,
    payload: Payload<Name>,
    options: { readonly kind: CallKind; readonly signal: AbortSignal; readonly msMax: number },
  ): Promise<Answer<Name>>;
  /** Wraps bytes as a file argument. */
  file(data: Uint8Array, name: string): Promise<InputFile>;
  /** URL of the file named by `getFile`. Contains the token: never show it. */
  fileUrl(path: string): string;
}

/** Methods that grammY calls without a payload. */
const bare: ReadonlySet<Method> = new Set(["getMe", "getWebhookInfo"]);

export function createTelegramClient(
  config: TelegramAccountConfig,
  chats: TelegramChats,
  open: () => Promise<TelegramApi> = async () => (await import("./api.ts")).openTelegramApi(config),
): TelegramClient {
  let opening: Promise<TelegramApi> | undefined;
  return {
    async call(method, payload, { kind, signal, msMax }) {
      if (signal.aborted)
        throw new EarshotError(
          "EAR_CHANNEL_UNAVAILABLE",
          `Cannot ${method} at Telegram: the call was cancelled`,
        );
      opening ??= open();
      const api = await opening;
      const limit = deadline(signal, msMax);
      const given: object = payload ?? {};
      const call = async (current: object) => {
        try {
          return await api.call(
            method,
            bare.has(method) ? [limit.signal] : [current, limit.signal],
          );
        } catch (error) {
          throw api.errorOf(error, method, kind);
        }
      };
      const current = inCurrentChat(given, chats);
      try {
        return await call(current).catch((error: unknown) => {
          // Only what is said must arrive; nobody looks for typing elsewhere.
          const isSaid = kind === "send" || !(error instanceof TopicGoneError);
          const next = isSaid ? elsewhere(current, given, chats, error) : null;
          if (next === null) throw error;
          return call(next);
        });
      } finally {
        limit.done();
      }
    },
    async file(data, name) {
      opening ??= open();
      return (await opening).file(data, name);
    },
    fileUrl: (path) => {
      // Segments are encoded, so the path stays below the bot's own.
      const safe = path
        .split("/")
        .map(encodeURIComponent)
        .filter((part) => !/^\.{1,2}$/.test(part));
      return `${config.apiRoot}/file/bot${config.botToken}/${safe.join("/")}`;
    },
  };
}

/** The call again, where it can be made; null: nowhere. */
function elsewhere(
  current: object,
  given: object,
  chats: TelegramChats,
  error: unknown,
): object | null {
  if (error instanceof GroupMigratedError) return inNewChat(given, chats, error);
  if (!(error instanceof TopicGoneError) || !("message_thread_id" in current)) return null;
  // A reply without it is put into the topic of its parent, if that is still there.
  const { message_thread_id: _gone, ...rest } = current;
  return rest;
}

function inCurrentChat(payload: object, chats: TelegramChats): object {
  if (!("chat_id" in payload) || typeof payload.chat_id !== "number") return payload;
  const chat_id = chats.currentId(payload.chat_id);
  return chat_id === payload.chat_id ? payload : { ...payload, chat_id };
}

/**
 * The call again, in the supergroup that the group has become; it has none of the group's messages,
 * so a reply becomes a plain message. Null: the call is about such a message.
 */
function inNewChat(
  payload: object,
  chats: TelegramChats,
  { movedTo }: GroupMigratedError,
): object | null {
  if (!("chat_id" in payload) || typeof payload.chat_id !== "number") return null;
  chats.redirect(payload.chat_id, movedTo);
  if ("message_id" in payload) return null;
  const { reply_parameters: _dropped, ...rest } = payload as { reply_parameters?: unknown };
  return { ...rest, chat_id: movedTo };
}

/**
 * `chat_id` and, in a topic, its id. The direct messages of a channel have topics of their own, and
 * so have the chats of a business account.
 */
export function target({ chat, thread }: Route): TelegramTarget {
  const chat_id = numericId(chat.id, "chat id");
  const business_connection_id = businessIn({ thread });
  if (business_connection_id !== null) return { chat_id, business_connection_id };
  if (thread?.kind !== "topic") return { chat_id };
  const id = numericId(thread.id, "topic id");
  // Private chats, which may have topics as well, have positive ids.
  return chat.kind === "direct" && chat_id < 0
    ? { chat_id, direct_messages_topic_id: id }
    : { chat_id, message_thread_id: id };
}
