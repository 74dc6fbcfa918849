/**
 * Live conversations
 * ==================
 * The actors of one host. Those with pending work are in a list of their own and cannot be evicted;
 * the idle ones are in an lru-cache. An evicted conversation with a short tail is just dropped:
 * record and tail restore it. Another stays as a record ("passivating") until the supervisor has
 * made that record durable and says `forget`, so an event that is already on its way still finds
 * it.
 */
import { LRUCache } from "lru-cache";
import { atMost } from "../../domain/limits.ts";
import type { Millis } from "../../domain/message.ts";
import type { ConversationSettings } from "../../domain/settings.ts";
import type { Effect } from "../../machines/events/effects.ts";
import type { JournalEvent } from "../../machines/events/events.ts";
import type { ConversationCount, ConversationSummary } from "../protocol/conversation-summary.ts";
import type { InspectedActor } from "./actor-inspector.ts";

/** What a host needs of a conversation (conversation-actor.ts implements it). */
export interface LiveConversation {
  step(event: JournalEvent, settings?: ConversationSettings): readonly Effect[];
  record(): string;
  /** Nothing is pending: may be passivated. */
  readonly idle: boolean;
  /** Its loop guard holds it: tripped or muted. */
  readonly guarded: boolean;
  /** For lists. */
  summary(now: Millis): ConversationSummary;
  /** Starts an inspection. */
  inspect(): InspectedActor;
  stop(): void;
}

/** A live conversation and the last event that it has applied. */
export interface Slot {
  readonly conv: number;
  readonly key: string;
  readonly actor: LiveConversation;
  settings: ConversationSettings;
  /** The last event stepped. */
  seq: number;
  /** The last event that the store's record covers, as far as this host knows. */
  recordSeq: number;
  /** Events since that record. */
  steps: number;
  /** The list that it is in; null: not placed yet. */
  list: "engaged" | "idle" | null;
}

/** An evicted conversation whose record may not be durable yet. */
export interface Passivating {
  readonly key: string;
  readonly record: string;
  readonly seq: number;
}

export class ConversationCache {
  readonly #engaged = new Map<number, Slot>();
  readonly #idle: LRUCache<number, Slot>;
  readonly #passivating = new Map<number, Passivating>();
  readonly #wantsRecord: (slot: Slot) => boolean;
  readonly #onEvict: (slot: Slot, record: string | null) => void;

  /** `onEvict` is called for each evicted conversation, with its record if one is needed. */
  constructor(
    max: number,
    wantsRecord: (slot: Slot) => boolean,
    onEvict: (slot: Slot, record: string | null) => void,
  ) {
    this.#wantsRecord = wantsRecord;
    this.#onEvict = onEvict;
    this.#idle = new LRUCache<number, Slot>({
      ...atMost(max),
      dispose: (slot, _conv, reason) => {
        if (reason === "evict") this.#passivate(slot, this.#wantsRecord(slot));
      },
    });
  }

  get size(): number {
    return this.#engaged.size + this.#idle.size;
  }

  get(conv: number): Slot | undefined {
    return this.#engaged.get(conv) ?? this.#idle.get(conv);
  }

  /** The same without marking it as recently used. */
  peek(conv: number): Slot | undefined {
    return this.#engaged.get(conv) ?? this.#idle.peek(conv);
  }

  /** All of them, those with pending work first, the least recently used last. */
  *slots(): Generator<Slot> {
    yield* this.#engaged.values();
    yield* this.#idle.values();
  }

  count(): ConversationCount {
    const guarded: number[] = [];
    for (const { conv, actor } of this.slots()) if (actor.guarded) guarded.push(conv);
    return { live: this.size, engaged: [...this.#engaged.keys()], guarded };
  }

  /** Files a slot by its state; evicts the least recently used idle one if there are too many. */
  place(slot: Slot): void {
    const { conv, list } = slot;
    const wanted = slot.actor.idle ? "idle" : "engaged";
    // Mostly it is there: looking that up among ten thousands takes longer than to remember it.
    if (list === wanted) return;
    slot.list = wanted;
    if (wanted === "idle") {
      if (list !== null) this.#engaged.delete(conv);
      this.#idle.set(conv, slot);
    } else {
      if (list !== null) this.#idle.delete(conv);
      this.#engaged.set(conv, slot);
    }
  }

  /** Ends an actor without a record. */
  drop(conv: number): void {
    this.#passivating.delete(conv);
    const slot = this.get(conv);
    if (slot === undefined) return;
    slot.actor.stop();
    if (slot.list === "engaged") this.#engaged.delete(conv);
    else this.#idle.delete(conv);
  }

  /** Restores an evicted conversation, if it is still in memory. */
  revive(conv: number): Passivating | undefined {
    const found = this.#passivating.get(conv);
    this.#passivating.delete(conv);
    return found;
  }

  has(conv: number): boolean {
    return this.#engaged.has(conv) || this.#idle.has(conv);
  }

  forget(conv: number): void {
    this.#passivating.delete(conv);
  }

  /** Evicts every idle conversation, with a record. */
  passivateIdle(): void {
    for (const slot of [...this.#idle.values()]) {
      this.#idle.delete(slot.conv);
      this.#passivate(slot, true);
    }
  }

  #passivate(slot: Slot, wantsRecord: boolean): void {
    const record = wantsRecord ? slot.actor.record() : null;
    slot.actor.stop();
    if (record !== null) this.#passivating.set(slot.conv, { key: slot.key, record, seq: slot.seq });
    this.#onEvict(slot, record);
  }
}
