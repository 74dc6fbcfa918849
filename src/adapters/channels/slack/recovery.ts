/**
 * What was said while nobody listened
 * ===================================
 * Slack repeats nothing to a socket that was away, but every conversation has a history. Each is read
 * back to the moment when listening ended, with the replies in threads: a history has only the first
 * messages of threads, which say when the last reply came; threads that began long before are known
 * because something was heard in them. What is said in a conversation meanwhile waits for its turn.
 *
 * Deletions and reactions of that time are in no history. What cannot be read is reported once with its
 * span.
 */
import { EarshotError } from "../../../domain/errors.ts";
import type { Millis } from "../../../domain/message.ts";
import type { ChannelContext, ChannelEvent } from "../../../domain/ports/index.ts";
import { backOff } from "../../../domain/ports/pause.ts";
import type { SlackClient } from "./client.ts";
import type { SlackAccountConfig } from "./config.ts";
import type { SlackDirectory } from "./directory.ts";
import type { SlackInbox } from "./inbox.ts";
import { editOf, inboundOf, type Receiver } from "./normalise.ts";
import { conversationsSchema, historySchema, nextOf, type WireMessage } from "./wire.ts";

interface Options {
  readonly client: SlackClient;
  readonly context: ChannelContext<SlackAccountConfig>;
  readonly directory: SlackDirectory;
  readonly inbox: SlackInbox;
  readonly signal: AbortSignal;
}

/** One reading: since when, with what, and until when it may go on. */
interface Reading {
  readonly receiver: Receiver;
  readonly signal: AbortSignal;
  /** Before this, everything is known. */
  readonly since: Millis;
  /** Read from here: a little earlier, because clocks differ. */
  readonly from: Millis;
}

/** Something that others wait for. */
class Latch {
  isOpen = false;
  readonly opened: Promise<void>;
  #resolve = (): void => undefined;

  constructor() {
    this.opened = new Promise<void>((resolve) => {
      this.#resolve = resolve;
    });
  }

  open(): void {
    this.isOpen = true;
    this.#resolve();
  }
}

/** As long as Telegram keeps updates, too: older questions need no answer any more. */
const backMsMax = 86_400_000;
const overlapMs = 60_000;
const pageMax = 200;
const pagesMax = 10;
/** Of one call that fails; a rate limit is waited out, however often. */
const triesMax = 8;
const backoff = { msMin: 1_000, msMax: 60_000 };
/** After a longer time, what happened to earlier messages is reported as lost. */
const shortMsMax = 60_000;
const messages = { lost: "messages" } as const;
const kinds = ["im", "mpim", "private_channel", "public_channel"] as const;

const millisOf = (ts: string): Millis => Number(ts) * 1_000;
const tsOf = (time: Millis): string => (time / 1_000).toFixed(6);

export class SlackRecovery {
  readonly #options: Options;
  /** Closed until it is known which conversations are to be read. */
  #list = new Latch();
  readonly #rooms = new Map<string, Latch>();
  /** Conversations in which somebody says something now. */
  readonly #wanted = new Set<string>();
  #running: Promise<void> = Promise.resolve();

  constructor(options: Options) {
    this.#options = options;
    options.signal.addEventListener("abort", () => this.#openAll());
    this.#list.open();
  }

  /** Resolves when what was said before in a conversation has been delivered. */
  async before(chat: string): Promise<void> {
    await this.#list.opened;
    this.#wanted.add(chat);
    await this.#rooms.get(chat)?.opened;
    this.#wanted.delete(chat);
  }

  /** What arrives from here on waits until `begin` has read what came before. */
  expect(): void {
    if (this.#options.inbox.unheardSince === null || this.#options.signal.aborted) return;
    // One that is still closed is from an earlier connection: who waits for it goes on waiting.
    if (this.#list.isOpen) this.#list = new Latch();
  }

  begin(receiver: Receiver, signal: AbortSignal): void {
    const { inbox, context } = this.#options;
    const since = inbox.unheardSince;
    if (since === null) {
      this.#openAll();
      return;
    }
    const now = context.clock.now();
    const earliest = now - backMsMax;
    const from = Math.max(since - overlapMs, earliest);
    if (since < earliest) context.reportGap({ from: since, to: earliest, rooms: [], ...messages });
    this.#running = this.#read({ receiver, signal, since, from }).catch((error: unknown) => {
      if (signal.aborted) return;
      this.#unread([], error);
      context.reportGap({ from: since, to: now, rooms: [], ...messages });
      this.#done();
    });
  }

  /** Resolves when nothing is being read. */
  ended(): Promise<void> {
    return this.#running;
  }

  #openAll(): void {
    this.#list.open();
    for (const room of this.#rooms.values()) room.open();
    this.#rooms.clear();
  }

  #done(): void {
    this.#options.inbox.unheardSince = null;
    this.#openAll();
  }

