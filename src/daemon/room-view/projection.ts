/**
 * Projection of a conversation
 * ============================
 * Replays snapshot and journal tail through the same pure machine as the host, without effects, so a
 * page shows the exact state without a request to the host. Only applied events are stepped, which
 * keeps a poisonous event away from this thread. It exists only while a page shows the room.
 */
import { setImmediate } from "node:timers/promises";
import type { Conversation } from "../../actors/host/conversation-actor.ts";
import type { ConfigHistory } from "../../actors/journal/config-versions.ts";
import {
  type ReplayedConversation,
  replayConversation,
} from "../../actors/journal/replayed-conversation.ts";
import type { Millis } from "../../domain/message.ts";
import type { ConversationRow, EventRow, Store } from "../../domain/ports/index.ts";
import type { Effect } from "../../machines/events/effects.ts";
import type { JournalEvent } from "../../machines/events/events.ts";
import type { ReplyEntry, RoomState } from "../api-types/room.ts";
import type { RoomTransition } from "../api-types/room-transitions.ts";
import { TransitionLog, transitionsMax, transitionsUpTo } from "./transitions.ts";

export interface ProjectionPorts {
  readonly store: Pick<Store, "tail" | "lastSeqOf">;
  readonly configs: ConfigHistory;
}

export interface RoomProjection {
  readonly conversation: Conversation;
  /** The last stepped event. */
  readonly seq: number;
  readonly since: Millis | null;
  readonly trail: RoomState["trail"];
  /** When the running turn began; null: before this projection. */
  readonly turnSince: Millis | null;
  readonly attempt: number;
  credited(seq: number): ReplyEntry["credited"];
  /** The last transitions, oldest first. */
  transitions(): Promise<readonly RoomTransition[]>;
  /**
   * Steps the events applied since and returns their rows. `more`: further rows are journalled and
   * not applied yet.
   */
  advance(): Promise<{ readonly rows: readonly EventRow[]; readonly more: boolean }>;
  stop(): void;
}

const yieldEvery = 256;
const trailLength = 6;
const creditedMax = 512;

/** Replays a conversation up to now. */
export async function openProjection(
  ports: ProjectionPorts,
  row: ConversationRow,
): Promise<RoomProjection> {
  const fold = new ConversationProjection(ports, row);
  await fold.open(row);
  return fold;
}

class ConversationProjection implements RoomProjection {
  readonly #ports: ProjectionPorts;
  readonly #key: string;
  readonly #conv: number;
  readonly #credited = new Map<number, ReplyEntry["credited"]>();
  readonly #transitions = new TransitionLog();
  /** Those before the snapshot that was loaded, read once; null: all were replayed. */
  #before: (() => Promise<readonly RoomTransition[]>) | null = null;
  #replay: ReplayedConversation | null = null;
  /** The last row that was read. */
  #readTo = 0;
  seq = 0;
  since: Millis | null = null;
  trail: RoomState["trail"] = [];
  turnSince: Millis | null = null;
  attempt = 1;

  constructor(ports: ProjectionPorts, { key, conv }: ConversationRow) {
    this.#ports = ports;
    this.#key = key;
    this.#conv = conv;
  }

  get conversation(): Conversation {
    return (this.#replay as ReplayedConversation).conversation;
  }

  async open(row: ConversationRow): Promise<void> {
    const { record, recordSeq } = row;
    const { configs } = this.#ports;
    const rows = await this.#ports.store.tail(this.#conv, recordSeq);
    const from = { key: this.#key, version: rows[0]?.cfg ?? 0 };
    try {
      this.#replay = await replayConversation(configs, { ...from, record });
      this.seq = recordSeq;
      if (record !== null) this.#before = once(() => transitionsUpTo(this.#ports, row));
    } catch {
      // Another version wrote the snapshot: as on the host, the whole journal is replayed.
      this.#replay = await replayConversation(configs, { ...from, record: null });
    }
    this.#transitions.begin(this.conversation);
    this.#readTo = this.seq;
    await this.advance();
  }

  async transitions(): Promise<readonly RoomTransition[]> {
    const { items } = this.#transitions;
    if (items.length >= transitionsMax || this.#before === null) return items;
    const before = await this.#before();
    return [...before, ...this.#transitions.items].slice(-transitionsMax);
  }

  credited = (seq: number): ReplyEntry["credited"] => this.#credited.get(seq) ?? [];

  async advance(): Promise<{ readonly rows: readonly EventRow[]; readonly more: boolean }> {
    const { store, configs } = this.#ports;
    const upTo = await store.lastSeqOf(this.#conv);
    const found = await store.tail(this.#conv, this.#readTo, upTo + 1);
    const waiting = found.findIndex(({ code }) => code === null);
    const rows = waiting === -1 ? found : found.slice(0, waiting);
    await configs.load(rows.map(({ cfg }) => cfg));
    for (const [index, row] of rows.entries()) {
      if (index % yieldEvery === yieldEvery - 1) await setImmediate();
      this.#step(row);
      this.seq = row.seq;
    }
    this.#readTo = waiting === -1 ? upTo : this.seq;
    return { rows, more: waiting !== -1 };
  }

  #step(row: EventRow): void {
    const { context } = this.conversation;
    const before = { attention: this.conversation.view().attention, ledger: context.ledger };
    const step = this.#replay?.step(row, (event) =>
      this.#transitions.note(row.seq, event, this.conversation),
    );
    if (step === null || step === undefined) return;
    const { effects, event } = step;
    this.#noteTurn(effects, event);
    const { attention } = this.conversation.view();
    if (attention !== before.attention) {
      const left = { attention: before.attention, until: event.at };
      this.trail = [...this.trail, left].slice(-trailLength);
      this.since = event.at;
    }
    if (event.type === "delivery.sent") this.#noteCredits(row.seq, before.ledger, event.at);
  }

  #noteTurn(effects: readonly Effect[], { at }: JournalEvent): void {
    for (const effect of effects) {
      if (effect.type !== "turn.run") continue;
      if (effect.attempt === 1) this.turnSince = at;
      this.attempt = effect.attempt;
    }
  }

  #noteCredits(seq: number, before: Readonly<Record<string, Millis>>, at: Millis): void {
    const { ledger, participants } = this.conversation.context;
    const names = new Map(participants.map(({ id, name }) => [id, name]));
    const granted = Object.entries(ledger).flatMap(([id, endsAt]) =>
      before[id] === endsAt ? [] : { name: names.get(id) ?? id, ms: endsAt - at },
    );
    if (granted.length === 0) return;
    if (this.#credited.size >= creditedMax)
      this.#credited.delete(this.#credited.keys().next().value as number);
    this.#credited.set(seq, granted);
  }

  stop(): void {
    this.#replay?.conversation.stop();
  }
}

/** Asks once; what failed is asked again. */
function once<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let reading: Promise<Value> | null = null;
  return () => {
    reading ??= read().catch((error: unknown) => {
      reading = null;
      throw error;
    });
    return reading;
  };
}
