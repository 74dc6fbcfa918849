/**
 * The list of rooms
 * =================
 * Every conversation the daemon knows, as one small row each: updated by messages (room-index.ts),
 * sent to pages as far as they look (subscriptions.ts), and read a page at a time. A thousand
 * messages a second are four frames for each reader, and without readers a few numbers.
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
  /** Messages that came again since the start. */
  readonly duplicates: number;
  /** What people call a room. */
  titleOf(key: string): string;
  /** Reads, once, what the store knows of the time before this start. */
  load(): Promise<void>;
  /** Told by the runtime what happens. */
  readonly listener: RoomIndex["listener"] & Required<Pick<RuntimeListener, "line">>;
  /** Tells the rows looked at, then what changes in them. Call the answer to end it. */
  watch(reader: RoomsReader, look: RoomsLook): () => void;
  /** Changes what the reader of a view looks at; false: there is no such view. */
  look(view: string, look: RoomsLook): boolean;
  /** A page of rows, the most recently active rooms first. */
  list(query: RoomQuery): Promise<RoomListPage>;
}

export interface RoomQuery {
  /** Look for these words, also among rooms that are in the store only, by their keys. */
  readonly find: string;
  readonly state: RoomStateName | null;
  /** Rows left out at the beginning. */
  readonly from: number;
  readonly limit: number;
}

export interface RoomListPage {
  readonly rows: readonly RoomRow[];
  readonly counts: RoomCounts;
  readonly more: boolean;
}

/** Rooms in one question to the hosts. */
const askedRooms = 500;
/** Turns whose first words are waited for at the same time. */
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

/** How long agents take to their first words; which rooms a lost host leaves asleep. */
function linesInto(roomIndex: RoomIndex): (line: StreamLine) => void {
  const started = new Map<string, Millis>();
  return (line) => {
    const { kind, line: event } = tagged(line);
    if (kind === "agent_start") {
      if (started.size >= turnsTimedMax) started.clear();
      started.set(event.key, event.t);
    } else if (kind === "send") {
      const since = started.get(event.key);
      if (since !== undefined) roomIndex.activity.spokeAfter(event.t - since);
      started.delete(event.key);
    } else if (kind === "system" && event.system === "host.lost" && roomIndex.pages > 0) {
      // Its conversations are asleep until somebody writes there.
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
