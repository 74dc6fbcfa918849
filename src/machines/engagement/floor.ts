/**
 * Keeping the floor
 * =================
 * How the memory of a talk changes: a line is heard, an answer of ours arrives, a credit ends. Each
 * function returns the next ledger and touches none. A line changes only the rows of those who write
 * it or are addressed by it; lines of others are counted for the room once and not for each row.
 */
import { emptyFloors, type Floor, type FloorLedger, type LastLine } from "../../domain/floor.ts";
import { limits } from "../../domain/limits.ts";
import type { AuthorId, Millis } from "../../domain/message.ts";
import type { StickyLedger } from "./sticky.ts";

/** A line of somebody else. */
export interface HeardLine {
  readonly author: AuthorId;
  readonly at: Millis;
  /** The authors that it mentions or replies to, ourselves left out. */
  readonly addresses: readonly AuthorId[];
  readonly engaged: boolean;
  /** It calls us: by a mention, a reply or a name. */
  readonly calls: boolean;
}

/** The ledger after a line. */
export function hearLine(floors: FloorLedger, line: HeardLine): FloorLedger {
  const { author, at, addresses, engaged, calls } = line;
  let rows = floors.rows;
  for (const id of addresses) {
    const row = rowOf(rows, id);
    if (row === undefined || id === author) continue;
    rows = { ...rows, [id]: { ...row, addressed: row.addressed + 1, addressedAt: at } };
  }
  const row = rowOf(rows, author) ?? (engaged && calls ? called(floors, at) : undefined);
  const last: LastLine = engaged ? "engaged" : addresses.length > 0 ? "elsewhere" : "open";
  if (row !== undefined)
    rows = {
      ...rows,
      [author]: {
        ...row,
        own: row.own + 1,
        elsewhere: row.elsewhere + (last === "elsewhere" ? 1 : 0),
        lastAt: at,
        last,
        calls: row.calls + (engaged && calls ? 1 : 0),
        plain: row.plain + (engaged && !calls ? 1 : 0),
      },
    };
  return { ...floors, heard: floors.heard + 1, rows };
}

/** Somebody new called us. The line itself is counted by the caller. */
function called({ heard }: FloorLedger, at: Millis): Floor {
  return {
    since: at,
    answered: false,
    heard,
    exchanges: 0,
    asked: false,
    named: false,
    words: [],
    own: 0,
    elsewhere: 0,
    addressed: 0,
    addressedAt: 0,
    lastAt: 0,
    last: "open",
    calls: 0,
    plain: 0,
  };
}

/** An answer of ours that has reached the room, or a part of one. */
export interface GivenAnswer {
  readonly at: Millis;
  readonly authors: readonly AuthorId[];
  /** Those of the authors that its text names. */
  readonly named: readonly AuthorId[];
  readonly words: readonly number[];
  readonly asked: boolean;
}

/** The ledger after an answer. Parts of one answer with nothing said between them are one. */
export function noteAnswer(floors: FloorLedger, answer: GivenAnswer): FloorLedger {
  const { at, authors, named, words, asked } = answer;
  const { heard } = floors;
  let rows = floors.rows;
  for (const id of authors) {
    const row = rowOf(rows, id) ?? called(floors, at);
    const isPart = row.answered && row.heard === heard && row.own === 0;
    const next: Floor = {
      ...row,
      since: at,
      answered: true,
      heard,
      exchanges: row.exchanges + (row.own > 0 || !row.answered ? 1 : 0),
      asked,
      named: named.includes(id) || (isPart && row.named),
      words: isPart ? [...new Set([...words, ...row.words])].slice(0, limits.floorWordsMax) : words,
      own: 0,
      elsewhere: 0,
      addressed: 0,
    };
    rows = { ...rows, [id]: next };
  }
  return { ...floors, spokeAt: at, rows };
}

/** The ledger with the rows of those who still hold a credit; the same object when all do. */
export function keepCredited(floors: FloorLedger, credits: StickyLedger): FloorLedger {
  for (const id in floors.rows) {
    if (Object.hasOwn(credits, id)) continue;
    const kept = Object.entries(floors.rows).filter(([author]) => Object.hasOwn(credits, author));
    return { ...floors, rows: Object.fromEntries(kept) };
  }
  return floors;
}

const talkMs = 300_000;

/** How many others got an answer of ours, or called us, within five minutes. */
export function countTalks({ rows }: FloorLedger, author: AuthorId, now: Millis): number {
  let count = 0;
  for (const id in rows) if (id !== author && now - (rows[id] as Floor).since < talkMs) count += 1;
  return count;
}

/** The row of an author. Ids are opaque: one named like a property of every object has none by that. */
export function rowOf(rows: FloorLedger["rows"], author: AuthorId): Floor | undefined {
  return Object.hasOwn(rows, author) ? rows[author] : undefined;
}

/**
 * The talk with an author who holds a credit but has no row, as after a change of mode: answered
 * when the credit began, and nothing known since.
 */
export function unknownFloor({ heard }: FloorLedger, since: Millis): Floor {
  return { ...called({ ...emptyFloors, heard }, since), answered: true, exchanges: 1 };
}
