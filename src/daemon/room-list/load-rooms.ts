/**
 * Rooms from the store
 * ====================
 * Loads what happened before this start: which conversations there are, and what the newest journal
 * rows say about them, up to where the list began to follow events. It runs once, when the list is
 * first used, in small steps, so that other work continues.
 */
import { decodeEvent } from "../../actors/protocol/event-codec.ts";
import { decodeVerdict } from "../../domain/decision.ts";
import { isSessionKey } from "../../domain/key.ts";
import { limits } from "../../domain/limits.ts";
import type { EventRow, Store } from "../../domain/ports/index.ts";
import type { RoomRow } from "../api-types/rooms.ts";
import type { ActivityWindow } from "./activity-window.ts";
import { Room } from "./room-row.ts";

export interface LoadedRooms {
  /** At most `roomsListedMax`, those with the newest events. */
  readonly rooms: readonly Room[];
  /** Conversations in the store. */
  readonly total: number;
}

interface Known {
  readonly conv: number;
  readonly key: string;
  readonly lastSeq: number;
}

const pageRows = 1_000;
/** Fewer than names, because a journal row is decoded. */
const scanRows = 200;
/** Yields to other work. */
const otherWork = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Calls `work` for each item and yields after each thousand. */
export async function inSlices<One>(
  list: readonly One[],
  work: (item: One) => unknown,
): Promise<void> {
  for (const [n, item] of list.entries()) {
    work(item);
    if (n % pageRows === pageRows - 1) await otherWork();
  }
}

const decidedMarks = ['{"type":"message.received"', '{"type":"judge.answered"'];
const changedMarks = ['{"type":"message.deleted"', '{"type":"message.edited"'];

export interface Reading {
  /** Later rows were noted as they happened. */
  readonly upTo: number;
  /** From this row on, a conversation's events were noted as they happened. */
  readonly firstSeq: (conv: number) => number;
  readonly activity: ActivityWindow;
}

export async function readJournal(
  store: Pick<Store, "conversations" | "lastSeq" | "numberBefore" | "scan">,
  { upTo, firstSeq, activity }: Reading,
): Promise<LoadedRooms> {
  const { known, total } = await readNames(store);
  const rooms = new Map<number, Room>();
  await inSlices(known, ({ conv, key }) => rooms.set(conv, new Room(conv, key)));
  const last = await store.lastSeq();
  const end = Math.min(last, upTo);
  let after = await store.numberBefore(last, limits.searchRowsMax);
  while (after < end) {
    const found = await store.scan(after, scanRows);
    const rows = found.filter(({ seq }) => seq <= end);
    for (const row of rows) {
      const room = rooms.get(row.conv);
      if (room !== undefined && row.seq < firstSeq(row.conv)) note(room, row, activity);
    }
    after = rows.at(-1)?.seq ?? end;
    await otherWork();
  }
  return { rooms: [...rooms.values()], total };
}

function note(room: Room, row: EventRow, activity: ActivityWindow): void {
  if (changedMarks.some((mark) => row.body.startsWith(mark))) {
    const event = decodeEvent(row);
    if (event.type === "message.edited") room.amend(event.edit, event.edit.text);
    else if (event.type === "message.deleted") room.amend(event.deletion, null);
    return;
  }
  if (row.code === null || row.code <= 0) return;
  if (!decidedMarks.some((mark) => row.body.startsWith(mark))) return;
  const event = decodeEvent(row);
  const verdict = decodeVerdict(row.code);
  if (event.type === "judge.answered" && verdict !== null) {
    const at = room.engageLate(event, verdict);
    if (at !== null) activity.engagedLate(at);
    return;
  }
  if (event.type !== "message.received" || verdict === null) return;
  room.note(event.message, verdict, event.at);
  activity.countMessage(event.at, verdict.decision === "engage");
}

/** The conversations with the newest events, and the number of all. */
async function readNames(
  store: Pick<Store, "conversations">,
): Promise<{ known: Known[]; total: number }> {
  let known: Known[] = [];
  let total = 0;
  let after = -1;
  for (;;) {
    const page = await store.conversations({ after, limit: pageRows });
    for (const { conv, key, lastSeq } of page) {
      if (!isSessionKey(key)) continue;
      known.push({ conv, key, lastSeq });
      total += 1;
    }
    if (known.length > 2 * limits.roomsListedMax) known = newest(known);
    const last = page.at(-1);
    if (last === undefined || page.length < pageRows) break;
    after = last.conv;
    await otherWork();
  }
  return { known: newest(known), total };
}

interface Beyond {
  readonly known: (conv: number) => boolean;
  readonly words: readonly string[];
  readonly most: number;
}

/** Rooms that only the store knows, described by their keys. */
export async function findBeyond(
  store: Pick<Store, "conversations">,
  { known, words, most }: Beyond,
): Promise<RoomRow[]> {
  const found: RoomRow[] = [];
  let after = -1;
  while (found.length < most) {
    const page = await store.conversations({ after, limit: pageRows });
    for (const { conv, key } of page) {
      if (known(conv) || !isSessionKey(key)) continue;
      const room = new Room(conv, key);
      if (room.has(words)) found.push(room.row());
    }
    const last = page.at(-1);
    if (last === undefined || page.length < pageRows) break;
    after = last.conv;
    await otherWork();
  }
  return found.slice(0, most);
}

function newest(known: Known[]): Known[] {
  if (known.length <= limits.roomsListedMax) return known;
  return known.sort((a, b) => b.lastSeq - a.lastSeq).slice(0, limits.roomsListedMax);
}
