/**
 * The transcript of a room
 * ========================
 * Its entries, merged from any portions, and the forms of its rows. Entries never change; an edit,
 * a deletion or a delivery is an entry of its own.
 */
import type {
  ActedEntry,
  CommandEntry,
  EndedEntry,
  JudgedEntry,
  LabelledEntry,
  MessageEntry,
  ReactedEntry,
  ReplyEntry,
  RoomEntry,
} from "../../../src/daemon/api-types/room.ts";

/** What a line answers, in the words it has now; no text: it is not known, or was deleted. */
export interface Quoted {
  readonly name: string;
  readonly text: string;
}
export interface PersonRow {
  readonly kind: "person";
  readonly key: string;
  readonly entry: MessageEntry;
  readonly quote: Quoted | null;
  readonly text: string;
  readonly editedAt: number | null;
  readonly deleted: boolean;
  /** The last word on its decision, also one that was taken back; null: there was none. */
  readonly label: LabelledEntry | null;
  /** What the judge of the room answered about it; null: nothing. */
  readonly judged: JudgedEntry | null;
}
export interface CommandRow {
  readonly kind: "command";
  readonly key: string;
  readonly entry: CommandEntry;
}
export interface AgentRow {
  readonly kind: "agent";
  readonly key: string;
  readonly entry: ReplyEntry;
  readonly text: string;
  /** What it was sent as a reply to, as far as it is loaded. */
  readonly quote: Quoted | null;
  /** The last line of a turn whose agent failed: why. */
  readonly failure: EndedEntry | null;
  /** From the line that caused it, or from the turn's beginning; null: neither is loaded. */
  readonly tookMs: number | null;
}
/** A turn that ended without a word in the room. */
export interface QuietRow {
  readonly kind: "quiet";
  readonly key: string;
  readonly entry: EndedEntry;
}
export interface ReactionRow {
  readonly kind: "reaction";
  readonly key: string;
  readonly entry: ReactedEntry;
}
/** What somebody did to the room from outside of it. */
export interface ActedRow {
  readonly kind: "acted";
  readonly key: string;
  readonly entry: ActedEntry;
}
/** A divider: the beginning of a day, or of a session. */
export interface DayRow {
  readonly kind: "day";
  readonly key: string;
  readonly at: number;
  /** Of a session: that it begins, and why. */
  readonly session?: string;
}
export type LineRow = PersonRow | CommandRow | ActedRow | AgentRow | QuietRow | ReactionRow;
export type Row = LineRow | DayRow;

/** Distinguishes the messages of one journal row: read history has several messages in one. */
export const nameOf = (entry: RoomEntry): string =>
  entry.kind === "heard" && entry.history === true ? `${entry.seq}/${entry.id}` : `${entry.seq}`;

/** What names a message: ids are unique in a chat only. No chat: the session has one. */
export interface Named {
  readonly id: string;
  readonly chat?: string;
}

/** The name of a message in one text. */
export const messageName = ({ id, chat }: Named): string =>
  chat === undefined ? id : `${chat}\n${id}`;

/** What is known of a message; earlier versions did not say of which chat it is. */
export const knownOf = <Known>(
  known: ReadonlyMap<string, Known>,
  message: Named,
): Known | undefined => known.get(messageName(message)) ?? known.get(message.id);

/** Both lists as one, in order, nothing twice. */
export function merged(
  entries: readonly RoomEntry[],
  more: readonly RoomEntry[],
): readonly RoomEntry[] {
  const [next] = more;
  if (next === undefined) return entries;
  const newest = entries.at(-1);
  if (newest === undefined || newest.seq < next.seq) return [...entries, ...more];
  const known = new Set(entries.map(nameOf));
  const added = more.filter((entry) => !known.has(nameOf(entry)));
  if (added.length === 0) return entries;
  const all = [...entries, ...added];
  if (added.every(({ seq }) => seq >= newest.seq)) return all;
  // Stable, so that messages of one row keep their order.
  return all.sort((a, b) => a.seq - b.seq);
}

/** A row that can be selected. */
export const isLine = (row: Row): row is LineRow => row.kind !== "day";
/** A row whose ladder is worth a look at first: the newest decided message. */
export const newestDecided = (rows: readonly Row[]): PersonRow | null =>
  rows.findLast((row): row is PersonRow => row.kind === "person" && row.entry.verdict !== null) ??
  null;
