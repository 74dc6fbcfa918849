/**
 * What an account knows of its workspace
 * ======================================
 * Names of people and conversations, which events leave out; threads of messages, which reactions leave
 * out; threads that were active lately, whose replies a history leaves out; and conversations that got
 * a new id. Names are asked for once and then kept for an hour.
 */
import { LRUCache } from "lru-cache";
import { z } from "zod";
import { EarshotError } from "../../../domain/errors.ts";
import { atMost, limits } from "../../../domain/limits.ts";
import type { ChannelContext } from "../../../domain/ports/index.ts";
import type { SlackClient } from "./client.ts";
import type { SlackAccountConfig } from "./config.ts";
import { isRefusal } from "./refusals.ts";
import { conversationInfoSchema, tsPattern, userInfoSchema } from "./wire.ts";

/** The bot, from `auth.test`. */
export interface SlackSelf {
  readonly id: string;
  readonly botId: string | null;
  readonly teamId: string;
  readonly name: string;
}

export interface Person {
  readonly name: string;
  readonly username?: string;
  readonly isBot: boolean;
}

const namesMsMax = 3_600_000;
const unknownMsMax = 60_000;
const askMsMax = 5_000;
const chatId = z.string().regex(/^[A-Z0-9]{1,63}$/);

/** Stored with the account's progress. */
export const knownSchema = z.object({
  threads: z.array(z.tuple([chatId, z.string().regex(tsPattern)])).max(limits.slackThreadsMax),
  moved: z.array(z.tuple([chatId, chatId])).max(limits.slackMovedMax),
});
export type Known = z.infer<typeof knownSchema>;

export class SlackDirectory {
  readonly #client: SlackClient;
  readonly #log: ChannelContext<SlackAccountConfig>["log"];
  readonly #people = new LRUCache<string, Promise<Person | null>>(atMost(limits.slackNamesMax));
  readonly #chats = new LRUCache<string, Promise<string | null>>(atMost(limits.slackNamesMax));
  readonly #isIn = new LRUCache<string, boolean>(atMost(limits.slackNamesMax));
  readonly #peopleNow = new LRUCache<string, Person>(atMost(limits.slackNamesMax));
  readonly #titles = new LRUCache<string, string>(atMost(limits.slackNamesMax));
  /** `chat ts` of messages in threads to the thread. */
  readonly #threadOf = new LRUCache<string, string>(atMost(limits.sentTopicsMax));
  /** `chat ts` of what this account has sent. */
  readonly #sent = new LRUCache<string, true>(atMost(limits.sentTopicsMax));
  readonly #sending = new Map<string, Set<Promise<unknown>>>();
  /** `chat thread`, the newest last. */
  #active = new Map<string, readonly [chat: string, thread: string]>();
  /** The first id of a conversation to its id now. */
  readonly #moved = new Map<string, string>();
  readonly #failed = new Set<string>();

  constructor(client: SlackClient, log: ChannelContext<SlackAccountConfig>["log"]) {
    this.#client = client;
    this.#log = log;
  }

