/**
 * The platforms of a run. One hands its messages over in order and is acknowledged with a cursor, as
 * Telegram; the other pushes each message until it is acknowledged, as Slack, so that messages come
 * late, twice, and in another order. Both keep what the process did to them, also what they did not
 * confirm.
 */
import type { SimulatedClock } from "../../../src/actors/simulation/simulated-clock.ts";
import { EarshotError } from "../../../src/domain/errors.ts";
import { inboundSchema } from "../../../src/domain/message.ts";
import type {
  ChannelEvent,
  ChannelOutbound,
  SendReceipt,
} from "../../../src/domain/ports/index.ts";
import { type Entry, nameOf } from "./history.ts";
import type { Life } from "./life.ts";
import { type Chat, chats, type Happening } from "./plan.ts";

type Saying = Extract<Happening, { does: "say" }>;
type Change = Extract<Happening, { does: "edit" | "delete" }>;
type Order = Extract<Happening, { does: "platform" }>;

/** What a platform hands over. `name`: of a message that was said, which has to be acknowledged. */
interface Update {
  readonly name: string | null;
  readonly event: ChannelEvent;
}

/** A push without an answer is repeated after this time; one that failed, as often as that. */
const pushMsMax = 3_000;
const againMs = [1_000, 2_000, 5_000, 10_000] as const;
const pollMs = 1_000;
const updatesAtOnce = 5;

export class Platforms {
  readonly #clock: SimulatedClock;
  readonly #note: (entry: Entry) => void;
  readonly #life: () => Life | null;
  /** What the polled platform has, in order, and how much of it it knows to be acknowledged. */
  readonly #updates: Update[] = [];
  #acked = 0;
  #polling: Life | null = null;
  #orders: { order: Order; left: number }[] = [];
  /** Accounts without a connection, and how often they lost it. */
  readonly #lost = new Map<string, number>();
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

  isConnected = (channel: string): boolean => !this.#lost.has(channel);

  disconnect(channel: string, forMs: number): void {
    const time = (this.#lost.get(channel) ?? 0) + 1;
    this.#lost.set(channel, time);
    this.#later(forMs, () => {
      if (this.#lost.get(channel) !== time) return;
      this.#lost.delete(channel);
      this.#life()?.runtime.connectionChanged(channel, "default");
    });
  }