  async #read(reading: Reading): Promise<void> {
    const { inbox, context } = this.#options;
    const { since, signal } = reading;
    const to = context.clock.now();
    const { chats, isComplete } = await this.#chats(reading);
    for (const chat of chats) if (!this.#rooms.has(chat)) this.#rooms.set(chat, new Latch());
    this.#list.open();
    const unread: string[] = [];
    for (let chat = this.#next(); chat !== null; chat = this.#next()) {
      try {
        const until = await this.#readRoom(chat, reading);
        if (until !== null)
          context.reportGap({ from: since, to: until, rooms: [this.#nameOf(chat)], ...messages });
      } catch (error) {
        if (signal.aborted || !(error instanceof EarshotError)) throw error;
        if (unread.length === 0) this.#unread([this.#nameOf(chat)], error);
        unread.push(this.#nameOf(chat));
      }
      this.#rooms.get(chat)?.open();
      this.#rooms.delete(chat);
    }
    if (!isComplete) context.reportGap({ from: since, to, rooms: [], ...messages });
    else if (unread.length > 0) context.reportGap({ from: since, to, rooms: unread, ...messages });
    else if (to - since > shortMsMax)
      context.reportGap({ from: since, to, rooms: [], lost: "edits" });
    this.#done();
    await inbox.deliver([]);
  }

  /** Why something cannot be read back. */
  #unread(rooms: readonly string[], error: unknown): void {
    const why = error instanceof EarshotError ? error.message : "a bug";
    this.#options.context.log("warn", "slack.history-unread", { rooms, why });
  }

  #nameOf(chat: string): string {
    const title = this.#options.directory.titleNow(chat);
    return title === null ? chat : `#${title}`;
  }

  /** The next conversation to read; first those in which somebody waits. */
  #next(): string | null {
    for (const chat of this.#wanted) if (this.#rooms.has(chat)) return chat;
    return this.#rooms.keys().next().value ?? null;
  }

  /** The conversations that the bot is in. Each kind has a scope of its own. */
  async #chats(
    reading: Reading,
  ): Promise<{ readonly chats: readonly string[]; readonly isComplete: boolean }> {
    const { client, directory } = this.#options;
    let isComplete = true;
    const found = new Set<string>();
    for (const types of kinds) {
      try {
        for (let cursor: string | null = ""; cursor !== null; ) {
          const args = { types, limit: pageMax, exclude_archived: true, ...(cursor && { cursor }) };
          const page: { channels: { id: string; name?: string | null | undefined }[] } & Parameters<
            typeof nextIn
          >[0] = await this.#ask(reading, () =>
            client.call(
              "users.conversations",
              args,
              { kind: "ask", signal: reading.signal },
              conversationsSchema,
            ),
          );
          for (const { id, name } of page.channels) {
            found.add(id);
            if (name) directory.rename(id, name);
          }
          cursor = nextIn(page);
        }
      } catch (error) {
        if (reading.signal.aborted || !(error instanceof EarshotError)) throw error;
        if (isComplete) this.#unread([types], error);
        isComplete = false;
      }
    }
    return { chats: [...found], isComplete };
  }

