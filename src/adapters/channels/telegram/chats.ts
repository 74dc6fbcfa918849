/**
 * What an account remembers of its chats
 * ======================================
 * **Groups that became supergroups.** Telegram gives such a group a new id and numbers its messages
 * from 1 again. Here it keeps its old id, and with it its allowance, its session and what is still
 * to be sent: its updates are read under the old id, calls go to the new one, and ids of its new
 * messages carry the new chat's id, so none is taken for an old message. The pairs of ids are part
 * of the account's cursor (`gateway.ts`), which is stored in one commit with the updates.
 *
 * **Names of topics.** Only a topic's opener and its renames carry its name, so the last one that was
 * reported is remembered, in memory.
 *
 * **Topics of sent messages.** Telegram reports no topic with a reaction, so the topics of the
 * newest messages that earshot sent are remembered, in memory.
 *
 * **Business accounts.** What the bot may do in each (`business.ts`), in memory.
 */
import { LRUCache } from "lru-cache";
import { EarshotError } from "../../../domain/errors.ts";
import { atMost, limits } from "../../../domain/limits.ts";
import type { Route } from "../../../domain/message.ts";

/** A call was refused because the group has a new id. Nothing was done. */
export class GroupMigratedError extends EarshotError {
  readonly movedTo: number;
  constructor(message: string, movedTo: number) {
    super("EAR_CHANNEL_REJECTED", message);
    this.movedTo = movedTo;
  }
}

/** A call was refused because bots cannot find the topic: it was deleted, or is very old. Nothing was done. */
export class TopicGoneError extends EarshotError {
  constructor(message: string) {
    super("EAR_CHANNEL_REJECTED", message);
  }
}

/** A chat, and the topic in it. */
export interface TelegramTarget {
  readonly chat_id: number;
  readonly message_thread_id?: number;
  readonly direct_messages_topic_id?: number;
  readonly business_connection_id?: string;
}

/** What the bot may do in the chats of a business account. */
export interface BusinessAccess {
  /** The user id of the account's owner. */
  readonly owner: string;
  readonly enabled: boolean;
  readonly mayReply: boolean;
}

/** The thread that a chat of a business account is. */
export const businessThread = (connection: string, chatId: number) =>
  ({ id: `business/${connection}/${chatId}`, kind: "topic" }) as const;

/** The connection to the business account that a place belongs to; null: to none. */
export const businessIn = ({ thread }: Pick<Route, "thread">): string | null =>
  /^business\/(.+)\/-?\d+$/s.exec(thread?.id ?? "")?.[1] ?? null;

export class TelegramChats {
  readonly #onMigrated: (old: number, now: number) => void;
  readonly #topics = new LRUCache<string, number>(atMost(limits.sentTopicsMax));
  readonly #topicNames = new LRUCache<string, string>(atMost(limits.sentTopicsMax));
  /** By the id of the connection. */
  readonly business = new LRUCache<string, BusinessAccess>({ max: limits.businessAccountsMax });
  /** New id to old id, of groups whose migration was reported by an update. */
  readonly #oldIds = new Map<number, number>();
  /** Old id to new id, also of groups where only a refused call reported it. */
  readonly #newIds = new Map<number, number>();
  /** Whether a pair is not yet in a stored cursor. */
  unsaved = false;

  constructor(onMigrated: (old: number, now: number) => void = () => undefined) {
    this.#onMigrated = onMigrated;
  }

  /** Pairs as in a cursor: `-5>-1005 -6>-1006`. */
  get migrated(): string {
    return [...this.#oldIds].map(([now, old]) => `${old}>${now}`).join(" ");
  }

  load(migrated: string): void {
    for (const pair of migrated.split(" ")) {
      const [old, now] = pair.split(">").map(Number);
      if (Number.isSafeInteger(old) && Number.isSafeInteger(now))
        this.#add(old as number, now as number);
    }
  }

  /** An update reports the new id of a group. */
  migrate(old: number, now: number): void {
    if (this.#oldIds.get(now) === old) return;
    this.redirect(old, now);
    this.#add(old, now);
    this.unsaved = true;
  }

  /** A refused call reports the new id. Updates keep theirs until one of them reports it, too. */
  redirect(old: number, now: number): void {
    if (this.#newIds.get(old) === now) return;
    this.#newIds.set(old, now);
    this.#onMigrated(old, now);
  }

  /** The id under which the updates of a chat are read. */
  ownId(chatId: number): number {
    return this.#oldIds.get(chatId) ?? chatId;
  }

  /** The id that calls need. */
  currentId(chatId: number): number {
    return this.#newIds.get(chatId) ?? chatId;
  }

  /** The id of a message in an update. */
  messageId(chatId: number, messageId: number): string {
    return this.#oldIds.has(chatId) ? `${chatId}/${messageId}` : String(messageId);
  }

  /** The id of a message that was sent there, and which is remembered with its topic. */
  sent(to: TelegramTarget, messageId: number): string {
    const chatId = this.currentId(to.chat_id);
    const topic = to.message_thread_id ?? to.direct_messages_topic_id;
    if (topic !== undefined) this.#topics.set(`${chatId}/${messageId}`, topic);
    return chatId === to.chat_id ? String(messageId) : `${chatId}/${messageId}`;
  }

  /** Telegram's number of a message for a call; null: it stayed in the group that is no more. */
  messageNumber(chatId: number, messageId: string): number | null {
    // A pressed button (`7#…`) is a message of a person, and at Telegram the one with the button.
    const plain = messageId.replace(/#.*$/s, "");
    const [, chat, number = plain] = /^(-\d+)\/(\d+)$/.exec(plain) ?? [];
    const at = chat === undefined ? chatId : Number(chat);
    return at === this.currentId(chatId) ? numericId(number, "message id") : null;
  }

  /** The topic of a message of ours; undefined for the other ones. */
  topicOf(chatId: number, messageId: number): number | undefined {
    return this.#topics.get(`${chatId}/${messageId}`);
  }

  nameTopic(chatId: number, topic: number, name: string): void {
    this.#topicNames.set(`${chatId}/${topic}`, name);
  }

  /** The last name that was reported since the start. */
  topicName(chatId: number, topic: number): string | undefined {
    return this.#topicNames.get(`${chatId}/${topic}`);
  }

  #add(old: number, now: number): void {
    const [oldest] = this.#oldIds.keys();
    if (oldest !== undefined && this.#oldIds.size >= limits.migratedGroupsMax)
      this.#oldIds.delete(oldest);
    this.#oldIds.set(now, old);
    this.#newIds.set(old, now);
  }
}

/**
 * Converts a platform id to Telegram's number.
 * @throws EarshotError EAR_CHANNEL_REJECTED for anything else, such as a `@name`.
 */
export function numericId(id: string, what: string): number {
  const number = Number(id);
  if (/^-?\d{1,16}$/.test(id) && Number.isSafeInteger(number)) return number;
  throw new EarshotError("EAR_CHANNEL_REJECTED", `Cannot use the ${what}: it is not a number`);
}
