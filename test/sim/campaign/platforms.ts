/**
 * The platforms of a run. One hands its messages over in order and is acknowledged with a cursor, as
 * Telegram; the other pushes each message until it is acknowledged, as Slack, so that messages come
 * late, twice, and in another order. Both keep what the process did to them, also what they did not
 * confirm.
 */
import type { SimulatedClock } from "../../../src/actors/simulation/simulated-clock.ts";
import { EarshotError } from "../../../src/domain/errors.ts";
import { type Inbound, inboundSchema } from "../../../src/domain/message.ts";
import type {
  ChannelEvent,
  ChannelOutbound,
  SendReceipt,
} from "../../../src/domain/ports/index.ts";
import type { Entry } from "./history.ts";
import type { Life } from "./life.ts";
import { chats, type Fate, type Happening } from "./plan.ts";

type Saying = Extract<Happening, { does: "say" }>;
type Order = Extract<Happening, { does: "platform" }>;

/** A push without an answer is repeated after this time; one that failed, as often as that. */
const pushMsMax = 3_000;
const againMs = [1_000, 2_000, 5_000, 10_000] as const;
const pollMs = 1_000;
const updatesAtOnce = 5;

export class Platforms {
  readonly #clock: SimulatedClock;
  readonly #note: (entry: Entry) => void;
  readonly #life: () => Life | null;
  /** What the polled platform has, in order. */
  readonly #updates: Saying[] = [];
  /** How many of them it knows to be acknowledged. */
  #acked = 0;
  #polling: Life | null = null;
  #orders: { order: Order; left: number }[] = [];
  #shown = 0;

  constructor(clock: SimulatedClock, note: (entry: Entry) => void, life: () => Life | null) {
    this.#clock = clock;
    this.#note = note;
    this.#life = life;
  }

  order(order: Order): void {
    this.#orders.push({ order, left: order.calls });
  }

  heal(): void {
    this.#orders = [];
  }

