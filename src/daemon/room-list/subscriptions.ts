/**
 * Subscriptions of pages
 * ======================
 * Changes are collected and sent at most four times a second. Each page gets the rows it shows; each
 * row is serialised once for all pages. When a tick comes late because the daemon is busy, the next
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
/** The next tick is delayed by this many times the delay of this one. */
const delayFactor = 4;
/** A page that scrolls or filters is answered immediately, but at most this often. */
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
  #isSending = false;
  /** A view changed while frames were being sent. */
  #moreWanted = false;

  constructor(ports: RoomListPorts, roomIndex: RoomIndex) {
    this.#ports = ports;
    this.#log = ports.log;
    this.#roomIndex = roomIndex;
  }

  /** Starts sending frames; the result stops it. */
  watch(id: string, reader: RoomsReader, look: RoomsLook): () => void {
    const view = new Viewport(this.#roomIndex, reader, look);
    let over = false;
    this.#roomIndex.pages += 1;
    reader.send(text({ type: "open", view: id }));
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

  /** Changes the rows that a view shows; false: the view is unknown. */
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
    if (this.#isSending) this.#moreWanted = true;
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
    this.#waitMs = Math.min(tickMsMax, tickMs + delayFactor * late);
    this.#tickedAt = now;
    this.#isSending = true;
    this.#moreWanted = false;
    try {
      await this.#sendAll(now);
    } catch (error) {
      this.#log("error", "rooms.frame", { error: String(error) });
    }
    this.#isSending = false;
    if (this.#views.size === 0) return this.#rest();
    this.#arm(this.#tickedAt + (this.#moreWanted ? soonMs : this.#waitMs));
  }

  /** Sends what is new to every reader that has taken its last frame. */
  async #sendAll(now: number): Promise<void> {
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
      if (beat !== null && (isBeat || !view.begun)) view.reader.send(beat);
      view.begun = true;
      const frame = view.frame();
      if (frame !== null) view.reader.send(frame);
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
