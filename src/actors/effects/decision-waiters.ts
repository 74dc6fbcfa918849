/**
 * Waiting for decisions
 * =====================
 * A caller may ask to be answered with the decisions on its messages, not only with their durability.
 * It is registered before they are stored, because a decision may arrive before the store's answer. A
 * call waits for all of its messages at once: one promise, and one small object for each message.
 */
import type { Verdict } from "../../domain/decision.ts";
import { type ChatPlace, inOneChat } from "../../domain/message.ts";
import type { NewEvent } from "../protocol/event-codec.ts";
import type { RuntimeEvents, RuntimeListener } from "../protocol/runtime-events.ts";

export interface DecisionWaiter {
  /**
   * The decisions on the events, in their order. Null: the runtime stopped first, or the caller gave up.
   */
  readonly decisions: Promise<readonly (Verdict | null)[]>;
  /** Does not wait for the event at this place: it was a copy, and nobody decides it again. */
  skip(place: number): void;
  giveUp(): void;
}

export interface DecisionWaiters {
  /** Waits for the decision on each of these events. */
  expect(events: readonly NewEvent[]): DecisionWaiter;
  /** Releases all waiters. */
  stop(): void;
}

/** One message that a call waits for, and who else waits for one with the same id. */
interface Awaited {
  readonly call: Call;
  readonly place: number;
  /** A session may hold several chats, each with ids of its own; null: it is of no chat. */
  readonly chat: ChatPlace | null;
  readonly next: Awaited | null;
}

/** Takes a call from those that wait, with all of its messages or the one at a place. */
type Leave = (call: Call, place?: number) => void;

/** The messages of one caller. */
class Call implements DecisionWaiter {
  readonly decisions: Promise<readonly (Verdict | null)[]>;
  readonly names: readonly string[];
  /** By place; undefined: it is waited for. */
  readonly #verdicts: (Verdict | null | undefined)[];
  readonly #leave: Leave;
  #open: number;
  #done: (verdicts: readonly (Verdict | null)[]) => void = () => undefined;

  constructor(names: readonly string[], leave: Leave) {
    this.names = names;
    this.#leave = leave;
    this.#verdicts = new Array<undefined>(names.length).fill(undefined);
    this.#open = names.length;
    this.decisions = new Promise((resolve) => {
      this.#done = resolve;
    });
    if (names.length === 0) this.end();
  }

  decided(place: number, verdict: Verdict | null): void {
    if (this.#open === 0 || this.#verdicts[place] !== undefined) return;
    this.#verdicts[place] = verdict;
    this.#open -= 1;
    if (this.#open === 0) this.end();
  }

  /** Answers with what is decided by now. */
  end(): void {
    this.#open = 0;
    this.#done(this.#verdicts.map((verdict) => verdict ?? null));
  }

  skip(place: number): void {
    if (this.#open === 0 || this.#verdicts[place] !== undefined) return;
    this.#leave(this, place);
    this.decided(place, null);
  }

  giveUp(): void {
    if (this.#open === 0) return;
    this.end();
    this.#leave(this);
  }
}

/** Listens to decisions only while a caller waits for one. */
export function createWaiters(events: Pick<RuntimeEvents, "add">): DecisionWaiters {
  const waiting = new Map<string, Awaited>();
  let stopListening: (() => void) | null = null;
  const nameOf = (conv: number, messageId: string | null) => `${conv} ${messageId}`;

  const listener: RuntimeListener = {
    decided(conv, _key, { message }, verdict) {
      const name = nameOf(conv, message.id);
      const first = waiting.get(name);
      if (first === undefined) return;
      const isIt = ({ chat }: Awaited) => chat === null || inOneChat(chat, message);
      keep(name, without(first, isIt));
      for (let one: Awaited | null = first; one !== null; one = one.next)
        if (isIt(one)) one.call.decided(one.place, verdict);
      listenIfAsked();
    },
  };

  function listenIfAsked(): void {
    if (waiting.size > 0) stopListening ??= events.add(listener);
    else {
      stopListening?.();
      stopListening = null;
    }
  }

  function keep(name: string, others: Awaited | null): void {
    if (others === null) waiting.delete(name);
    else waiting.set(name, others);
  }

  const leave: Leave = (call, place) => {
    const goes = (one: Awaited) => one.call === call && (place ?? one.place) === one.place;
    const names = place === undefined ? call.names : call.names.slice(place, place + 1);
    for (const name of names) keep(name, without(waiting.get(name) ?? null, goes));
    listenIfAsked();
  };

  return {
    expect(asked) {
      const names = asked.map(({ write }) => nameOf(write.conv, write.messageId));
      const call = new Call(names, leave);
      asked.forEach(({ event }, place) => {
        const name = names[place] as string;
        const chat = event.type === "message.received" ? event.message : null;
        waiting.set(name, { call, place, chat, next: waiting.get(name) ?? null });
      });
      listenIfAsked();
      return call;
    },
    stop() {
      for (const first of waiting.values())
        for (let one: Awaited | null = first; one !== null; one = one.next) one.call.end();
      waiting.clear();
      listenIfAsked();
    },
  };
}

/** Those who wait on, without the ones that go. */
function without(first: Awaited | null, goes: (one: Awaited) => boolean): Awaited | null {
  if (first === null) return null;
  const next = without(first.next, goes);
  if (goes(first)) return next;
  return next === first.next ? first : { ...first, next };
}
