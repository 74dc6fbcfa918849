/**
 * The transcript of a room
 * ========================
 * From entries, which never change, to rows as they are read: an edit changes the row it names, a
 * delivery becomes the agent's line, a turn that said nothing leaves one quiet row. Entries may be
 * given in any portions and more than once; the rows are the same.
 */
import type {
  CommandEntry,
  EndedEntry,
  HeardEntry,
  RoomEntry,
  SaidEntry,
} from "../../../src/daemon/room-types.ts";

/** What a line answers, in the words it has now; no text: it is not known, or was deleted. */
export interface Quoted {
  readonly name: string;
  readonly text: string;
}
export interface PersonRow {
  readonly kind: "person";
  readonly key: string;
  readonly entry: HeardEntry;
  readonly quote: Quoted | null;
  readonly text: string;
  readonly editedAt: number | null;
  readonly deleted: boolean;
}
export interface CommandRow {
  readonly kind: "command";
  readonly key: string;
  readonly entry: CommandEntry;
}
export interface AgentRow {
  readonly kind: "agent";
  readonly key: string;
  readonly entry: SaidEntry;
  readonly text: string;
  /** What it was sent as a reply to, as far as it is loaded. */
  readonly quote: Quoted | null;
  /** From the line that caused it, or from the turn's beginning; null: neither is loaded. */
  readonly tookMs: number | null;
}
/** A turn that ended without a word in the room. */
export interface QuietRow {
  readonly kind: "quiet";
  readonly key: string;
  readonly entry: EndedEntry;
}
export interface DayRow {
  readonly kind: "day";
  readonly key: string;
  readonly at: number;
}
export type LineRow = PersonRow | CommandRow | AgentRow | QuietRow;
export type Row = LineRow | DayRow;

/** Tells apart what one journal row says: read history has several messages in one. */
const nameOf = (entry: RoomEntry): string =>
  entry.kind === "heard" && entry.history === true ? `${entry.seq}/${entry.id}` : `${entry.seq}`;

/** Both lists as one, in order, nothing twice. */
export function merged(
  entries: readonly RoomEntry[],
  more: readonly RoomEntry[],
): readonly RoomEntry[] {
  if (more.length === 0) return entries;
  const known = new Set(entries.map(nameOf));
  const added = more.filter((entry) => !known.has(nameOf(entry)));
  if (added.length === 0) return entries;
  const all = [...entries, ...added];
  const last = entries.at(-1);
  if (last === undefined || added.every(({ seq }) => seq >= last.seq)) return all;
  // Stable, so that messages of one row keep their order.
  return all.sort((a, b) => a.seq - b.seq);
}

/** What later entries say about earlier ones. */
interface About {
  readonly edits: ReadonlyMap<string, { readonly text: string; readonly at: number }>;
  readonly deleted: ReadonlySet<string>;
  readonly heard: ReadonlyMap<string, HeardEntry>;
  readonly turns: ReadonlyMap<string, number>;
  /** Turns that have a line in the room. */
  readonly spoken: ReadonlySet<string>;
  /** Deliveries that are loaded. */
  readonly said: ReadonlySet<string>;
  /** The last end of each turn. */
  readonly ends: ReadonlyMap<string, number>;
  /** Texts that replaced what a delivery had sent, by its id. */
  readonly replaced: ReadonlyMap<string, string>;
}

function aboutOf(entries: readonly RoomEntry[]): About {
  const edits = new Map<string, { text: string; at: number }>();
  const deleted = new Set<string>();
  const heard = new Map<string, HeardEntry>();
  const turns = new Map<string, number>();
  const spoken = new Set<string>();
  const said = new Set<string>();
  const ends = new Map<string, number>();
  const replaced = new Map<string, string>();
  for (const entry of entries) {
    if (entry.kind === "heard") heard.set(entry.id, entry);
    else if (entry.kind === "edited") edits.set(entry.id, entry);
    else if (entry.kind === "deleted") deleted.add(entry.id);
    else if (entry.kind === "turn") turns.set(entry.turnId, entry.at);
    else if (entry.kind === "ended") ends.set(entry.turnId, entry.seq);
    else if (entry.kind === "said") {
      spoken.add(entry.turnId);
      said.add(entry.id);
      if (entry.edits !== undefined) replaced.set(entry.edits, entry.text);
    }
  }
  return { edits, deleted, heard, turns, spoken, said, ends, replaced };
}

