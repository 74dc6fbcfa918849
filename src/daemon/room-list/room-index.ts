/**
 * The index of rooms
 * ==================
 * Every conversation the daemon knows, updated as people speak, and what the store knows from
 * before. An update moves a few references and checks whether a page shows that room. Hosts are
 * asked for the state of a room (people, credits, guard), and only for rooms that a page shows.
 */
import { conversationOf } from "../../actors/protocol/event-codec.ts";
import type { Runtime } from "../../actors/protocol/runtime.ts";
import type { RuntimeListener } from "../../actors/protocol/runtime-events.ts";
import { limits } from "../../domain/limits.ts";
import type { Inbound, Millis } from "../../domain/message.ts";
import type { Clock, Log, Store } from "../../domain/ports/index.ts";
import type { FilterCounts, RoomCounts } from "../api-types/rooms.ts";
import { ActivityWindow } from "./activity-window.ts";
import { inSlices, readJournal } from "./load-rooms.ts";
import { isDirect, Room } from "./room-row.ts";

export interface RoomListPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: Pick<Store, "conversations" | "lastSeq" | "scan">;
  readonly glances: Runtime["summaries"];
  readonly tally: Runtime["count"];
}

/** What is live, by number, as it was counted last. */
export interface LiveRooms {
  readonly count: number;
  readonly engaged: ReadonlySet<number>;
  readonly guarded: ReadonlySet<number>;
}

/** A room that spoke within this time stays when the list is full, within a limit. */
const latelyMs = 60_000;
const sparedMax = 8;

type RoomListener = Required<Pick<RuntimeListener, "decided" | "ended" | "changed" | "edited">>;

export class RoomIndex {
  readonly activity = new ActivityWindow();
  /** Rooms somebody looks at that changed since this was emptied last. */
  readonly dirty = new Set<Room>();
  /** Pages that look at rooms. */
  pages = 0;
  /** Messages that came again since the start. */
  duplicates = 0;
  /** Grows with everything that may change the order. */
  changes = 0;
  /** Rooms that had to make room for others. */
  drops = 0;
  readonly #ports: RoomListPorts;
  readonly #rooms = new Map<number, Room>();
  /** Where people speak, to the room that hears it. */
  readonly #places = new Map<string, Room>();
  /** When each account last brought a message. */
  readonly #heard = new Map<string, { at: Millis }>();
  #direct = 0;
  /** The journal's end as it was found; what is behind it is noted as it happens. */
  readonly #found: Promise<number>;
  /** Something happened in a room that was not known: the journal has to be asked for all. */
  #missed = false;
  /** Reading what the store has; null: not begun. */
  #memory: Promise<void> | null = null;
  /** Conversations the store knows that are not in the list. */
  #beyond = 0;
  #sorted: { readonly changes: number; readonly rooms: readonly Room[] } | null = null;

  constructor(ports: RoomListPorts) {
    this.#ports = ports;
    this.#found = ports.store.lastSeq().catch(() => Number.POSITIVE_INFINITY);
  }

