/**
 * What a page keeps of a room
 * ===========================
 * A window on the journal: entries without a gap, with the numbers to ask for more at both ends. A
 * reader at the end keeps little; one further up keeps more, around the selected line, so that a
 * busy room neither grows without bound nor removes lines under the reader. What was dropped is
 * fetched again.
 */
import type {
  RoomEntry,
  RoomFrame,
  RoomHistory,
  RoomState,
  RoomView,
  RoomWriting,
} from "../../../src/daemon/api-types/room.ts";
import { merged, messageName } from "./transcript.ts";

export interface Room {
  readonly view: Omit<RoomView, "state" | "history">;
  readonly state: RoomState;
  /** The state before, for what was just left. */
  readonly before: RoomState | null;
  readonly entries: readonly RoomEntry[];
  /** What is older than this number is not kept; null: nothing older is known. */
  readonly older: number | null;
  /** What is newer than this number is not kept; null: entries go on to the newest. */
  readonly newer: number | null;
  /** The last word on kept lines from entries that are not kept. */
  readonly amends: readonly RoomEntry[];
  /** Lines that came since the page was opened. */
  readonly arrived: number;
  readonly writing: RoomWriting | null;
  /** What is to be added to this machine's clock to have the daemon's. */
  readonly ahead: number;
}

/**
 * Where the reader is: the number of the message at the upper edge of the window, or null for a
 * reader who follows the end.
 */
export type Reader = number | null;

/** Entries kept for a reader at the end. Every thousand characters of a text count as one more. */
export const followedMax = 600;
/** Entries kept for a reader further up. */
export const readMax = 6_000;
/** In steps, so that lines go away now and then and not with every frame. */
const slack = 1.25;

const isTalk = ({ kind }: RoomEntry) => kind === "heard" || kind === "said" || kind === "command";
const talkIn = (entries: readonly RoomEntry[]): number => entries.filter(isTalk).length;

/** The room after a frame. */
export function withFrame(
  room: Room | null,
  frame: RoomFrame,
  at: number,
  reader: Reader = null,
): Room | null {
  if (frame.type === "open") return opened(room, frame, at, reader);
  if (room === null) return null;
  const { state, entries, writing, upTo } = frame;
  const next: Room = {
    ...room,
    view: { ...room.view, title: titleIn(entries) ?? room.view.title, upTo },
    state,
    before: room.state,
    writing,
    ahead: state.now - at,
    arrived: room.arrived + talkIn(entries),
  };
  if (room.newer === null)
    return trimmed({ ...next, entries: merged(room.entries, entries) }, reader);
  return { ...next, amends: amendsOf(room.entries, [...room.amends, ...entries]) };
}

/** Starts again from an `open` frame; a reader further up keeps what is on the screen. */
function opened(
  room: Room | null,
  { view: opened, writing }: Extract<RoomFrame, { type: "open" }>,
  at: number,
  reader: Reader,
): Room {
  const { state, history, ...view } = opened;
  const now = { view, state, before: null, writing, ahead: state.now - at };
  const { entries, before: older } = history;
  if (room === null) return { ...now, entries, older, newer: null, amends: [], arrived: 0 };
  const arrived = room.arrived + talkIn(entries);
  // A journal that ends before what is known is a new one.
  if (reader === null || view.upTo < room.view.upTo)
    return { ...now, entries, older, newer: null, amends: [], arrived };
  return { ...room, ...now, newer: room.newer ?? room.view.upTo, arrived };
}

/** The room with the page before its first entry. */
export function withOlder(room: Room, page: RoomHistory, reader: Reader): Room {
  const entries = merged(page.entries, room.entries);
  return trimmed({ ...room, entries, older: page.before }, reader);
}

/** The room with the page after its last entry. */
export function withNewer(room: Room, page: RoomHistory, reader: Reader): Room {
  const entries = merged(room.entries, page.entries);
  return trimmed({ ...room, entries, newer: newerThan(page, room) }, reader);
}

/** The room at its end again, whatever was kept before. */
export function withNewest(room: Room, page: RoomHistory): Room {
  const { entries, before: older } = page;
  return { ...room, entries, older, newer: newerThan(page, room), amends: [] };
}

