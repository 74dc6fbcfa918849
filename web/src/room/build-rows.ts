/**
 * From entries to rows
 * ====================
 * An edit changes the row it names, a delivery becomes the agent's line, a turn that said nothing
 * leaves one quiet row. Entries may come in any portions; the rows are the same.
 */
import type {
  EndedEntry,
  JudgedEntry,
  LabelledEntry,
  MessageEntry,
  ReplyEntry,
  RoomEntry,
} from "../../../src/daemon/api-types/room.ts";
import { sessionWords } from "../room-actions/words.ts";
import {
  type DayRow,
  knownOf,
  type LineRow,
  messageName,
  nameOf,
  type Quoted,
  type Row,
} from "./transcript.ts";

/** What later entries say about earlier ones. */
class About {
  readonly edits = new Map<string, { readonly text: string; readonly at: number }>();
  readonly deleted = new Set<string>();
  readonly labels = new Map<string, LabelledEntry>();
  readonly judged = new Map<string, JudgedEntry>();
  readonly heard = new Map<string, MessageEntry>();
  /** What is quoted, whether it is loaded or not. */
  readonly quoted = new Set<string>();
  readonly turns = new Map<string, number>();
  /** Turns that have a line in the room. */
  readonly spoken = new Set<string>();
  /** Deliveries that are loaded. */
  readonly said = new Set<string>();
  /** Turns that ended otherwise than with an answer. */
  readonly unanswered = new Set<string>();
  /** The last end of each turn. */
  readonly ends = new Map<string, number>();
  /** Turns whose agent failed. */
  readonly failures = new Map<string, EndedEntry>();
  /** The last line of each turn. */
  readonly last = new Map<string, string>();
  /** Texts that replaced what a delivery had sent, by its id. */
  readonly replaced = new Map<string, string>();

  add(entry: RoomEntry): void {
    if (entry.kind === "heard") {
      this.heard.set(messageName(entry), entry);
      if (entry.quote !== null) this.quoted.add(inChatOf(entry, entry.quote.id));
    } else if (entry.kind === "edited") this.edits.set(messageName(entry), entry);
    else if (entry.kind === "deleted") this.deleted.add(messageName(entry));
    else if (entry.kind === "labelled") this.labels.set(messageName(entry), entry);
    else if (entry.kind === "judged") this.judged.set(messageName(entry), entry);
    else if (entry.kind === "turn") this.turns.set(entry.turnId, entry.at);
    else if (entry.kind === "ended") {
      this.ends.set(entry.turnId, entry.seq);
      if (entry.outcome === "failed") this.failures.set(entry.turnId, entry);
      else this.failures.delete(entry.turnId);
      if (entry.outcome !== "replied") this.unanswered.add(entry.turnId);
    } else if (entry.kind === "said") {
      this.spoken.add(entry.turnId);
      if (entry.edits === undefined && entry.aside === undefined)
        this.last.set(entry.turnId, entry.id);
      this.said.add(entry.id);
      if (entry.replyTo !== null) this.quoted.add(inChatOf(entry, entry.replyTo));
      if (entry.edits !== undefined) this.replaced.set(entry.edits, entry.text);
    }
  }

  /** Whether rows that are already made say something else after this entry. */
  changes(entry: RoomEntry): boolean {
    switch (entry.kind) {
      case "heard":
      case "edited":
      case "deleted":
        return this.heard.has(messageName(entry)) || this.quoted.has(messageName(entry));
      case "labelled":
      case "judged":
        return this.heard.has(messageName(entry));
      case "turn":
        return this.spoken.has(entry.turnId);
      case "ended":
        return this.ends.has(entry.turnId) || this.spoken.has(entry.turnId);
      case "said":
        return (
          entry.edits !== undefined ||
          this.unanswered.has(entry.turnId) ||
          this.replaced.has(entry.id)
        );
      default:
        return false;
    }
  }
}

/** A message of the same chat. */
const inChatOf = (entry: MessageEntry | ReplyEntry, id: string): string =>
  messageName({ ...entry, id });

/** The first moment of a day here, and of the next one. */
function dayOf(at: number): readonly [from: number, to: number] {
  const from = new Date(at).setHours(0, 0, 0, 0);
  const next = new Date(from);
  return [from, next.setDate(next.getDate() + 1)];
}

/** The rows of these entries, a day above each day's first. */
export const rowsOf = (
  entries: readonly RoomEntry[],
  amends: readonly RoomEntry[] = [],
): readonly Row[] => new Transcript().rows(entries, amends);

/**
 * Rows of entries that grow. What is as it was is the same object as before, so that of thousands
 * only what changed is drawn again; and where entries only came behind the others, only they are
 * looked at.
 */
export class Transcript {
  #about = new About();
  #entries: readonly RoomEntry[] = [];
  #amends: readonly RoomEntry[] = [];
  #rows: Row[] = [];
  #day: readonly [from: number, to: number] = [0, 0];