  /** Asks for a person's name unless it is known; null: Slack does not say. Never rejects. */
  person(id: string, signal: AbortSignal): Promise<Person | null> {
    const known = this.#people.get(id);
    if (known !== undefined) return known;
    const asked = this.#askPerson(id, signal).catch((error: unknown) => {
      this.#people.set(id, Promise.resolve(null), { ttl: unknownMsMax });
      this.#logOnce("users.info", error);
      return null;
    });
    this.#people.set(id, asked, { ttl: namesMsMax });
    return asked;
  }

  async #askPerson(id: string, signal: AbortSignal): Promise<Person> {
    const options = { kind: "ask", signal, msMax: askMsMax } as const;
    const { user } = await this.#client.call("users.info", { user: id }, options, userInfoSchema);
    const { display_name, real_name } = user.profile ?? {};
    const person = {
      name: display_name || real_name || user.real_name || user.name || id,
      ...(user.name && { username: user.name }),
      isBot: user.is_bot === true || id === "USLACKBOT",
    };
    this.#peopleNow.set(id, person);
    return person;
  }

  /** Asks for a conversation's title unless it is known. Never rejects. */
  title(id: string, signal: AbortSignal): Promise<string | null> {
    if (id.startsWith("D")) return Promise.resolve(null);
    const known = this.#chats.get(id);
    if (known !== undefined) return known;
    const options = { kind: "ask", signal, msMax: askMsMax } as const;
    const asked = this.#client
      .call("conversations.info", { channel: id }, options, conversationInfoSchema)
      .then(({ channel }) => {
        if (channel.name) this.#titles.set(id, channel.name);
        return channel.name ?? null;
      })
      .catch((error: unknown) => {
        this.#chats.set(id, Promise.resolve(null), { ttl: unknownMsMax });
        this.#logOnce("conversations.info", error);
        return null;
      });
    this.#chats.set(id, asked, { ttl: namesMsMax });
    return asked;
  }

  /**
   * Whether the bot is in a conversation: Slack shows it no private one that it is not in.
   * @throws EarshotError when Slack does not answer
   */
  async isIn(id: string, signal: AbortSignal): Promise<boolean> {
    const known = this.#isIn.get(id);
    if (known !== undefined) return known;
    const options = { kind: "ask", signal, msMax: askMsMax } as const;
    const args = { channel: id };
    const isIn = await this.#client
      .call("conversations.info", args, options, conversationInfoSchema)
      .then(({ channel: { is_member, is_im, is_mpim, is_private } }) => {
        const isHidden = is_im === true || is_mpim === true || is_private === true;
        return is_member ?? isHidden;
      })
      .catch((error: unknown) => {
        if (isRefusal(error, "channel_not_found", "missing_scope")) return false;
        throw error;
      });
    this.#isIn.set(id, isIn, { ttl: unknownMsMax });
    return isIn;
  }

  /** Each method once: a missing scope fails every time. */
  #logOnce(method: string, error: unknown): void {
    if (this.#failed.has(method)) return;
    this.#failed.add(method);
    const why = error instanceof EarshotError ? error.message : "a bug";
    this.#log("warn", "slack.name-unknown", { method, why });
  }

  /** What is known now. */
  personNow = (id: string): Person | null => this.#peopleNow.get(id) ?? null;
  titleNow = (id: string): string | null => this.#titles.get(id) ?? null;

  rename(id: string, title: string): void {
    this.#titles.set(id, title);
    this.#chats.set(id, Promise.resolve(title), { ttl: namesMsMax });
  }

  forgetPerson(id: string): void {
    this.#people.delete(id);
  }

  noteThread(chat: string, ts: string, thread: string | null): void {
    if (thread === null) return;
    this.#threadOf.set(`${chat} ${ts}`, thread);
    const key = `${chat} ${thread}`;
    this.#active.delete(key);
    this.#active.set(key, [chat, thread]);
    if (this.#active.size <= limits.slackThreadsMax) return;
    const [oldest] = this.#active.keys();
    this.#active.delete(oldest as string);
  }

  /** Takes note of a send, whose answer has the message's id. */
  async sent(chat: string, thread: string | null, send: Promise<string>): Promise<string> {
    const open = this.#sending.get(chat) ?? new Set();
    this.#sending.set(chat, open);
    open.add(send);
    try {
      const ts = await send;
      this.#sent.set(`${chat} ${ts}`, true);
      this.noteThread(chat, ts, thread);
      return ts;
    } finally {
      open.delete(send);
      if (open.size === 0) this.#sending.delete(chat);
    }
  }

  /** Whether this account has sent a message; Slack may deliver it before it has answered. */
  async hasSent(chat: string, ts: string): Promise<boolean> {
    await Promise.allSettled(this.#sending.get(chat) ?? []);
    return this.#sent.has(`${chat} ${ts}`);
  }

  /** The thread of a message; null: it is in none that is known. */
  threadOf = (chat: string, ts: string): string | null =>
    this.#threadOf.get(`${chat} ${ts}`) ?? null;

  activeThreads = (chat: string): string[] =>
    [...this.#active.values()].flatMap(([place, thread]) => (place === chat ? [thread] : []));

  move(from: string, to: string): void {
    if (this.#moved.size >= limits.slackMovedMax) return;
    const first = this.firstId(from);
    if (first !== to) this.#moved.set(first, to);
  }

  /** The id under which the room began. */
  firstId(id: string): string {
    for (const [first, now] of this.#moved) if (now === id) return first;
    return id;
  }

  currentId = (id: string): string => this.#moved.get(id) ?? id;

  get known(): Known {
    return { threads: [...this.#active.values()] as [string, string][], moved: [...this.#moved] };
  }

  load({ threads, moved }: Known): void {
    for (const [chat, thread] of threads) this.#active.set(`${chat} ${thread}`, [chat, thread]);
    for (const [from, to] of moved) this.#moved.set(from, to);
  }
}
