/**
 * Every conversation the daemon knows: updated as people speak, and loaded from the store for the
 * time before this start. An update moves a few references and checks whether a page shows that room. Hosts are
 * asked for the state of a room (people, credits, guard), and only for rooms that a page shows.
 */
import { conversationOf } from "../../actors/protocol/event-codec.ts";
import type { Runtime } from "../../actors/protocol/runtime.ts";
import type { RuntimeListener } from "../../actors/protocol/runtime-events.ts";
import { limits } from "../../domain/limits.ts";
import type { Inbound, Millis } from "../../domain/message.ts";
import type { Clock, Log, Store } from "../../domain/ports/index.ts";
import { nameOfMessage } from "../../machines/batching/chats.ts";
import type { FilterCounts, RoomCounts } from "../api-types/rooms.ts";
import { ActivityWindow } from "./activity-window.ts";
import { inSlices, readJournal } from "./load-rooms.ts";
import { isDirect, Room } from "./room-row.ts";

export interface RoomListPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: Pick<Store, "conversations" | "lastSeq" | "numberBefore" | "scan">;
  readonly summaries: Runtime["summaries"];
  readonly counts: Runtime["count"];
}

/** Live conversations, as counted last. */
export interface LiveRooms {
  readonly count: number;
  readonly engaged: ReadonlySet<number>;
  readonly guarded: ReadonlySet<number>;
}

/** A room that spoke within this time stays when the list is full, within a limit. */
const latelyMs = 60_000;
const sparedMax = 8;

type RoomListener = Required<
  Pick<RuntimeListener, "decided" | "engagedLate" | "ended" | "changed" | "edited">
>;

/** What is known of an account since the start. */
interface AccountFacts {
  /** When it last brought a message. */
  at: Millis;
  /** Copies of messages that it brought. */
  duplicates: number;
}

export class RoomIndex {
  readonly activity = new ActivityWindow();
  /** Rooms shown on a page that changed since this was last cleared. */
  readonly dirty = new Set<Room>();
  /** Open pages. */
  pages = 0;
  /** Copies of messages received since the start. */
  duplicates = 0;
  /** Incremented by everything that may change the order. */
  changes = 0;
  /** Rooms removed because the list was full. */
  drops = 0;
  readonly #ports: RoomListPorts;
  readonly #rooms = new Map<number, Room>();
  /** Chats, to the room that receives their messages. */
  readonly #places = new Map<string, Room>();
  readonly #accounts = new Map<string, AccountFacts>();
  #direct = 0;
  /** The journal's last row at the start; later rows are noted as they happen. */
  readonly #lastSeqAtStart: Promise<number>;
  /** A change in an unknown room was missed, so the whole journal has to be read. */
  #missed = false;
  /** The load from the store; null: not started. */
  #loading: Promise<void> | null = null;
  /** Conversations the store knows that are not in the list. */
  #beyond = 0;
  #sorted: { readonly changes: number; readonly rooms: readonly Room[] } | null = null;

  constructor(ports: RoomListPorts) {
    this.#ports = ports;
    this.#lastSeqAtStart = ports.store.lastSeq().catch(() => Number.POSITIVE_INFINITY);
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
      this.activity.countMessage(at, verdict.decision === "engage");
      this.activity.decidedIn(this.#ports.clock.now() - at);
      this.#note(room, message, verdict, at);
    },
    engagedLate: (conv, { at, message }, verdict) => {
      const room = this.#rooms.get(conv);
      this.activity.engagedLate(at);
      if (room === undefined) return;
      room.engageLate(nameOfMessage(message), verdict);
      this.touch(room);
    },
    ended: (message, key, verdict) => {
      const now = this.#ports.clock.now();
      this.activity.countMessage(now, false);
      const account = this.accountOf(message);
      account.at = now;
      if (verdict.decision === "duplicate") {
        this.duplicates += 1;
        account.duplicates += 1;
      }
      const known = key === null ? null : this.#rooms.get(conversationOf(key).conv);
      const room = known ?? this.#places.get(placeOf(message));
      if (room !== undefined) this.#note(room, message, verdict, now);
    },
    edited: (conv, message, text) => {
      const room = this.#rooms.get(conv);
      if (room === undefined) this.#missed = true;
      else if (room.amend(message, text)) this.touch(room);
    },
    changed: (conv) => {
      // Without readers no room is looked up.
      if (this.pages === 0) return;
      const room = this.#rooms.get(conv);
      if (room !== undefined) this.touch(room);
    },
  };

  touch(room: Room): void {
    if (room.viewers > 0) this.dirty.add(room);
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

  /** Reads the state of these rooms from their hosts. */
  async look(rooms: readonly Room[]): Promise<void> {
    if (rooms.length === 0) return;
    const summaries = await this.#ports.summaries(rooms.map(({ conv }) => conv));
    for (const room of rooms) room.summary = summaries.get(room.conv) ?? null;
  }

  async live(): Promise<LiveRooms> {
    const { live, engaged, guarded } = await this.#ports.counts();
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

  accountOf({ channel, account }: Pick<Inbound, "channel" | "account">): AccountFacts {
    const name = `${channel}\n${account}`;
    let entry = this.#accounts.get(name);
    if (entry === undefined) {
      entry = { at: 0, duplicates: 0 };
      this.#accounts.set(name, entry);
    }
    return entry;
  }

  /** Reads once what the journal says about the time before this start. */
  load(): Promise<void> {
    this.#loading ??= this.#read().catch((error: unknown) => {
      this.#loading = null;
      throw error;
    });
    return this.#loading;
  }

  #note(room: Room, ...what: Parameters<Room["note"]>): void {
    room.note(...what);
    this.changes += 1;
    if (room.viewers > 0) this.dirty.add(room);
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

  /** Drops an old room without recent messages. */
  #dropOne(): void {
    const lately = this.#ports.clock.now() - latelyMs;
    let spared = 0;
    for (const [conv, room] of this.#rooms) {
      this.#rooms.delete(conv);
      if (room.heardAt < lately || spared >= sparedMax) {
        if (room.place !== null) this.#places.delete(room.place);
        if (isDirect(room)) this.#direct -= 1;
        room.dropped = true;
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
      upTo: isWhole ? await this.#lastSeqAtStart : Number.POSITIVE_INFINITY,
      firstSeq: (conv) => this.#rooms.get(conv)?.firstSeq ?? Number.POSITIVE_INFINITY,
      activity: this.activity,
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
