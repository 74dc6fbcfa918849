/**
 * Subscriptions of pages
 * ======================
 * Changes are collected and sent at most four times a second: to each page the rows it shows, each
 * row serialised once for all of them. When a tick comes late because the daemon is busy, the next
 * ones are delayed further, so that readers cost less the more there is to do. A page that has not
 * taken its last frame is skipped until it has.
 */
import type { Log, TimerHandle } from "../../domain/ports/index.ts";
import type { RoomsFrame, RoomsLook } from "../api-types/rooms.ts";
import type { LiveRooms, RoomIndex, RoomListPorts } from "./room-index.ts";
import type { Room } from "./room-row.ts";
import { type RoomsReader, Viewport } from "./viewport.ts";

const tickMs = 250;
const tickMsMax = 1_000;
/** How many times as much later the next tick comes than this one came too late. */
const patience = 4;
/** A page that looks elsewhere is answered at once, but not more often than this. */
const soonMs = 30;
const beatMs = 1_000;
/** A list that could not be read is read again after this. */
const againMs = 1_000;

export class Subscriptions {
  readonly #ports: Pick<RoomListPorts, "clock">;
  readonly #log: Log;
  readonly #roomIndex: RoomIndex;
  readonly #views = new Map<string, Viewport>();
  #live: LiveRooms = { count: 0, engaged: new Set(), guarded: new Set() };
  #timer: TimerHandle | null = null;
  #dueAt = 0;
  #tickedAt = Number.NEGATIVE_INFINITY;
  #beatAt = Number.NEGATIVE_INFINITY;
  #waitMs = tickMs;
  #telling = false;
  /** A reader looks elsewhere while frames are being sent. */
  #again = false;

  constructor(ports: RoomListPorts, roomIndex: RoomIndex) {
    this.#ports = ports;
    this.#log = ports.log;
    this.#roomIndex = roomIndex;
  }

  /** Starts sending frames; call the answer to stop. */
  watch(id: string, reader: RoomsReader, look: RoomsLook): () => void {
    const view = new Viewport(this.#roomIndex, reader, look);
    let over = false;
    this.#roomIndex.pages += 1;
    reader.tell(text({ type: "open", view: id }));
    const begin = () => {
      if (over) return;
      this.#roomIndex.load().then(
        () => {
          if (over) return;
          this.#views.set(id, view);
          this.#soon();
        },
        (error: unknown) => {
          const { clock } = this.#ports;
          this.#log("error", "rooms.unreadable", { error: String(error) });
          clock.setTimer(clock.now() + againMs, begin);
        },
      );
    };
    begin();
    return () => {
      if (over) return;
      over = true;
      this.#roomIndex.pages -= 1;
      this.#views.delete(id);
      view.end();
      if (this.#views.size === 0) this.#rest();
    };
  }

  /** Changes what the page of a view looks at; false: there is no such view. */
  look(id: string, look: RoomsLook): boolean {
    const view = this.#views.get(id);
    if (view === undefined) return false;
    view.look(look);
    this.#soon();
    return true;
  }

  #rest(): void {
    if (this.#timer !== null) this.#ports.clock.clearTimer(this.#timer);
    this.#timer = null;
    this.#roomIndex.dirty.clear();
  }

  #soon(): void {
    if (this.#telling) this.#again = true;
    else this.#arm(Math.max(this.#ports.clock.now(), this.#tickedAt + soonMs));
  }

  #arm(at: number): void {
    const { clock } = this.#ports;
    if (this.#timer !== null) {
      if (this.#dueAt <= at) return;
      clock.clearTimer(this.#timer);
    }
    this.#dueAt = at;
    this.#timer = clock.setTimer(at, () => {
      this.#timer = null;
      void this.#tick();
    });
  }

  async #tick(): Promise<void> {
    const { clock } = this.#ports;
    const now = clock.now();
    const late = Math.max(0, now - this.#dueAt);
    this.#waitMs = Math.min(tickMsMax, tickMs + patience * late);
    this.#tickedAt = now;
    this.#telling = true;
    this.#again = false;
    try {
      await this.#tellAll(now);
    } catch (error) {
      this.#log("error", "rooms.frame", { error: String(error) });
    }
    this.#telling = false;
    if (this.#views.size === 0) return this.#rest();
    this.#arm(this.#tickedAt + (this.#again ? soonMs : this.#waitMs));
  }

  /** Sends what is new to every reader that has taken its last frame. */
  async #tellAll(now: number): Promise<void> {
    const views = [...this.#views.values()].filter(({ reader }) => reader.idle());
    const isBeat = now - this.#beatAt >= beatMs;
    if (isBeat || views.some(({ needsLive }) => needsLive))
      this.#live = await this.#roomIndex.live();
    const asked = new Set(this.#roomIndex.dirty);
    this.#roomIndex.dirty.clear();
    for (const view of views) for (const room of view.arrange(this.#live, now)) asked.add(room);
    await this.#ask(asked);
    const beat = isBeat || views.some(({ begun }) => !begun) ? this.#beat() : null;
    if (isBeat) this.#beatAt = now;
    for (const view of views) {
      if (view.over) continue;
      if (beat !== null && (isBeat || !view.begun)) view.reader.tell(beat);
      view.begun = true;
      const frame = view.frame();
      if (frame !== null) view.reader.tell(frame);
    }
  }

  async #ask(rooms: ReadonlySet<Room>): Promise<void> {
    try {
      await this.#roomIndex.look([...rooms]);
    } catch (error) {
      for (const room of rooms) this.#roomIndex.touch(room);
      throw error;
    }
  }

  #beat(): string {
    const now = this.#ports.clock.now();
    const counts = this.#roomIndex.counts(this.#live);
    const filters = this.#roomIndex.filters(this.#live);
    return text({ type: "now", now, counts, filters, pulse: this.#roomIndex.activity.view(now) });
  }
}

const text = (frame: RoomsFrame): string => JSON.stringify(frame);