/** More may have come while the page was on its way. */
const newerThan = ({ upTo }: RoomHistory, { view }: Room): number | null =>
  upTo < view.upTo ? upTo : null;

/** What the room is called by the newest of these lines that says so. */
function titleIn(entries: readonly RoomEntry[]): string | undefined {
  const titles = entries.flatMap((entry) => (entry.kind === "heard" ? (entry.title ?? []) : []));
  return titles.at(-1);
}

const weightOf = (entry: RoomEntry | undefined): number =>
  entry === undefined ? 0 : 1 + ("text" in entry ? Math.floor(entry.text.length / 1_000) : 0);

function weigh(entries: readonly RoomEntry[]): number {
  let weight = 0;
  for (const entry of entries) weight += weightOf(entry);
  return weight;
}

/** Not more than is worth keeping, around the reader. */
function trimmed(room: Room, reader: Reader): Room {
  const max = reader === null ? followedMax : readMax;
  if (weigh(room.entries) <= max * slack) return room;
  const entries = withoutOldText(room.entries);
  if (weigh(entries) <= max * slack) return { ...room, entries };
  const [from, to] = around(entries, reader, max);
  const kept = entries.slice(from, to);
  const newer = to < entries.length ? (kept.at(-1)?.seq ?? room.newer) : room.newer;
  return {
    ...room,
    entries: kept,
    older: from > 0 ? (kept[0]?.seq ?? room.older) : room.older,
    newer,
    amends: newer === null ? [] : amendsOf(kept, [...room.amends, ...entries.slice(to)]),
  };
}

/** Without edits that a later one took the place of: some write an answer as a hundred of them. */
function withoutOldText(entries: readonly RoomEntry[]): readonly RoomEntry[] {
  const last = new Map<string, number>();
  for (const [index, entry] of entries.entries())
    if (entry.kind === "edited") last.set(messageName(entry), index);
  return entries.filter(
    (entry, index) => entry.kind !== "edited" || last.get(messageName(entry)) === index,
  );
}

/** The entries nearest to the reader, as many on one side as on the other where there are. */
function around(
  entries: readonly RoomEntry[],
  reader: Reader,
  max: number,
): readonly [from: number, to: number] {
  const found = reader === null ? -1 : entries.findIndex(({ seq }) => seq >= reader);
  let from = found < 0 ? entries.length : found;
  let to = from;
  for (let before = 0, after = 0; before + after < max && (from > 0 || to < entries.length); ) {
    if (to >= entries.length || (from > 0 && before <= after)) {
      from -= 1;
      before += weightOf(entries[from]);
    } else {
      after += weightOf(entries[to]);
      to += 1;
    }
  }
  // Messages of one journal row stay together: pages are asked for by its number.
  while (from > 0 && entries[from - 1]?.seq === entries[from]?.seq) from -= 1;
  while (to < entries.length && to > 0 && entries[to - 1]?.seq === entries[to]?.seq) to += 1;
  return [from, to];
}

type Amend = Extract<RoomEntry, { kind: "edited" | "deleted" | "labelled" | "judged" }>;
const amendKinds: ReadonlySet<string> = new Set(["edited", "deleted", "labelled", "judged"]);
const isAmend = (entry: RoomEntry): entry is Amend => amendKinds.has(entry.kind);

/** What these entries say of the kept ones: the last edit, deletion, label and so on of each. */
function amendsOf(kept: readonly RoomEntry[], entries: readonly RoomEntry[]): readonly RoomEntry[] {
  // Also by its id alone: earlier versions did not say of which chat a message is.
  const names = new Set(kept.flatMap((item) => ("id" in item ? [item.id, messageName(item)] : [])));
  const last = new Map<string, RoomEntry>();
  for (const entry of entries) {
    const about = isAmend(entry)
      ? messageName(entry)
      : entry.kind === "said"
        ? entry.edits
        : undefined;
    if (about !== undefined && names.has(about)) last.set(`${entry.kind} ${about}`, entry);
  }
  return [...last.values()].sort((a, b) => a.seq - b.seq);
}