  /** Delivers what was said in one conversation. Returns until when something is missing, or null. */
  async #readRoom(chat: string, reading: Reading): Promise<Millis | null> {
    const { directory, inbox } = this.#options;
    const { from } = reading;
    const read = await this.#pages("conversations.history", { channel: chat }, reading, (page) =>
      page.some(({ ts }) => millisOf(ts) < from),
    );
    const threads = new Set(directory.activeThreads(chat));
    for (const { ts, latest_reply: latest } of read.messages)
      if (latest != null && millisOf(latest) >= from) threads.add(ts);
    const replies: WireMessage[] = [];
    for (const ts of threads) {
      const args = { channel: chat, ts, oldest: tsOf(from) };
      const found = await this.#pages("conversations.replies", args, reading, () => false).catch(
        (error: unknown) => {
          // The thread is gone.
          if (error instanceof EarshotError && error.code === "EAR_CHANNEL_REJECTED") return null;
          throw error;
        },
      );
      replies.push(...(found?.messages ?? []).filter((message) => message.ts !== ts));
    }
    const events = await this.#eventsOf(chat, [...read.messages, ...replies], reading);
    if (events.length > 0) await inbox.recover(events);
    if (read.isComplete) return null;
    return Math.min(...read.messages.map(({ ts }) => millisOf(ts)));
  }

  /** Reads pages until `enough`. */
  async #pages(
    method: string,
    args: Readonly<Record<string, unknown>>,
    reading: Reading,
    enough: (page: readonly WireMessage[]) => boolean,
  ): Promise<{ readonly messages: readonly WireMessage[]; readonly isComplete: boolean }> {
    const messages: WireMessage[] = [];
    let cursor: string | null = "";
    for (let count = 0; count < pagesMax; count += 1) {
      const asked = { ...args, limit: pageMax, ...(cursor && { cursor }) };
      const page: { messages: WireMessage[] } & Parameters<typeof nextIn>[0] = await this.#ask(
        reading,
        () =>
          this.#options.client.call(
            method,
            asked,
            { kind: "ask", signal: reading.signal },
            historySchema,
          ),
      );
      messages.push(...page.messages);
      cursor = nextIn(page);
      if (cursor === null || enough(page.messages)) return { messages, isComplete: true };
    }
    return { messages, isComplete: false };
  }

  async #eventsOf(
    chat: string,
    messages: readonly WireMessage[],
    { receiver, since, from }: Reading,
  ): Promise<readonly ChannelEvent[]> {
    const events: ChannelEvent[] = [];
    const byTime = new Map(messages.map((message) => [message.ts, message]));
    for (const message of [...byTime.values()].sort((a, b) => Number(a.ts) - Number(b.ts))) {
      const at = millisOf(message.ts);
      const isSeen = this.#options.inbox.hasSeen(chat, message.ts);
      const isNew = at >= from && !isSeen;
      const editedAt = message.edited == null ? null : millisOf(message.edited.ts);
      const isEdited = editedAt !== null && editedAt >= from && (isSeen || at < since);
      if (!isNew && !isEdited) continue;
      const inbound = await inboundOf(message, chat, receiver);
      if (inbound === null || inbound.author.isSelf) continue;
      if (isNew) events.push({ type: "message", message: inbound });
      const edit = isEdited ? await editOf(message, chat, receiver) : null;
      if (edit !== null) events.push({ type: "edit", edit });
    }
    return events;
  }

  /** Asks until Slack answers; a refusal is passed on. */
  async #ask<Answer>({ signal }: Reading, call: () => Promise<Answer>): Promise<Answer> {
    for (let failures = 0; ; failures += 1) {
      try {
        return await call();
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof EarshotError) || error.disposition !== "retry") throw error;
        if (failures >= triesMax && error.code !== "EAR_CHANNEL_RATE") throw error;
        await backOff(this.#options.context, backoff, failures, signal, error.retryAfterMs);
        signal.throwIfAborted();
      }
    }
  }
}

const nextIn = ({
  response_metadata,
}: {
  readonly response_metadata?:
    | { readonly next_cursor?: string | null | undefined }
    | null
    | undefined;
}): string | null => nextOf(response_metadata);
