/**
 * A room that is being watched
 * ============================
 * One projection for all readers of a room. It advances when the runtime has applied an event there,
 * at most four times a second. A reader takes the newest state and the entries it lacks, so a slow
 * reader gets fewer frames and delays no other.
 */
import type { ConfigHistory } from "../../actors/journal/config-versions.ts";
import type { Millis } from "../../domain/message.ts";
import type {
  Clock,
  ConversationRow,
  EventRow,
  Store,
  TimerHandle,
} from "../../domain/ports/index.ts";
import type { DeltaLine } from "../../domain/stream.ts";
import { chatOf } from "../../machines/batching/chats.ts";
import type { RoomEntry, RoomHistory, RoomState, RoomWriting } from "../api-types/room.ts";
import type { RoomTransition } from "../api-types/room-transitions.ts";
import { withLateOutcomes } from "./late-outcomes.ts";
import { openProjection, type RoomProjection } from "./projection.ts";
import { createOverheardTexts, type OverheardTexts, personOf, stateOf } from "./room-state.ts";
import { type EntryPorts, entriesOf } from "./transcript-entries.ts";

export interface LivePorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly configs: ConfigHistory;
  /** How long the judge of the room may take, ms. */
  readonly judgeMs: () => number;
  /** Called when reading fails; the room is then closed for its readers. */
  readonly failed: (error: unknown) => void;
}

/** Minimum time between two reads of a room, and between two frames of a reader, ms. */
export const frameMs = 250;
/** Entries buffered for slow readers; a slower one gets a new `open` frame. */
const entriesMax = 512;
/** Journal rows in the first read of history; each further read is four times as large. */
const firstStride = 512;
/** Messages among which the end of a turn is looked for. */
const recentCount = 20;

export class LiveRoom {
  readonly row: ConversationRow;
  readonly #ports: LivePorts;
  readonly #projection: RoomProjection;
  readonly #texts: OverheardTexts;
  readonly #waiting = new Set<() => void>();
  #entries: RoomEntry[] = [];
  /** Entries after this number are all in `#entries`. */
  #entriesFrom: number;
  /** `#entries` is complete up to this number; the projection may be a step ahead. */
  #entriesTo: number;
  #writing: RoomWriting | null = null;
  #state: RoomState | null = null;
  #version = 0;
  #timer: TimerHandle | null = null;
  #reading = false;
  #dirty = false;
  #advancedAt: Millis = 0;
  #closed = false;

  private constructor(ports: LivePorts, row: ConversationRow, fold: RoomProjection) {
    this.#ports = ports;
    this.row = row;
    this.#projection = fold;
    this.#texts = createOverheardTexts(ports.store);
    this.#entriesFrom = fold.seq;
    this.#entriesTo = fold.seq;
  }

  static async open(ports: LivePorts, row: ConversationRow): Promise<LiveRoom> {
    const room = new LiveRoom(ports, row, await openProjection(ports, row));
    // Events applied while it opened have not been read.
    room.touch();
    return room;
  }

  /** Incremented by every change. */
  get version(): number {
    return this.#version;
  }
  /** The newest event whose entries are available. */
  get seq(): number {
    return this.#entriesTo;
  }
  get agentName(): string {
    return this.#projection.conversation.context.settings.agentName;
  }
  get writing(): RoomWriting | null {
    return this.#writing;
  }

