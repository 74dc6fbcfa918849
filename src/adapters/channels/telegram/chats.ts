/**
 * What an account remembers of its chats
 * ======================================
 * Telegram reports no topic with a reaction, so the topics of the newest messages that earshot sent
 * are remembered, in memory.
 */
import { LRUCache } from "lru-cache";
import { limits } from "../../../domain/limits.ts";
import type { TelegramTarget } from "./client.ts";

export class TelegramChats {
  readonly #topics = new LRUCache<string, number>({ max: limits.sentTopicsMax });

  /** A message of ours is in a chat or in one of its topics. */
  sent(to: TelegramTarget, messageId: number): void {
    const topic = to.message_thread_id ?? to.direct_messages_topic_id;
    if (topic !== undefined) this.#topics.set(`${to.chat_id}/${messageId}`, topic);
  }

  /** The topic of a message of ours; undefined for the other ones. */
  topicOf(chatId: number, messageId: number): number | undefined {
    return this.#topics.get(`${chatId}/${messageId}`);
  }
}
