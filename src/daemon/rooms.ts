/**
 * The list of rooms
 * =================
 * Every conversation the daemon has heard of, as one small row each. The runtime tells of messages
 * as they are decided; how a room stands (people, credits, guard, state) is asked of its host, and
 * only while somebody watches. Changes are gathered and told at most four times a second, so a
 * thousand messages a second are four frames, and with nobody there they are a few numbers.
 */
import { conversationOf } from "../actors/journal.codec.ts";
import type { RoomTap, Runtime } from "../actors/runtime.types.ts";
import { limits } from "../domain/limits.ts";
import type { Inbound, Millis } from "../domain/message.ts";
import type { Clock, Log, Store, TimerHandle } from "../domain/ports.ts";
import type { StreamLine } from "../domain/stream.ts";
import { tagged } from "./lines.ts";
import { Pulse } from "./rooms.pulse.ts";
import { Room } from "./rooms.room.ts";
import { findBeyond, readJournal } from "./rooms.seed.ts";
import type { RoomCounts, RoomRow, RoomsFrame } from "./rooms.types.ts";

export interface RoomsPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: Pick<Store, "conversations" | "lastSeq" | "scan">;
  readonly glances: Runtime["glances"];
}

/** Takes frames as JSON; one that is slow has to be let go by whoever made it. */
export type FrameReader = (frame: string) => void;

export interface Rooms {
  /** When an account last brought a message; 0: not since the start. */
  heardAt(channel: string, account: string): Millis;
  /** Messages that came again since the start. */
  readonly doubles: number;
  /** What people call a room. */
  titleOf(key: string): string;
  /** Reads, once, what the store knows of the time before this start. */
  remember(): Promise<void>;
  /** Told by the runtime what happens. */
  readonly tap: Required<Pick<RoomTap, "decided" | "ended" | "changed" | "amended">>;
  /** A line of the event stream. */
  readonly line: (line: StreamLine) => void;
  /** Tells the whole list, then `ready`, then changes. Call the answer to end it. */
  watch(reader: FrameReader): () => void;
  /** Rooms as they stand, those heard last first. */
  list(query: RoomQuery): Promise<RoomList>;
}

export interface RoomQuery {
  readonly filter: (row: RoomRow) => boolean;
  /** Look among rooms that are in the store only, too, by their keys. */
  readonly find: string;
  /** Rows left out at the beginning. */
  readonly from: number;
  readonly limit: number;
}

export interface RoomList {
  readonly rows: readonly RoomRow[];
  readonly counts: RoomCounts;
  readonly more: boolean;
}

const frameMs = 250;
const beatMs = 1_000;
/** Rooms in one frame, and in one question to the hosts. */
const frameRooms = 500;
/** A room that was heard within this is spared when the list is full, but not all of them. */
const latelyMs = 60_000;
const sparedMax = 8;
/** A list that could not be read is read again after this. */
const againMs = 1_000;
/** Turns whose first words are waited for at the same time. */
const turnsTimedMax = 1_000;

export function createRooms(ports: RoomsPorts): Rooms {
  return new RoomBook(ports);
}

class RoomBook implements Rooms {
  readonly #ports: RoomsPorts;
  readonly #rooms = new Map<number, Room>();
  readonly #pulse = new Pulse();
  readonly #readers = new Set<FrameReader>();
  readonly #started = new Map<string, Millis>();
  /** Where people speak, to the room that hears it. */
  readonly #places = new Map<string, Room>();
  /** When each account last brought a message. */
  readonly #heard = new Map<string, { at: Millis }>();
  #doubles = 0;
  /** Rooms that changed since they were told. */
  readonly #dirty = new Set<Room>();
  /** Reading what the store has; null: not begun. */
  #memory: Promise<void> | null = null;
  /** Conversations the store knows that are not in the list. */
  #beyond = 0;
  #timer: TimerHandle | null = null;
  #telling = false;
  #beatAt: Millis = 0;

  constructor(ports: RoomsPorts) {
    this.#ports = ports;
  }

