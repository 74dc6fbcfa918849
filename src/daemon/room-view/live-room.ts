/**
 * A room that is being watched
 * ============================
 * One replay for all readers of a room. It reads on whenever the runtime has applied an event
 * there, at most four times a second. A reader takes the newest state and the entries it lacks, so
 * a slow reader gets fewer frames and blocks nobody.
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
import type { RoomEntry, RoomHistory, RoomState, RoomWriting } from "../api-types/room.ts";
import { openProjection, type RoomProjection } from "./projection.ts";
import { createOverheardTexts, type OverheardTexts, personOf, stateOf } from "./room-state.ts";
import { entriesOf } from "./transcript-entries.ts";

export interface LivePorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly configs: ConfigHistory;
  /** Something could not be read; the room is then closed for its readers. */
  readonly failed: (error: unknown) => void;
}

/** Between two looks at a room, and two frames of a reader. */
export const frameMs = 250;
/** Entries kept for slow readers; a slower one gets a new `open` frame. */
const entriesKept = 512;
/** Journal numbers looked through at first when going back; it grows from there. */
const firstStride = 512;

export class LiveRoom {
  readonly row: ConversationRow;
  readonly #ports: LivePorts;
  readonly #fold: RoomProjection;
  readonly #texts: OverheardTexts;
  readonly #waiting = new Set<() => void>();
  #entries: RoomEntry[] = [];
  /** Entries after this number are all in `#entries`. */
  #keptFrom: number;
  /** Up to here `#entries` is whole; the fold may be a step ahead. */
  #toldTo: number;
  #writing: RoomWriting | null = null;
  #state: RoomState | null = null;
  #version = 0;
  #timer: TimerHandle | null = null;
  #reading = false;
  #dirty = false;
  #lookedAt: Millis = 0;
  #closed = false;

  private constructor(ports: LivePorts, row: ConversationRow, fold: RoomProjection) {
    this.#ports = ports;
    this.row = row;
    this.#fold = fold;
    this.#texts = createOverheardTexts(ports.store);
    this.#keptFrom = fold.seq;
    this.#toldTo = fold.seq;
  }

  static async open(ports: LivePorts, row: ConversationRow): Promise<LiveRoom> {
    const room = new LiveRoom(ports, row, await openProjection(ports, row));
    // Events applied while it was being opened have not been read.
    room.touch();
    return room;
  }

  /** Grows with every change. */
  get version(): number {
    return this.#version;
  }
  /** The newest event whose entries are known. */
  get seq(): number {
    return this.#toldTo;
  }
  get agentName(): string {
    return this.#fold.conversation.context.settings.agentName;
  }
  get writing(): RoomWriting | null {
    return this.#writing;
  }

  /** Something was applied here, or an answer's way has gone on. */
  touch(): void {
    this.#dirty = true;
    if (this.#timer !== null || this.#reading || this.#closed) return;
    const { clock } = this.#ports;
    const at = Math.max(clock.now(), this.#lookedAt + frameMs);
    this.#timer = clock.setTimer(at, () => {
      this.#timer = null;
      this.#look().catch((error: unknown) => {
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
    this.#state ??= await stateOf(this.#fold, now, this.#texts);
    return { ...this.#state, now };
  }

  /** The entries after a number; null where that is longer ago than what is kept, or ahead. */
  after(seq: number): readonly RoomEntry[] | null {
    if (seq < this.#keptFrom || seq > this.#toldTo) return null;
    return this.#entries.filter((entry) => entry.seq > seq);
  }

  /**
   * At least `limit` lines of talk before a number, if there are as many, looking no further back
   * than `floor`.
   */
  async back(before: number, limit: number, floor = 0): Promise<RoomHistory> {
    let entries: RoomEntry[] = [];
    let upTo = before;
    for (let stride = firstStride; upTo > floor + 1 && talk(entries) < limit; stride *= 4) {
      const from = Math.max(floor, upTo - 1 - stride);
      const rows = await this.#ports.store.tail(this.row.conv, from, upTo);
      entries = [...(await this.#entriesOf(rows)), ...entries];
      upTo = from + 1;
    }
    const { first, more } = newestLines(entries, limit);
    const older = first > 0 ? more : upTo > floor + 1 ? upTo : null;
    return { entries: entries.slice(first), before: older, upTo: before - 1 };
  }

  /** At least `limit` lines of talk after a number, if there are as many by now. */
  async forth(after: number, limit: number): Promise<RoomHistory> {
    const newest = this.#toldTo;
    const entries: RoomEntry[] = [];
    let from = after;
    for (let stride = firstStride; from < newest && talk(entries) < limit; stride *= 4) {
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
    if (!this.#reading) this.#fold.stop();
  }

  async #look(): Promise<void> {
    this.#reading = true;
    this.#dirty = false;
    this.#lookedAt = this.#ports.clock.now();
    try {
      const { rows, more } = await this.#fold.advance();
      if (more) this.#dirty = true;
      if (this.#closed) return;
      await this.#take(rows);
    } finally {
      this.#reading = false;
      if (this.#closed) this.#fold.stop();
    }
    if (this.#dirty) this.touch();
  }

  async #take(rows: readonly EventRow[]): Promise<void> {
    if (rows.length === 0) return;
    const entries = await this.#entriesOf(rows);
    this.#entries.push(...entries);
    this.#toldTo = rows.at(-1)?.seq ?? this.#toldTo;
    const over = this.#entries.length - entriesKept;
    if (over > 0) this.#keptFrom = this.#entries.splice(0, over).at(-1)?.seq ?? this.#keptFrom;
    const { attention, turnId } = this.#fold.conversation.view();
    const isOver = attention !== "engaged.running" || turnId !== this.#writing?.turnId;
    if (isOver) this.#writing = null;
    this.#changed();
  }

  async #entriesOf(rows: readonly EventRow[]): Promise<RoomEntry[]> {
    const { context } = this.#fold.conversation;
    const ports = {
      store: this.#ports.store,
      person: (id: string) => personOf(context, id),
      credited: this.#fold.credited,
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
const talk = (entries: readonly RoomEntry[]) => entries.filter(isTalk).length;

/** Where the newest `limit` lines of talk begin, with what belongs between them. */
function newestLines(all: readonly RoomEntry[], limit: number) {
  let left = limit;
  let first = all.length;
  while (first > 0 && left > 0) {
    first -= 1;
    if (isTalk(all[first] as RoomEntry)) left -= 1;
  }
  // Lines of one row (read history) stay together, so that the next page does not begin inside.
  while (first > 0 && all[first - 1]?.seq === all[first]?.seq) first -= 1;
  return { first, more: all[first]?.seq ?? null };
}

/** Where the oldest `limit` lines of talk end. */
function oldestLines(all: readonly RoomEntry[], limit: number): number {
  let left = limit;
  let end = 0;
  for (; end < all.length && left > 0; end += 1) if (isTalk(all[end] as RoomEntry)) left -= 1;
  while (end > 0 && end < all.length && all[end - 1]?.seq === all[end]?.seq) end += 1;
  return end;
}