/** The first moment of a day here, and of the next one. */
function dayOf(at: number): readonly [from: number, to: number] {
  const from = new Date(at).setHours(0, 0, 0, 0);
  const next = new Date(from);
  return [from, next.setDate(next.getDate() + 1)];
}

/**
 * The rows of these entries, a day above each day's first. What is as it was in the rows before is
 * the same object, so that of thousands only what changed is drawn again.
 */
export function rowsOf(entries: readonly RoomEntry[], before: readonly Row[] = []): readonly Row[] {
  const about = aboutOf(entries);
  const known = new Map(before.map((row) => [row.key, row]));
  const rows: Row[] = [];
  const add = (row: Row) => rows.push(kept(row, known.get(row.key)));
  let [from, to] = [0, 0];
  for (const entry of entries) {
    const row = rowOf(entry, about);
    if (row === null) continue;
    if (entry.at < from || entry.at >= to) {
      [from, to] = dayOf(entry.at);
      add({ kind: "day", key: `day ${row.key}`, at: entry.at });
    }
    add(row);
  }
  return rows;
}

/** The row before, if this one says the same. */
function kept(row: Row, before: Row | undefined): Row {
  if (before === undefined) return row;
  const was: Readonly<Record<string, unknown>> = { ...before };
  const isSame = Object.entries(row).every(
    ([name, value]) => value === was[name] || (name === "quote" && isSameQuote(value, was[name])),
  );
  return isSame ? before : row;
}

function isSameQuote(one: unknown, other: unknown): boolean {
  const [a, b] = [one as Quoted | null, other as Quoted | null];
  return a !== null && b !== null && a.name === b.name && a.text === b.text;
}

function rowOf(entry: RoomEntry, about: About): LineRow | null {
  const key = nameOf(entry);
  switch (entry.kind) {
    case "heard": {
      const edit = about.edits.get(entry.id);
      const text = edit?.text ?? entry.text;
      const deleted = about.deleted.has(entry.id);
      const quote = quoteOf(entry, about);
      return { kind: "person", key, entry, quote, text, editedAt: edit?.at ?? null, deleted };
    }
    case "command":
      return { kind: "command", key, entry };
    case "said": {
      // What it replaced shows its text; where that is not loaded it is a line of its own.
      if (entry.edits !== undefined && about.said.has(entry.edits)) return null;
      const cause = entry.replyTo === null ? undefined : about.heard.get(entry.replyTo);
      const quote = cause === undefined ? null : quotedLine(cause, about);
      const from = cause?.at ?? about.turns.get(entry.turnId);
      const tookMs = from === undefined ? null : entry.at - from;
      return {
        ...{ kind: "agent", key, entry, quote, tookMs },
        text: about.replaced.get(entry.id) ?? entry.text,
      };
    }
    case "ended": {
      const isLast = about.ends.get(entry.turnId) === entry.seq;
      const isQuiet = entry.outcome !== "replied" && !about.spoken.has(entry.turnId);
      return isLast && isQuiet ? { kind: "quiet", key, entry } : null;
    }
    default:
      return null;
  }
}

function quotedLine({ id, author, text }: HeardEntry, { edits, deleted }: About): Quoted {
  return { name: author.name, text: deleted.has(id) ? "" : (edits.get(id)?.text ?? text) };
}

/** Some platforms tell only the id of what is answered: the rest stands further up. */
function quoteOf({ quote }: HeardEntry, about: About): Quoted | null {
  if (quote === null) return null;
  const line = about.heard.get(quote.id);
  if (line === undefined || line.author.name === "") return quote;
  return quotedLine(line, about);
}

/** A row that can be selected. */
export const isLine = (row: Row): row is LineRow => row.kind !== "day";
/** A row whose ladder is worth a look at first: the newest decided message. */
export const newestDecided = (rows: readonly Row[]): PersonRow | null =>
  rows.findLast((row): row is PersonRow => row.kind === "person" && row.entry.verdict !== null) ??
  null;