  readonly tap: Rooms["tap"] = {
    decided: (conv, key, received, verdict) => {
      const room = this.#rooms.get(conv) ?? this.#add(conv, key);
      const { at, seq, message } = received;
      if (room.firstSeq > seq) room.firstSeq = seq;
      if (room.place === null) {
        room.place = placeOf(message);
        this.#places.set(room.place, room);
      }
      room.note(message, verdict, at);
      room.account ??= this.#accountOf(message);
      room.account.at = at;
      const engaged = verdict.decision === "engage";
      this.#pulse.heard(at, engaged);
      this.#pulse.decidedIn(this.#ports.clock.now() - at);
      if (this.#readers.size > 0) this.#touch(room);
    },
    ended: (message, key, verdict) => {
      const now = this.#ports.clock.now();
      this.#pulse.heard(now, false);
      this.#accountOf(message).at = now;
      if (verdict.decision === "duplicate") this.#doubles += 1;
      const known = key === null ? null : this.#rooms.get(conversationOf(key).conv);
      const room = known ?? this.#places.get(placeOf(message));
      if (room === undefined) return;
      room.note(message, verdict, now);
      if (this.#readers.size > 0) this.#touch(room);
    },
    amended: (conv, messageId, text) => {
      const room = this.#rooms.get(conv);
      if (room?.amend(messageId, text) === true && this.#readers.size > 0) this.#touch(room);
    },
    changed: (conv) => {
      if (this.#readers.size === 0) return;
      const room = this.#rooms.get(conv);
      if (room !== undefined) this.#touch(room);
    },
  };

  readonly line = (line: StreamLine): void => {
    const { kind, line: told } = tagged(line);
    if (kind === "agent_start") {
      if (this.#started.size >= turnsTimedMax) this.#started.clear();
      this.#started.set(told.key, told.t);
    } else if (kind === "send") {
      const since = this.#started.get(told.key);
      if (since !== undefined) this.#pulse.spokeAfter(told.t - since);
      this.#started.delete(told.key);
    } else if (kind === "system" && told.system === "host.lost" && this.#readers.size > 0) {
      // Its conversations are asleep until somebody writes there.
      for (const room of this.#rooms.values()) this.#touch(room);
    }
  };

  get doubles(): number {
    return this.#doubles;
  }

  heardAt(channel: string, account: string): Millis {
    return this.#accountOf({ channel, account }).at;
  }

  titleOf(key: string): string {
    const { conv } = conversationOf(key);
    return (this.#rooms.get(conv) ?? new Room(conv, key)).title;
  }

  watch(reader: FrameReader): () => void {
    let over = false;
    const begin = () => {
      if (over) return;
      this.#tellAll(reader, () => over).catch((error: unknown) => {
        const { clock, log } = this.#ports;
        log("error", "rooms.unreadable", { error: String(error) });
        clock.setTimer(clock.now() + againMs, begin);
      });
    };
    begin();
    return () => {
      over = true;
      this.#readers.delete(reader);
      if (this.#readers.size > 0 || this.#timer === null) return;
      this.#ports.clock.clearTimer(this.#timer);
      this.#timer = null;
      this.#dirty.clear();
    };
  }

  async list({ filter, find, from, limit }: RoomQuery): Promise<RoomList> {
    await this.remember();
    const rooms = this.#byHeard();
    const rows: RoomRow[] = [];
    let skipped = 0;
    for (let at = 0; at < rooms.length && rows.length <= limit; at += frameRooms) {
      const part = rooms.slice(at, at + frameRooms);
      await this.#look(part);
      for (const row of part.map((room) => room.row()).filter(filter))
        if (skipped < from) skipped += 1;
        else if (rows.length <= limit) rows.push(row);
    }
    if (rows.length <= limit && find !== "" && this.#beyond > 0) {
      const known = (conv: number) => this.#rooms.has(conv);
      const most = limit + 1 - rows.length;
      rows.push(...(await findBeyond(this.#ports.store, { known, filter, most })));
    }
    return { rows: rows.slice(0, limit), counts: this.#counts(), more: rows.length > limit };
  }

  #accountOf({ channel, account }: Pick<Inbound, "channel" | "account">): { at: Millis } {
    const name = `${channel}\n${account}`;
    let heard = this.#heard.get(name);
    if (heard === undefined) {
      heard = { at: 0 };
      this.#heard.set(name, heard);
    }
    return heard;
  }

  #add(conv: number, key: string): Room {
    if (this.#rooms.size >= limits.roomsListedMax) this.#dropOne();
    const room = new Room(conv, key);
    this.#rooms.set(conv, room);
    return room;
  }

  /** One that is in the list for long and was not heard lately. */
  #dropOne(): void {
    const lately = this.#ports.clock.now() - latelyMs;
    let spared = 0;
    for (const [conv, room] of this.#rooms) {
      this.#rooms.delete(conv);
      if (room.heardAt < lately || spared >= sparedMax) {
        if (room.place !== null) this.#places.delete(room.place);
        this.#beyond += 1;
        return;
      }
      spared += 1;
      this.#rooms.set(conv, room);
    }
  }

  #touch(room: Room): void {
    this.#dirty.add(room);
  }

  async #tellAll(reader: FrameReader, over: () => boolean): Promise<void> {
    await this.remember();
    if (over()) return;
    const rooms = this.#byHeard();
    // From here on changes reach it, also those of rooms it has not been told of yet.
    this.#readers.add(reader);
    this.#arm();
    for (let at = 0; at < rooms.length && !over(); at += frameRooms) {
      const part = rooms.slice(at, at + frameRooms);
      await this.#look(part);
      if (!over()) reader(text({ type: "rooms", rows: part.map((room) => room.row()) }));
    }
    if (over()) return;
    reader(text(this.#now()));
    reader(text({ type: "ready" }));
  }

  #arm(): void {
    if (this.#timer !== null || this.#readers.size === 0) return;
    const { clock } = this.#ports;
    this.#timer = clock.setTimer(clock.now() + frameMs, () => {
      this.#timer = null;
      void this.#frame();
    });
  }

  /** Tells what changed since the last frame. */
  async #frame(): Promise<void> {
    const { clock, log } = this.#ports;
    if (!this.#telling && this.#dirty.size > 0) {
      this.#telling = true;
      try {
        const changed: Room[] = [];
        for (const room of this.#dirty) {
          changed.push(room);
          this.#dirty.delete(room);
          if (changed.length >= frameRooms) break;
        }
        await this.#look(changed);
        this.#tell({ type: "rooms", rows: changed.map((room) => room.row()) });
      } catch (error) {
        log("error", "rooms.frame", { error: String(error) });
      }
      this.#telling = false;
    }
    if (clock.now() - this.#beatAt >= beatMs) {
      this.#beatAt = clock.now();
      this.#tell(this.#now());
    }
    this.#arm();
  }

  #tell(frame: RoomsFrame): void {
    const told = text(frame);
    for (const reader of this.#readers) reader(told);
  }

  /** Asks how these rooms stand. */
  async #look(rooms: readonly Room[]): Promise<void> {
    const seen = await this.#ports.glances(rooms.map(({ conv }) => conv));
    for (const room of rooms) room.glance = seen.get(room.conv) ?? null;
  }

  #now(): RoomsFrame {
    const now = this.#ports.clock.now();
    return { type: "now", now, counts: this.#counts(), pulse: this.#pulse.view(now) };
  }

  #counts(): RoomCounts {
    let live = 0;
    for (const { glance } of this.#rooms.values()) if (glance !== null) live += 1;
    return { live, asleep: this.#rooms.size - live + this.#beyond };
  }

  #byHeard(): Room[] {
    return [...this.#rooms.values()].sort((a, b) => b.heardAt - a.heardAt);
  }

  /** Reads once what happened before this start. */
  remember(): Promise<void> {
    this.#memory ??= this.#read().catch((error: unknown) => {
      this.#memory = null;
      throw error;
    });
    return this.#memory;
  }

  async #read(): Promise<void> {
    const firstSeq = (conv: number) => this.#rooms.get(conv)?.firstSeq ?? Number.POSITIVE_INFINITY;
    const { rooms, total } = await readJournal(this.#ports.store, firstSeq, this.#pulse);
    for (const older of rooms) {
      const room = this.#rooms.get(older.conv);
      if (room !== undefined) room.precede(older);
      else if (this.#rooms.size < limits.roomsListedMax) this.#rooms.set(older.conv, older);
    }
    this.#beyond = Math.max(0, total - this.#rooms.size);
  }
}

const text = (frame: RoomsFrame): string => JSON.stringify(frame);
const placeOf = ({ channel, account, chat }: Inbound): string =>
  `${channel}\n${account}\n${chat.id}`;