  /** An event was applied here, or a delivery changed. */
  touch(): void {
    this.#dirty = true;
    if (this.#timer !== null || this.#reading || this.#closed) return;
    const { clock } = this.#ports;
    const at = Math.max(clock.now(), this.#advancedAt + frameMs);
    this.#timer = clock.setTimer(at, () => {
      this.#timer = null;
      this.#advance().catch((error: unknown) => {
        this.#ports.failed(error);
        this.close();
      });
    });
  }

  /** The running turn's text so far. */
  write({ turnId, text }: DeltaLine): void {
    this.#writing = { turnId, text };
    this.#changed();
  }

  /** The current state; computed again only after a change. */
  async state(): Promise<RoomState> {
    const now = this.#ports.clock.now();
    const { judgeMs } = this.#ports;
    const more = { texts: this.#texts, judgeMs: judgeMs() };
    this.#state ??= await stateOf(this.#projection, now, more);
    return { ...this.#state, now };
  }

  /** The last transitions after a journal number, oldest first. */
  async transitions(after: number): Promise<readonly RoomTransition[]> {
    return (await this.#projection.transitions()).filter(({ seq }) => seq > after);
  }

  /** The entries after a number; null if they are no longer buffered, or not yet known. */
  after(seq: number): readonly RoomEntry[] | null {
    if (seq < this.#entriesFrom || seq > this.#entriesTo) return null;
    return this.#entries.filter((entry) => entry.seq > seq);
  }

  /**
   * At least `limit` messages before a number, if there are as many, reading no further back than
   * `floor`.
   */
  async back(before: number, limit: number, floor = 0): Promise<RoomHistory> {
    let entries: RoomEntry[] = [];
    let upTo = before;
    for (let stride = firstStride; upTo > floor + 1 && countTalk(entries) < limit; stride *= 4) {
      const from = Math.max(floor, upTo - 1 - stride);
      const rows = await this.#ports.store.tail(this.row.conv, from, upTo);
      entries = [...(await this.#entriesOf(rows)), ...entries];
      upTo = from + 1;
    }
    const { first, more } = newestLines(entries, limit);
    const older = first > 0 ? more : upTo > floor + 1 ? upTo : null;
    return { entries: entries.slice(first), before: older, upTo: before - 1 };
  }

  /** At least `limit` messages after a number, if there are as many. */
  async forth(after: number, limit: number): Promise<RoomHistory> {
    const newest = this.#entriesTo;
    const entries: RoomEntry[] = [];
    let from = after;
    for (let stride = firstStride; from < newest && countTalk(entries) < limit; stride *= 4) {
      const upTo = Math.min(newest, from + stride);
      const rows = await this.#ports.store.tail(this.row.conv, from, upTo + 1);
      entries.push(...(await this.#entriesOf(rows)));
      from = upTo;
    }
    const end = oldestLines(entries, limit);
    const upTo = end < entries.length ? (entries[end - 1]?.seq ?? from) : Math.max(from, after);
    return { entries: entries.slice(0, end), before: after + 1, upTo };
  }

  /** Resolves at the next change after `version`, or when closed. */
  changed(version: number): Promise<void> {
    if (this.#closed || this.#version > version) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.add(resolve));
  }

  get closed(): boolean {
    return this.#closed;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#timer !== null) this.#ports.clock.clearTimer(this.#timer);
    this.#wake();
    if (!this.#reading) this.#projection.stop();
  }

  async #advance(): Promise<void> {
    this.#reading = true;
    this.#dirty = false;
    this.#advancedAt = this.#ports.clock.now();
    try {
      const { rows, more } = await this.#projection.advance();
      if (more) this.#dirty = true;
      if (this.#closed) return;
      await this.#take(rows);
    } finally {
      this.#reading = false;
      if (this.#closed) this.#projection.stop();
    }
    if (this.#dirty) this.touch();
  }

  async #take(rows: readonly EventRow[]): Promise<void> {
    if (rows.length === 0) return;
    const entries = await withLateOutcomes(await this.#entriesOf(rows), {
      store: this.#ports.store,
      sent: this.#entries,
      before: async (seq) => (await this.back(seq, recentCount)).entries,
    });
    this.#entries.push(...entries);
    this.#entriesTo = rows.at(-1)?.seq ?? this.#entriesTo;
    const over = this.#entries.length - entriesMax;
    if (over > 0)
      this.#entriesFrom = this.#entries.splice(0, over).at(-1)?.seq ?? this.#entriesFrom;
    const { attention, turnId } = this.#projection.conversation.view();
    const isOver = attention !== "engaged.running" || turnId !== this.#writing?.turnId;
    if (isOver) this.#writing = null;
    this.#changed();
  }

  async #entriesOf(rows: readonly EventRow[]): Promise<RoomEntry[]> {
    const { context } = this.#projection.conversation;
    const ports: EntryPorts = {
      store: this.#ports.store,
      inChat: (place) => {
        const chat = chatOf(context.settings, place);
        return chat === undefined ? {} : { chat };
      },
      person: (id: string) => personOf(context, id),
      credited: this.#projection.credited,
    };
    const entries: RoomEntry[] = [];
    for (const row of rows) entries.push(...(await entriesOf(row, ports)));
    return entries;
  }

  #changed(): void {
    this.#state = null;
    this.#version += 1;
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

const isTalk = ({ kind }: RoomEntry) => kind === "heard" || kind === "said" || kind === "command";
const countTalk = (entries: readonly RoomEntry[]) => entries.filter(isTalk).length;

/** Index of the first of the newest `limit` messages, with the entries between them. */
function newestLines(all: readonly RoomEntry[], limit: number) {
  let left = limit;
  let first = all.length;
  while (first > 0 && left > 0) {
    first -= 1;
    if (isTalk(all[first] as RoomEntry)) left -= 1;
  }
  // Entries of one row (read history) stay together, so that no page starts inside a row.
  while (first > 0 && all[first - 1]?.seq === all[first]?.seq) first -= 1;
  return { first, more: all[first]?.seq ?? null };
}

/** Index after the oldest `limit` messages. */
function oldestLines(all: readonly RoomEntry[], limit: number): number {
  let left = limit;
  let end = 0;
  for (; end < all.length && left > 0; end += 1) if (isTalk(all[end] as RoomEntry)) left -= 1;
  while (end > 0 && end < all.length && all[end - 1]?.seq === all[end]?.seq) end += 1;
  return end;
}
