/**
 * The rows of a conversation as Restate keeps them
 * ================================================
 * A key of the state holds the rows of one table, of a table that grows some consecutive ones: a change stores the
 * rows of its key again, and no others. The key of a group of consecutive rows has the number of its first row.
 *
 * What is sent stays in the outbox for days: it is put aside, some rows together, or each answer would store all
 * those before it again. A change that names its key is applied to that: a version that knows nothing of this does the
 * same, where it goes on with a call in which it was done.
 */
import { engineLimits } from "../../domain/ports/engine/engine-limits.ts";
import type { KeptRow } from "../../domain/ports/index.ts";

/** Rows by their ids. */
export type Group = Readonly<Record<string, NonNullable<KeptRow["row"]>>>;

/** Tables whose rows are numbered and stay. */
const growing: ReadonlySet<string> = new Set(["journal", "applied", "transcript"]);
const prefix = "rows/";

/** The group with what has a name of its own. */
export const metaGroup = `${prefix}meta`;

export const isGroup = (key: string): boolean => key.startsWith(prefix);

/** Whether it can be the name of a row of that table: a JSON array, of a number where rows are numbered. */
export function isRowName(table: string, id: string): boolean {
  try {
    const name: unknown = JSON.parse(id);
    if (!Array.isArray(name) || name.length === 0) return false;
    return !growing.has(table) || Number.isSafeInteger(name[0]);
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

/** What is put aside of the outbox. */
const asidePrefix = `${prefix}outbox/`;
const isAside = (key: string) => key.startsWith(asidePrefix);
const byAge = (a: string, b: string) =>
  Number(a.slice(asidePrefix.length)) - Number(b.slice(asidePrefix.length));

const tableOf = (key: string) => key.slice(prefix.length).split("/")[0] ?? "";
const numberOf = (id: string) => (JSON.parse(id) as [number])[0];

/** The value of a row of the meta table, in its group; null: there is none. */
export function metaIn(group: Group | null, name: string): string | null {
  const value = group?.[JSON.stringify([name])]?.value;
  return typeof value === "string" ? value : null;
}

/** Groups in which a message is looked for that somebody waits for: the newest. */
const groupsLookedAt = 16;

/**
 * The encoded verdict on a recent message; null: none is stored. `keys`: of the state; `read` reads some of them, of
 * the newest rows first.
 */
export async function verdictOn(
  messageId: string,
  keys: readonly string[],
  read: (key: string) => Promise<Group | null>,
): Promise<number | null> {
  const newest = (table: string) =>
    keys
      .filter((key) => isGroup(key) && tableOf(key) === table)
      .sort((a, b) => Number(b.split("/").at(-1)) - Number(a.split("/").at(-1)))
      .slice(0, groupsLookedAt);
  const rowIn = async (table: string, isIt: (row: Group[string]) => boolean) => {
    for (const key of newest(table)) {
      const row = Object.values((await read(key)) ?? {}).findLast(isIt);
      if (row !== undefined) return row;
    }
    return null;
  };
  const said = await rowIn("journal", ({ mid }) => mid === messageId);
  if (said === null) return null;
  const code = (await rowIn("applied", ({ seq }) => seq === said.seq))?.code;
  return typeof code === "number" && code > 0 ? code : null;
}

export class KeptState {
  readonly #groups: Map<string, Group>;
  /** By growing table, the key of each row by its number. */
  readonly #places = new Map<string, Map<string, string>>();
  /** The key of each row of the outbox that is aside. */
  readonly #aside = new Map<string, string>();
  /** By growing table, the key of the row with the highest number. */
  readonly #newest = new Map<string, { readonly number: number; readonly key: string }>();

  constructor(groups: Iterable<readonly [string, Group]>) {
    this.#groups = new Map(groups);
    for (const key of this.#inOrder())
      for (const id of Object.keys(this.#groups.get(key) ?? {})) this.#place(tableOf(key), id, key);
  }

  get isEmpty(): boolean {
    return this.#groups.size === 0;
  }

  /** The highest number of its rows, also of those that are gone but in its record; 0: it has none. */
  get last(): number {
    const own = this.#groups.get(`${prefix}conversation`) ?? {};
    const recorded = Object.values(own).map((row) => Number(row.record_seq ?? 0));
    const numbers = [...this.#newest.values()].map(({ number }) => number);
    return Math.max(0, ...recorded, ...numbers);
  }

  keys(): readonly string[] {
    return [...this.#groups.keys()];
  }

  /** What was put aside comes first, in the order in which it was: where a row is there twice, the last one counts. */
  rows(): readonly KeptRow[] {
    return this.#inOrder().flatMap((key) =>
      Object.entries(this.#groups.get(key) ?? {}).map(([id, row]) => ({
        table: tableOf(key),
        id,
        row,
      })),
    );
  }

  /**
   * The same changes, where those of rows that are aside name their key, and more that put sent ones aside once there
   * are enough of them.
   */
  placed(changes: readonly KeptRow[]): readonly KeptRow[] {
    if (changes.length === 0) return changes;
    const own = new Map(Object.entries(this.#groups.get(`${prefix}outbox`) ?? {}));
    const placed = changes.flatMap((change) => {
      const { table, id, row } = change;
      if (table !== "outbox") return change;
      const aside = this.#asAside(id, row);
      // A version that knows of no other place may have changed it here.
      if (aside.length > 0 && !own.has(id)) return aside;
      if (row !== null) own.set(id, row);
      else own.delete(id);
      return row === null ? [change, ...aside] : change;
    });
    const sent = [...own].filter(([, { state }]) => state === "sent");
    const moved = sent.slice(0, engineLimits.rowsTogether);
    if (moved.length < engineLimits.rowsTogether) return placed;
    const last = this.#asideKeys().at(-1)?.slice(asidePrefix.length) ?? "0";
    const table = `outbox/${Number(last) + 1}`;
    return [
      ...placed,
      ...moved.flatMap(([id]) => [{ table: "outbox", id, row: null }, ...this.#asAside(id, null)]),
      ...moved.map(([id, row]) => ({ table, id, row })),
    ];
  }

  /** A change of a row where that is aside; empty: it is not. */
  #asAside(id: string, row: KeptRow["row"]): readonly KeptRow[] {
    const key = this.#aside.get(id);
    return key === undefined ? [] : [{ table: key.slice(prefix.length), id, row }];
  }

  #inOrder(): readonly string[] {
    return [...this.#asideKeys(), ...this.keys().filter((key) => !isAside(key))];
  }

  #asideKeys(): readonly string[] {
    return this.keys().filter(isAside).sort(byAge);
  }

  /** Applies changes. Returns the groups that are different now; null: there is nothing left in it. */
  apply(changes: readonly KeptRow[]): ReadonlyMap<string, Group | null> {
    const changed = new Map<string, Group | null>();
    for (const change of changes) {
      const key = this.#keyOf(change);
      const { [change.id]: _, ...others } = this.#groups.get(key) ?? {};
      const rows = change.row === null ? others : { ...others, [change.id]: change.row };
      this.#groups.set(key, rows);
      if (change.row !== null) this.#place(tableOf(key), change.id, key);
      else this.#forget(tableOf(key), change.id, key);
      changed.set(key, Object.keys(rows).length === 0 ? null : rows);
    }
    for (const [key, rows] of changed)
      if (rows === null) {
        this.#groups.delete(key);
        const newest = this.#newest.get(tableOf(key));
        if (newest?.key === key) this.#newest.delete(tableOf(key));
      }
    return changed;
  }

  #forget(table: string, id: string, key: string): void {
    const places = isAside(key) ? this.#aside : this.#places.get(table);
    if (places?.get(id) === key) places.delete(id);
  }

  #place(table: string, id: string, key: string): void {
    if (isAside(key)) this.#aside.set(id, key);
    if (!growing.has(table)) return;
    const places = this.#places.get(table) ?? new Map<string, string>();
    this.#places.set(table, places.set(id, key));
    const number = numberOf(id);
    if (number >= (this.#newest.get(table)?.number ?? Number.NEGATIVE_INFINITY))
      this.#newest.set(table, { number, key });
  }

  /** Where a row is; a new one is put to the newest ones, until there are enough of them. */
  #keyOf({ table, id }: KeptRow): string {
    // It names its key itself, or has only one.
    if (!growing.has(table)) return prefix + table;
    const place = this.#places.get(table)?.get(id);
    if (place !== undefined) return place;
    const newest = this.#newest.get(table)?.key;
    const rows = newest === undefined ? undefined : this.#groups.get(newest);
    const isRoom = rows !== undefined && Object.keys(rows).length < engineLimits.rowsTogether;
    return newest !== undefined && isRoom ? newest : `${prefix}${table}/${numberOf(id)}`;
  }
}
