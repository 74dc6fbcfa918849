/**
 * What was said in the webchat
 * ============================
 * The journal is the only record of the chat, and this is its view of it: the messages taken and
 * the reply parts delivered, in journal order, each under the number of its row. It is read forward
 * from where it stopped, never beyond a number that was durable before the read began, so numbers
 * only grow and a page that has everything up to one of them has missed nothing.
 */
import { conversationOf, decodeEvent } from "../actors/journal.codec.ts";
import { deliveryOf, isText } from "../actors/outbox.body.ts";
import { decodeVerdict, type Verdict } from "../domain/decision.ts";
import type { Millis, Route } from "../domain/message.ts";
import { type EventRow, noConversation, type Store } from "../domain/ports.ts";

/** A person's message. */
export interface TakenEntry {
  readonly kind: "taken";
  readonly n: number;
  readonly id: string;
  readonly at: Millis;
  readonly text: string;
  readonly verdict: Verdict | null;
}
/** A delivered reply part. */
export interface SaidEntry {
  readonly kind: "said";
  readonly n: number;
  readonly id: string;
  readonly at: Millis;
  readonly text: string;
  readonly replyTo: string | null;
  readonly turnId: string;
}
export type WebchatEntry = TakenEntry | SaidEntry;

/** Entries kept for pages that come later. */
const entriesCountMax = 1_000;
/** Journal rows looked through at the first read. */
const rowsBackMax = 200_000;

export interface WebchatLogOptions {
  readonly store: Pick<Store, "tail" | "lastSeq" | "outboxRow" | "eventsByMessage">;
  /** Session keys the chat is part of now; one for each agent that hears it. */
  readonly keys: () => readonly string[];
  readonly isHere: (place: Pick<Route, "channel" | "chat">) => boolean;
}

export interface WebchatLog {
  /** Reads what is new. Calls that come while a read is under way share the next one. */
  refresh(): Promise<void>;
  /** Entries with a greater number, in order. */
  after(n: number): readonly WebchatEntry[];
  /** The entry of this kind and id, or null. */
  find(kind: WebchatEntry["kind"], id: string): WebchatEntry | null;
  /** The messages, in order. */
  taken(): readonly TakenEntry[];
  /**
   * Takes in a message that no conversation hears (a command), and gives it; null if there is
   * none, or it is here already.
   */
  take(id: string): Promise<WebchatEntry | null>;
  /** A message's verdict became known after it was read. */
  decided(id: string, verdict: Verdict): void;
  /** The turn that was granted last, as far as it was read. */
  lastTurn(): string | null;
  /** The number up to which everything was read. */
  readTo(): number;
}

export function createWebchatLog({ store, keys, isHere }: WebchatLogOptions): WebchatLog {
  let entries: WebchatEntry[] = [];
  let readTo = -1;
  let turn: string | null = null;

  const find: WebchatLog["find"] = (kind, id) =>
    entries.findLast((entry) => entry.kind === kind && entry.id === id) ?? null;

  async function entryOf(row: EventRow): Promise<WebchatEntry | null> {
    const event = decodeEvent(row);
    if (event.type === "lane.granted") turn = event.turnId;
    if (event.type === "message.received" && isHere(event.message)) {
      const { id, text } = event.message;
      const verdict = row.code === null ? null : decodeVerdict(row.code);
      return { kind: "taken", n: row.seq, id, at: event.at, text, verdict };
    }
    if (event.type !== "delivery.sent") return null;
    const id = `${event.turnId}:${event.index}`;
    const sent = await store.outboxRow(id);
    const delivery = sent === null ? null : deliveryOf(sent);
    if (delivery === null || !isText(delivery) || !isHere(delivery.body.route)) return null;
    const { text, replyTo } = delivery.body;
    return { kind: "said", n: row.seq, id, at: event.at, text, replyTo, turnId: event.turnId };
  }

  async function read(): Promise<void> {
    const limit = await store.lastSeq();
    const from = readTo >= 0 ? readTo : Math.max(0, limit - rowsBackMax);
    const tails = await Promise.all(
      keys().map((key) => store.tail(conversationOf(key).conv, from)),
    );
    const rows = tails
      .flat()
      .filter((row) => row.seq <= limit)
      .sort((a, b) => a.seq - b.seq);
    for (const row of rows) {
      const entry = await entryOf(row);
      if (entry !== null && find(entry.kind, entry.id) === null) entries.push(entry);
    }
    readTo = limit;
    entries = entries.slice(-entriesCountMax);
  }

  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  const start = (): Promise<void> => {
    next = null;
    running = read().finally(() => {
      running = null;
    });
    return running;
  };
  return {
    refresh() {
      if (running === null) return start();
      next ??= running.catch(() => undefined).then(start);
      return next;
    },
    after: (n) => entries.filter((entry) => entry.n > n),
    find,
    taken: () => entries.filter((entry) => entry.kind === "taken"),
    async take(id) {
      for (const row of await store.eventsByMessage(id)) {
        const entry = row.conv === noConversation ? await entryOf(row) : null;
        if (entry === null || find(entry.kind, id) !== null) continue;
        entries = [...entries, entry].sort((a, b) => a.n - b.n).slice(-entriesCountMax);
        return entry;
      }
      return null;
    },
    decided(id, verdict) {
      entries = entries.map((entry) =>
        entry.kind === "taken" && entry.id === id ? { ...entry, verdict } : entry,
      );
    },
    lastTurn: () => turn,
    readTo: () => Math.max(0, readTo),
  };
}
