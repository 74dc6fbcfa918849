/**
 * From Slack's deliveries to durable events
 * =========================================
 * What is said in one conversation is read and delivered in order; conversations do not wait for each
 * other. A delivery is acknowledged when it is durable; Slack repeats the others. The inbox also knows
 * until when everything has been heard, which is stored with each delivery.
 */
import { LRUCache } from "lru-cache";
import { z } from "zod";
import { atMost, limits } from "../../../domain/limits.ts";
import { type Millis, momentMax } from "../../../domain/message.ts";
import type { ChannelContext, ChannelEvent, Clock } from "../../../domain/ports/index.ts";
import { backOff } from "../../../domain/ports/pause.ts";
import { deliverEach, isLater, logRefused } from "../shared/deliver.ts";
import type { SlackAccountConfig } from "./config.ts";
import { knownSchema, type SlackDirectory } from "./directory.ts";

type Context = ChannelContext<SlackAccountConfig>;

const backoff = { msMin: 500, msMax: 30_000 };

const cursorSchema = knownSchema.extend({
  heard: z.number().int().min(0).max(momentMax).nullable(),
});

const seenKey = ({ chat, id }: { chat: { id: string }; id: string }) => `${chat.id} ${id}`;

export interface Delivery {
  /** The conversation; null: of no conversation. */
  readonly chat: string | null;
  read(): Promise<readonly ChannelEvent[]>;
}

/** What a socket delivers; `ack` confirms it. */
export interface SocketDelivery {
  readonly type: string;
  readonly body: Readonly<Record<string, unknown>>;
  ack(): void;
}

export interface SocketOptions {
  readonly config: SlackAccountConfig;
  readonly clock: Clock;
  onDelivery(delivery: SocketDelivery): void;
  /** A frame that cannot be understood, and what is wrong with it. */
  onUnreadable(why: string): void;
}

/** An open connection. */
export interface SlackSocket {
  /** Resolves when it has ended. */
  readonly closed: Promise<void>;
  close(): void;
}

export class SlackInbox {
  readonly #context: Context;
  readonly #directory: SlackDirectory;
  readonly #signal: AbortSignal;
  /** The last work of each conversation. */
  readonly #chains = new Map<string, Promise<unknown>>();
  readonly #arrivals = new Map<symbol, Millis>();
  /** Messages that have been delivered, and how they came. */
  readonly #seen = new LRUCache<string, "said" | "read">(atMost(limits.sentTopicsMax));
  /** Since when nothing is known; null: everything has been heard. */
  unheardSince: Millis | null = null;
  /** Until when everything was heard; null: up to now. */
  heardUntil: Millis | null = null;
  /** What must be delivered before what a conversation says now. */
  before: (chat: string) => Promise<void> = async () => undefined;

  constructor(context: Context, directory: SlackDirectory, signal: AbortSignal) {
    this.#context = context;
    this.#directory = directory;
    this.#signal = signal;
  }

  /** Whether so much waits that Slack should not send more. */
  get isFull(): boolean {
    return this.#arrivals.size >= limits.waitingEventsMax;
  }

  /** Whether a message was delivered in this run. `chat` is its id now. */
  hasSeen(chat: string, ts: string): boolean {
    return this.#seen.has(`${this.#directory.firstId(chat)} ${ts}`);
  }

  get cursor(): string {
    const { clock } = this.#context;
    const times = [this.heardUntil ?? clock.now(), ...this.#arrivals.values()];
    const heard = this.unheardSince ?? Math.min(...times);
    return JSON.stringify({ heard, ...this.#directory.known });
  }

  /** Until when the account has listened in earlier runs; null: never. */
  load(stored: string | null): Millis | null {
    if (stored === null) return null;
    try {
      const { heard, ...known } = cursorSchema.parse(JSON.parse(stored));
      this.#directory.load(known);
      return heard;
    } catch {
      // Only another program, or a newer earshot, has written this.
      this.#context.log("error", "slack.cursor-unreadable", { units: stored.length });
      return null;
    }
  }

  /**
   * Resolves when it is durable or skipped. With `once` it rejects with the error of a store that
   * accepts nothing now; otherwise it tries again.
   */
  async take({ chat, read }: Delivery, once = false): Promise<void> {
    const key = Symbol();
    this.#arrivals.set(key, this.#context.clock.now());
    const work = async () => {
      if (chat !== null) await this.before(chat);
      this.#signal.throwIfAborted();
      const events = await read();
      // While it waited, it may have been read from the history.
      const fresh = events.filter(
        (event) => event.type !== "message" || this.#seen.get(seenKey(event.message)) !== "read",
      );
      if (fresh.length > 0) await this.deliver(fresh, once);
    };
    try {
      await this.inOrder(chat, work);
    } finally {
      this.#arrivals.delete(key);
    }
  }

  /** Runs the work after what the conversation has waiting. */
  inOrder<Result>(chat: string | null, work: () => Promise<Result>): Promise<Result> {
    if (chat === null) return work();
    const last = this.#chains.get(chat) ?? Promise.resolve();
    const done = last.then(work, work);
    const settled = done.then(
      () => undefined,
      () => undefined,
    );
    this.#chains.set(chat, settled);
    void settled.then(() => {
      if (this.#chains.get(chat) === settled) this.#chains.delete(chat);
    });
    return done;
  }

  /** Delivers what was read from a history. */
  async recover(events: readonly ChannelEvent[]): Promise<void> {
    await this.deliver(events);
    for (const event of events)
      if (event.type === "message") this.#seen.set(seenKey(event.message), "read");
  }

  /** Delivers events, as soon as they are accepted. `once`: @throws EarshotError when they are not now */
  async deliver(events: readonly ChannelEvent[], once = false): Promise<void> {
    const { context, signal } = { context: this.#context, signal: this.#signal };
    for (let failures = 0; ; failures += 1) {
      try {
        const accepted = await deliverEach(context, events, {
          channel: "slack",
          cursor: this.cursor,
        });
        for (const event of accepted)
          if (event.type === "message") this.#seen.set(seenKey(event.message), "said");
        return;
      } catch (error) {
        if (!isLater(error)) {
          logRefused(context, "slack", error);
          return;
        }
        if (failures === 0) context.log("warn", "slack.intake-closed", { error: error.code });
        if (once) throw error;
        await backOff(context, backoff, failures, signal);
        signal.throwIfAborted();
      }
    }
  }
}