  say(saying: Saying): void {
    const { id, chat } = saying;
    this.#add({ at: this.#now(), what: "said", id, chat: chats[chat]?.id ?? "" });
    this.#later(saying.lateMs, () => {
      if (chats[chat]?.channel === "telegram") {
        this.#updates.push(saying);
        this.#poll(this.#life());
        return;
      }
      this.#push(saying, 0);
      for (const ms of saying.copies) this.#later(ms, () => this.#deliver(saying).catch(ignored));
    });
  }

  /** A process is ready: the polled platform is asked from its cursor on. */
  connect(life: Life): void {
    this.#poll(life);
  }

  outbound(channel: string, now: () => number): ChannelOutbound {
    const send = (id: string, chat: string, text: string, signal: AbortSignal) =>
      this.#meet(channel, signal, () => {
        this.#shown += 1;
        this.#add({ at: this.#now(), what: "shown", id, chat, text, now: now() });
        return { messageIds: [`p${this.#shown}`] };
      });
    const mark = (message: string, on: boolean, signal: AbortSignal) =>
      this.#meet(channel, signal, () => {
        this.#add({ at: this.#now(), what: "react", message, on });
        return { messageIds: [] };
      });
    return {
      sendText: ({ id, route, text, signal }) => send(id, route.chat.id, text, signal),
      replyText: ({ id, route, text, signal }) => send(id, route.chat.id, text, signal),
      sendTyping: async ({ chat }, on, signal) => {
        await this.#meet(channel, signal, () => {
          this.#add({ at: this.#now(), what: "typing", chat: chat.id, on });
          return { messageIds: [] };
        });
      },
      addReaction: async (_route, message, _emoji, signal) =>
        void (await mark(message, true, signal)),
      removeReaction: async (_route, message, _emoji, signal) =>
        void (await mark(message, false, signal)),
    };
  }

  /** Performs a call as it was ordered. */
  async #meet(channel: string, signal: AbortSignal, take: () => SendReceipt): Promise<SendReceipt> {
    const order = this.#next(channel);
    if (order === null) return take();
    const { ms } = order;
    switch (order.fate) {
      case "down":
        throw new EarshotError("EAR_CHANNEL_UNAVAILABLE", "Cannot send: no connection");
      case "limited":
        throw new EarshotError("EAR_CHANNEL_RATE", "Cannot send: too many", { retryAfterMs: ms });
      case "refused":
        throw new EarshotError("EAR_CHANNEL_REJECTED", "Cannot send: refused");
      case "hang":
        return aborted(signal);
      case "mute":
        take();
        return aborted(signal);
      case "odd":
        take();
        throw new Error("socket closed");
      case "late": {
        const receipt = take();
        await new Promise<void>((resolve) => this.#later(ms, resolve));
        return receipt;
      }
      case "liar":
        take();
        return { messageIds: ["p1", "p1", ""] };
    }
  }

  #next(channel: string): { fate: Fate; ms: number } | null {
    const first = this.#orders.find(({ order }) => order.channel === channel);
    if (first === undefined) return null;
    first.left -= 1;
    if (first.left <= 0) this.#orders = this.#orders.filter((one) => one !== first);
    return first.order;
  }

  #poll(life: Life | null): void {
    if (life === null || !life.isAlive || this.#polling === life) return;
    this.#polling = life;
    this.#pollAll(life)
      .catch(ignored)
      .finally(() => {
        if (this.#polling === life) this.#polling = null;
      });
  }

  async #pollAll(life: Life): Promise<void> {
    let from: number | null = null;
    while (life.isAlive) {
      try {
        from ??= await this.#resume(life);
        const batch = this.#updates.slice(from, from + updatesAtOnce);
        if (batch.length === 0) return;
        const cursor = { identity: "bot", value: String(from + batch.length) };
        const events = batch.map((one) => this.#event(one));
        await life.runtime.ingest("telegram", "default", events, { cursor });
        if (!life.isAlive) return;
        from += batch.length;
        this.#acked = from;
        for (const { id } of batch) this.#add({ at: this.#now(), what: "acked", id });
      } catch (error) {
        this.#refused(this.#updates[from ?? 0]?.id ?? "", error);
        await new Promise<void>((resolve) => this.#later(pollMs, resolve));
      }
    }
  }

  /** The cursor at a start: what is before it was acknowledged, and is not delivered again. */
  async #resume(life: Life): Promise<number> {
    const from = Number((await life.cursor("telegram")) ?? 0);
    for (const { id } of this.#updates.slice(this.#acked, from))
      this.#add({ at: this.#now(), what: "acked", id });
    this.#acked = Math.max(this.#acked, from);
    return from;
  }

  /** Pushes a message until it is acknowledged. */
  #push(saying: Saying, tries: number): void {
    let isOver = false;
    const again = (ms: number) => {
      if (isOver) return;
      isOver = true;
      this.#later(ms, () => this.#push(saying, tries + 1));
    };
    this.#later(pushMsMax, () => again(0));
    if (tries < saying.lost) return;
    this.#deliver(saying).then(
      (taken) => {
        if (taken) isOver = true;
        else again(againMs[Math.min(tries, againMs.length - 1)] ?? 0);
      },
      () => again(againMs[Math.min(tries, againMs.length - 1)] ?? 0),
    );
  }

  /** One delivery; false: nobody was there to take it. */
  async #deliver(saying: Saying): Promise<boolean> {
    const life = this.#life();
    if (life === null || !life.isAlive) return false;
    try {
      await life.runtime.ingest("slack", "default", [this.#event(saying)]);
    } catch (error) {
      this.#refused(saying.id, error);
      throw error;
    }
    if (!life.isAlive) return false;
    this.#add({ at: this.#now(), what: "acked", id: saying.id });
    return true;
  }

  #event({ id, chat, author, calls }: Saying): ChannelEvent {
    const { channel, id: chatId, kind } = chats[chat] ?? chats[0] ?? never();
    const mentions = calls && kind === "group" ? [{ id: "us", isSelf: true }] : [];
    const message: Inbound = inboundSchema.parse({
      channel,
      chat: { id: chatId, kind },
      id,
      author: { id: author, name: author },
      text: id,
      mentions,
    });
    return { type: "message", message };
  }

  #refused(id: string, error: unknown): void {
    const code = error instanceof EarshotError ? error.code : String(error);
    this.#add({ at: this.#now(), what: "refused", id, code });
  }

  #later(ms: number, work: () => void): void {
    this.#clock.setTimer(this.#clock.now() + ms, work);
  }

  #now = () => this.#clock.now();
  #add = (entry: Entry) => this.#note(entry);
}

/** Noted where it happened. */
const ignored = () => undefined;

function never(): never {
  throw new Error("there is no such chat");
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const give = () =>
      reject(new EarshotError("EAR_SEND_IN_DOUBT", "Cannot confirm the send: no answer came"));
    if (signal.aborted) give();
    else signal.addEventListener("abort", give, { once: true });
  });
}