  say(saying: Saying): void {
    const chat = chatOf(saying.chat);
    const name = nameOf(chat.id, saying.id);
    this.#add({ at: this.#now(), what: "said", id: name, chat: chat.id });
    this.#later(saying.lateMs, () => {
      const update = { name, event: messageOf(saying) };
      this.#handOver(chat, update, saying.lost);
      for (const ms of saying.copies) this.#later(ms, () => this.#deliver(update).catch(ignored));
    });
  }

  change(change: Change): void {
    this.#handOver(chatOf(change.chat), { name: null, event: changeOf(change) }, 0);
  }

  /** The last updates that were acknowledged come once more. */
  handOverAgain(count: number): void {
    const again = this.#updates.slice(Math.max(0, this.#acked - count), this.#acked);
    const life = this.#life();
    if (again.length === 0 || life === null || !life.isAlive) return;
    const events = again.map(({ event }) => event);
    life.runtime.ingest("telegram", "default", events).catch(ignored);
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
    const mark = async (message: string, on: boolean, signal: AbortSignal) => {
      await this.#meet(channel, signal, () => {
        this.#add({ at: this.#now(), what: "react", message, on });
        return nothing;
      });
    };
    return {
      sendText: ({ id, route, text, signal }) => send(id, route.chat.id, text, signal),
      replyText: ({ id, route, text, signal }) => send(id, route.chat.id, text, signal),
      editText: async ({ id, route, text, signal }) => {
        await this.#meet(channel, signal, () => {
          this.#add({ at: this.#now(), what: "edited", id, chat: route.chat.id, text, now: now() });
          return nothing;
        });
      },
      sendTyping: async ({ chat }, on, signal) => {
        await this.#meet(channel, signal, () => {
          this.#add({ at: this.#now(), what: "typing", chat: chat.id, on });
          return nothing;
        });
      },
      addReaction: ({ chat }, message, _emoji, signal) =>
        mark(nameOf(chat.id, message), true, signal),
      removeReaction: ({ chat }, message, _emoji, signal) =>
        mark(nameOf(chat.id, message), false, signal),
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

  #next(channel: string): Order | null {
    const first = this.#orders.find(({ order }) => order.channel === channel);
    if (first === undefined) return null;
    first.left -= 1;
    if (first.left <= 0) this.#orders = this.#orders.filter((one) => one !== first);
    return first.order;
  }

  #handOver({ channel }: Chat, update: Update, lost: number): void {
    if (channel === "slack") {
      this.#push(update, lost, 0);
      return;
    }
    this.#updates.push(update);
    this.#poll(this.#life());
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
        const events = batch.map(({ event }) => event);
        await life.runtime.ingest("telegram", "default", events, { cursor });
        if (!life.isAlive) return;
        from += batch.length;
        this.#acknowledged(from);
      } catch (error) {
        this.#refused(this.#updates[from ?? 0] ?? null, error);
        await new Promise<void>((resolve) => this.#later(pollMs, resolve));
      }
    }
  }

  /** The cursor at a start: what is before it was acknowledged, and is not delivered again. */
  async #resume(life: Life): Promise<number> {
    const from = Number((await life.cursor("telegram")) ?? 0);
    this.#acknowledged(from);
    return from;
  }

  #acknowledged(upTo: number): void {
    for (const { name } of this.#updates.slice(this.#acked, upTo))
      if (name !== null) this.#add({ at: this.#now(), what: "acked", id: name });
    this.#acked = Math.max(this.#acked, upTo);
  }

  /** Pushes an update until it is acknowledged; the first ones are lost. */
  #push(update: Update, lost: number, tries: number): void {
    let isOver = false;
    const again = (ms: number) => {
      if (isOver) return;
      isOver = true;
      this.#later(ms, () => this.#push(update, lost, tries + 1));
    };
    const pause = againMs[Math.min(tries, againMs.length - 1)] ?? 0;
    this.#later(pushMsMax, () => again(0));
    if (tries < lost) return;
    this.#deliver(update).then(
      (taken) => {
        if (taken) isOver = true;
        else again(pause);
      },
      () => again(pause),
    );
  }

  /** One delivery; false: nobody was there to take it. */
  async #deliver(update: Update): Promise<boolean> {
    const life = this.#life();
    if (life === null || !life.isAlive) return false;
    try {
      await life.runtime.ingest("slack", "default", [update.event]);
    } catch (error) {
      this.#refused(update, error);
      throw error;
    }
    if (!life.isAlive) return false;
    if (update.name !== null) this.#add({ at: this.#now(), what: "acked", id: update.name });
    return true;
  }

  #refused(update: Update | null, error: unknown): void {
    const code = error instanceof EarshotError ? error.code : String(error);
    this.#add({ at: this.#now(), what: "refused", id: update?.name ?? "", code });
  }

  #later(ms: number, work: () => void): void {
    this.#clock.setTimer(this.#clock.now() + ms, work);
  }

  #now = () => this.#clock.now();
  #add = (entry: Entry) => this.#note(entry);
}

const nothing: SendReceipt = { messageIds: [] };
/** Noted where it happened. */
const ignored = () => undefined;

function chatOf(number: number): Chat {
  const chat = chats[number];
  if (chat === undefined) throw new Error(`there is no chat ${number}`);
  return chat;
}

function messageOf({ id, chat, author, text, calls }: Saying): ChannelEvent {
  const { channel, id: chatId, kind } = chatOf(chat);
  const message = inboundSchema.parse({
    channel,
    chat: { id: chatId, kind },
    id,
    author: { id: author, name: author },
    text,
    mentions: calls && kind === "group" ? [{ id: "us", isSelf: true }] : [],
  });
  return { type: "message", message };
}

function changeOf({ does, chat, id }: Change): ChannelEvent {
  const { channel, id: chatId, kind } = chatOf(chat);
  const place = { channel, account: "default", chat: { id: chatId, kind }, thread: null, id };
  return does === "edit"
    ? { type: "edit", edit: { ...place, text: "hello, again" } }
    : { type: "delete", deletion: place };
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const give = () =>
      reject(new EarshotError("EAR_SEND_IN_DOUBT", "Cannot confirm the send: no answer came"));
    if (signal.aborted) give();
    else signal.addEventListener("abort", give, { once: true });
  });
}
