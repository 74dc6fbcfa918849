/**
 * The rows of a conversation as Restate keeps them
 * ================================================
 * A key of the state holds the rows of one table, of a table that grows some consecutive ones: a change stores the
 * rows of its key again, and no others.
 */
import { engineLimits } from "../../domain/ports/engine/engine-limits.ts";
import type { KeptRow } from "../../domain/ports/index.ts";

/** Rows by their ids. */
export type Group = Readonly<Record<string, NonNullable<KeptRow["row"]>>>;

/** Tables whose rows are numbered and stay. */
const growing: ReadonlySet<string> = new Set(["journal", "applied", "transcript"]);
const prefix = "rows/";

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

function groupOf({ table, id }: KeptRow): string {
  if (!growing.has(table)) return prefix + table;
  const [number] = JSON.parse(id) as [number];
  return `${prefix}${table}/${Math.floor(number / engineLimits.rowsTogether)}`;
}

export class KeptState {
  readonly #groups: Map<string, Group>;

  constructor(groups: Iterable<readonly [string, Group]>) {
    this.#groups = new Map(groups);
  }

  get isEmpty(): boolean {
    return this.#groups.size === 0;
  }

  keys(): readonly string[] {
    return [...this.#groups.keys()];
  }

  rows(): readonly KeptRow[] {
    return [...this.#groups].flatMap(([key, rows]) => {
      const [table = ""] = key.slice(prefix.length).split("/");
      return Object.entries(rows).map(([id, row]) => ({ table, id, row }));
    });
  }

  /** The encoded verdict on a message; null: none is stored. */
  verdictOn(messageId: string): number | null {
    const rows = this.rows();
    const codes = new Map(
      rows.flatMap(({ table, row }) =>
        table === "applied" && row !== null ? [[row.seq, row.code] as const] : [],
      ),
    );
    const found = rows.findLast(
      ({ table, row }) => table === "journal" && row?.mid === messageId && codes.has(row.seq),
    );
    const code = codes.get(found?.row?.seq ?? null);
    return typeof code === "number" && code > 0 ? code : null;
  }

  /** Applies changes. Returns the groups that are different now; null: there is nothing left in it. */
  apply(changes: readonly KeptRow[]): ReadonlyMap<string, Group | null> {
    const changed = new Map<string, Group | null>();
    for (const change of changes) {
      const key = groupOf(change);
      const { [change.id]: _, ...others } = this.#groups.get(key) ?? {};
      const rows = change.row === null ? others : { ...others, [change.id]: change.row };
      this.#groups.set(key, rows);
      changed.set(key, Object.keys(rows).length === 0 ? null : rows);
    }
    for (const [key, rows] of changed) if (rows === null) this.#groups.delete(key);
    return changed;
  }
}
