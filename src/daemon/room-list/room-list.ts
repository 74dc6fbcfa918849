/**
 * Every conversation the daemon knows, as one small row each: updated by messages (room-index.ts),
 * sent to pages for the rows that they show (subscriptions.ts), and read a page at a time. A
 * thousand messages a second make four frames for each reader; without readers, only counters change.
 */

import { randomUUID } from "node:crypto";
import { conversationOf } from "../../actors/protocol/event-codec.ts";
import type { RuntimeListener } from "../../actors/protocol/runtime-events.ts";
import type { Millis } from "../../domain/message.ts";
import type { StreamLine } from "../../domain/stream.ts";
import type { RoomCounts, RoomRow, RoomsLook } from "../api-types/rooms.ts";
import type { RoomStateName } from "../api-types/values.ts";
import { tagged } from "../events/event-kinds.ts";
import { findBeyond } from "./load-rooms.ts";
import { RoomIndex, type RoomListPorts } from "./room-index.ts";
import { Room } from "./room-row.ts";
import { Subscriptions } from "./subscriptions.ts";
import { type RoomsReader, wordsOf } from "./viewport.ts";

export interface RoomList {
  /** When an account last brought a message; 0: not since the start. */
  heardAt(channel: string, account: string): Millis;
  /** Copies of messages that an account brought since the start. */
  duplicatesOf(channel: string, account: string): number;
  /** Copies of messages received since the start. */
  readonly duplicates: number;
  /** A room's name for people. */
  titleOf(key: string): string;
  /** Reads once what the journal says about the time before this start. */
  load(): Promise<void>;
  /** Receives the runtime's events. */
  readonly listener: RoomIndex["listener"] & Required<Pick<RuntimeListener, "line">>;
  /** Sends the rows of a view, then their changes. The result ends it. */
  watch(reader: RoomsReader, look: RoomsLook): () => void;
  /** Changes the rows that a view shows; false: the view is unknown. */
  look(view: string, look: RoomsLook): boolean;
  /** A page of rows, the most recently active rooms first. */
  list(query: RoomQuery): Promise<RoomListPage>;
}

export interface RoomQuery {
  /** Words to find; rooms that are only in the store are searched by their keys. */
  readonly find: string;
  readonly state: RoomStateName | null;
  /** Rows to skip. */
  readonly from: number;
  readonly limit: number;
}

export interface RoomListPage {
  readonly rows: readonly RoomRow[];
  readonly counts: RoomCounts;
  readonly more: boolean;
}

/** Rooms in one request to the hosts. */
const askedRooms = 500;
/** At most so many turns are timed at once. */
const turnsTimedMax = 1_000;

export function createRoomList(ports: RoomListPorts): RoomList {
  const roomIndex = new RoomIndex(ports);
  const watch = new Subscriptions(ports, roomIndex);
  return {
    listener: { ...roomIndex.listener, line: linesInto(roomIndex) },
    get duplicates() {
      return roomIndex.duplicates;
    },
    heardAt: (channel, account) => roomIndex.accountOf({ channel, account }).at,
    duplicatesOf: (channel, account) => roomIndex.accountOf({ channel, account }).duplicates,
    titleOf(key) {
      const { conv } = conversationOf(key);
      return (roomIndex.get(conv) ?? new Room(conv, key)).title;
    },
    load: () => roomIndex.load(),
    watch: (reader, look) => watch.watch(randomUUID(), reader, look),
    look: (view, look) => watch.look(view, look),
    list: (query) => list(roomIndex, ports, query),
  };
}

/** Times the first part of each turn; updates the rooms of a lost host. */
function linesInto(roomIndex: RoomIndex): (line: StreamLine) => void {
  const started = new Map<string, Millis>();
  return (line) => {
    const { kind, line: event } = tagged(line);
    if (kind === "agent_start") {
      if (started.size >= turnsTimedMax) started.clear();
      started.set(event.key, event.t);
    } else if (kind === "send") {
      const since = started.get(event.key);
      if (since !== undefined) roomIndex.activity.firstTextAfter(event.t - since);
      started.delete(event.key);
    } else if (kind === "system" && event.system === "host.lost" && roomIndex.pages > 0) {
      // Its conversations are passive until the next message.
      for (const room of roomIndex.sorted()) roomIndex.touch(room);
    }
  };
}

async function list(
  roomIndex: RoomIndex,
  { store }: Pick<RoomListPorts, "store">,
  { find, state, from, limit }: RoomQuery,
): Promise<RoomListPage> {
  await roomIndex.load();
  const words = wordsOf(find);
  const rooms = roomIndex.sorted().filter((room) => room.has(words));
  const wanted = limit + 1;
  const rows: RoomRow[] = [];
  let skipped = 0;
  if (state === null) {
    const part = rooms.slice(from, from + wanted);
    await roomIndex.look(part);
    for (const room of part) rows.push(room.row());
    skipped = Math.min(from, rooms.length);
  } else
    for (let at = 0; at < rooms.length && rows.length < wanted; at += askedRooms) {
      const part = rooms.slice(at, at + askedRooms);
      await roomIndex.look(part);
      for (const room of part)
        if (room.state !== state) continue;
        else if (skipped < from) skipped += 1;
        else if (rows.length < wanted) rows.push(room.row());
    }
  const isAsked = state === null || state === "asleep";
  if (rows.length < wanted && isAsked && words.length > 0 && roomIndex.hasBeyond) {
    const known = (conv: number) => roomIndex.get(conv) !== undefined;
    const most = from - skipped + wanted - rows.length;
    const beyond = await findBeyond(store, { known, words, most });
    rows.push(...beyond.slice(from - skipped));
  }
  const counts = roomIndex.counts(await roomIndex.live());
  return { rows: rows.slice(0, limit), counts, more: rows.length > limit };
}