  /** `amends`: what later entries, which are not among these, say about them. */
  rows(entries: readonly RoomEntry[], amends: readonly RoomEntry[] = []): readonly Row[] {
    if (entries === this.#entries && amends === this.#amends) return this.#rows;
    const added = this.#added(entries, amends);
    if (added === null) this.#begin(entries, amends);
    else this.#rows = [...this.#rows, ...this.#made(added)];
    this.#entries = entries;
    this.#amends = amends;
    return this.#rows;
  }

  /** What came behind the others; null: it is not only that, or it changes rows that are there. */
  #added(entries: readonly RoomEntry[], amends: readonly RoomEntry[]): readonly RoomEntry[] | null {
    const { length } = this.#entries;
    if (length === 0 || amends.length > 0 || this.#amends.length > 0) return null;
    if (entries[0] !== this.#entries[0] || entries[length - 1] !== this.#entries[length - 1])
      return null;
    const added = entries.slice(length);
    for (const entry of added) {
      if (this.#about.changes(entry)) return null;
      this.#about.add(entry);
    }
    return added;
  }

  #begin(entries: readonly RoomEntry[], amends: readonly RoomEntry[]): void {
    const known = new Map(this.#rows.map((row) => [row.key, row]));
    this.#about = new About();
    this.#day = [0, 0];
    for (const entry of entries) this.#about.add(entry);
    const upTo = entries.at(-1)?.seq ?? 0;
    for (const entry of amends) if (entry.seq > upTo) this.#about.add(entry);
    this.#rows = this.#made(entries).map((row) => reuseRow(row, known.get(row.key)));
  }

  #made(entries: readonly RoomEntry[]): Row[] {
    const rows: Row[] = [];
    for (const entry of entries) {
      const row = rowOf(entry, this.#about);
      if (row === null) continue;
      const [from, to] = this.#day;
      if (entry.at < from || entry.at >= to) {
        this.#day = dayOf(entry.at);
        rows.push({ kind: "day", key: `day ${row.key}`, at: entry.at });
      }
      rows.push(row);
    }
    return rows;
  }
}

/** The row before, if this one says the same. */
function reuseRow(row: Row, before: Row | undefined): Row {
  if (before === undefined) return row;
  const now: Readonly<Record<string, unknown>> = { ...row };
  const was: Readonly<Record<string, unknown>> = { ...before };
  for (const name in now)
    if (now[name] !== was[name] && (name !== "quote" || !isSameQuote(now[name], was[name])))
      return row;
  return before;
}

function isSameQuote(first: unknown, other: unknown): boolean {
  const [a, b] = [first as Quoted | null, other as Quoted | null];
  return a !== null && b !== null && a.name === b.name && a.text === b.text;
}

function rowOf(entry: RoomEntry, about: About): LineRow | DayRow | null {
  const key = nameOf(entry);
  switch (entry.kind) {
    case "heard": {
      const edit = about.edits.get(messageName(entry));
      const text = edit?.text ?? entry.text;
      const deleted = about.deleted.has(messageName(entry));
      const quote = quoteOf(entry, about);
      const label = entry.verdict === null ? null : (knownOf(about.labels, entry) ?? null);
      const judged = entry.verdict?.rule === "judge" ? knownOf(about.judged, entry) : undefined;
      const line = { quote, text, editedAt: edit?.at ?? null, deleted, label };
      return { kind: "person", key, entry, ...line, judged: judged ?? null };
    }
    case "command":
      return { kind: "command", key, entry };
    case "reacted":
      return { kind: "reaction", key, entry };
    case "acted":
      return { kind: "acted", key, entry };
    case "session":
      return { kind: "day", key, at: entry.at, session: sessionWords(entry) };
    case "said": {
      // What it replaced shows its text; where that is not loaded it is a line of its own.
      if (entry.edits !== undefined && about.said.has(entry.edits)) return null;
      const { replyTo } = entry;
      const cause = replyTo === null ? undefined : about.heard.get(inChatOf(entry, replyTo));
      const quote = cause === undefined ? null : quotedLine(cause, about);
      const from = cause?.at ?? about.turns.get(entry.turnId);
      const tookMs = from === undefined ? null : entry.at - from;
      return {
        kind: "agent",
        key,
        entry,
        quote,
        tookMs,
        failure:
          about.last.get(entry.turnId) === entry.id
            ? (about.failures.get(entry.turnId) ?? null)
            : null,
        text: about.replaced.get(entry.id) ?? entry.text,
      };
    }
    case "ended": {
      const isLast = about.ends.get(entry.turnId) === entry.seq;
      const isCut = entry.outcome === "cancelled" || entry.unsent !== undefined;
      const isQuiet = isCut || (entry.outcome !== "replied" && !about.spoken.has(entry.turnId));
      return isLast && isQuiet ? { kind: "quiet", key, entry } : null;
    }
    default:
      return null;
  }
}

function quotedLine(entry: MessageEntry, { edits, deleted }: About): Quoted {
  const name = messageName(entry);
  const text = deleted.has(name) ? "" : (edits.get(name)?.text ?? entry.text);
  return { name: entry.author.name, text };
}

/** Some platforms send only the id of the quoted message: the rest is further up. */
function quoteOf(entry: MessageEntry, about: About): Quoted | null {
  const { quote } = entry;
  if (quote === null) return null;
  const line = about.heard.get(inChatOf(entry, quote.id));
  if (line === undefined || line.author.name === "") return quote;
  return quotedLine(line, about);
}