  readonly listener: RoomListener = {
    decided: (conv, key, received, verdict) => {
      const room = this.#rooms.get(conv) ?? this.#add(new Room(conv, key));
      const { at, seq, message } = received;
      if (room.firstSeq > seq) room.firstSeq = seq;
      if (room.place === null) {
        room.place = placeOf(message);
        this.#places.set(room.place, room);
      }
      room.account ??= this.accountOf(message);
      room.account.at = at;
      this.activity.heard(at, verdict.decision === "engage");
      this.activity.decidedIn(this.#ports.clock.now() - at);
      this.#note(room, message, verdict, at);
    },
    ended: (message, key, verdict) => {
      const now = this.#ports.clock.now();
      this.activity.heard(now, false);
      this.accountOf(message).at = now;
      if (verdict.decision === "duplicate") this.duplicates += 1;
      const known = key === null ? null : this.#rooms.get(conversationOf(key).conv);
      const room = known ?? this.#places.get(placeOf(message));
      if (room !== undefined) this.#note(room, message, verdict, now);
    },
    edited: (conv, messageId, text) => {
      const room = this.#rooms.get(conv);
      if (room === undefined) this.#missed = true;
      else if (room.amend(messageId, text)) this.touch(room);
    },
    changed: (conv) => {
      // Without readers no room is looked up.
      if (this.pages === 0) return;
      const room = this.#rooms.get(conv);
      if (room !== undefined) this.touch(room);
    },
  };

  touch(room: Room): void {
    if (room.eyes > 0) this.dirty.add(room);
  }

  get size(): number {
    return this.#rooms.size;
  }

  get(conv: number): Room | undefined {
    return this.#rooms.get(conv);
  }

  /** The most recently active rooms first. */
  sorted(): readonly Room[] {
    if (this.#sorted?.changes !== this.changes) {
      const rooms = [...this.#rooms.values()].sort((a, b) => b.heardAt - a.heardAt);
      this.#sorted = { changes: this.changes, rooms };
    }
    return this.#sorted.rooms;
  }

  /** Asks how these rooms stand. */
  async look(rooms: readonly Room[]): Promise<void> {
    if (rooms.length === 0) return;
    const seen = await this.#ports.glances(rooms.map(({ conv }) => conv));
    for (const room of rooms) room.glance = seen.get(room.conv) ?? null;
  }

  /** Asks what is live. */
  async live(): Promise<LiveRooms> {
    const { live, engaged, guarded } = await this.#ports.tally();
    return { count: live, engaged: new Set(engaged), guarded: new Set(guarded) };
  }

  counts({ count }: LiveRooms): RoomCounts {
    return { live: count, asleep: Math.max(0, this.#rooms.size + this.#beyond - count) };
  }

  filters({ engaged, guarded }: LiveRooms): FilterCounts {
    const listed = (convs: Iterable<number>): number => {
      let count = 0;
      for (const conv of convs) if (this.#rooms.has(conv)) count += 1;
      return count;
    };
    const [all, direct] = [this.#rooms.size, this.#direct];
    return { all, engaged: listed(engaged), guarded: listed(guarded), direct };
  }

  /** Whether the store has conversations that are not in the list. */
  get hasBeyond(): boolean {
    return this.#beyond > 0;
  }

  accountOf({ channel, account }: Pick<Inbound, "channel" | "account">): { at: Millis } {
    const name = `${channel}\n${account}`;
    let heard = this.#heard.get(name);
    if (heard === undefined) {
      heard = { at: 0 };
      this.#heard.set(name, heard);
    }
    return heard;
  }

  /** Reads once what happened before this start. */
  load(): Promise<void> {
    this.#memory ??= this.#read().catch((error: unknown) => {
      this.#memory = null;
      throw error;
    });
    return this.#memory;
  }

  #note(room: Room, ...what: Parameters<Room["note"]>): void {
    room.note(...what);
    this.changes += 1;
    if (room.eyes > 0) this.dirty.add(room);
  }

  #add(room: Room): Room {
    if (this.#rooms.size >= limits.roomsListedMax) this.#dropOne();
    this.#put(room);
    return room;
  }

  #put(room: Room): void {
    this.#rooms.set(room.conv, room);
    if (isDirect(room)) this.#direct += 1;
    this.changes += 1;
  }

  /** A room that has been in the list for long and did not speak lately. */
  #dropOne(): void {
    const lately = this.#ports.clock.now() - latelyMs;
    let spared = 0;
    for (const [conv, room] of this.#rooms) {
      this.#rooms.delete(conv);
      if (room.heardAt < lately || spared >= sparedMax) {
        if (room.place !== null) this.#places.delete(room.place);
        if (isDirect(room)) this.#direct -= 1;
        room.gone = true;
        this.drops += 1;
        this.#beyond += 1;
        return;
      }
      spared += 1;
      this.#rooms.set(conv, room);
    }
  }

  async #read(): Promise<void> {
    const isWhole = this.drops === 0 && !this.#missed;
    const { rooms, total } = await readJournal(this.#ports.store, {
      upTo: isWhole ? await this.#found : Number.POSITIVE_INFINITY,
      firstSeq: (conv) => this.#rooms.get(conv)?.firstSeq ?? Number.POSITIVE_INFINITY,
      pulse: this.activity,
    });
    await inSlices(rooms, (older) => {
      const room = this.#rooms.get(older.conv);
      if (room !== undefined) room.precede(older);
      else if (this.#rooms.size < limits.roomsListedMax) this.#put(older);
    });
    this.changes += 1;
    this.#beyond = Math.max(0, total - this.#rooms.size);
  }
}

const placeOf = ({ channel, account, chat }: Inbound): string =>
  `${channel}\n${account}\n${chat.id}`;
