/**
 * Which conversations there are
 * =============================
 * Restate is asked with SQL, at its admin port, for the keys and revisions of all of them.
 */
import { z } from "zod";
import { engineLimits } from "../../../domain/ports/engine/engine-limits.ts";
import { askAdmin } from "../calls/admin-query.ts";

const answerSchema = z.object({
  rows: z.array(z.object({ service_key: z.string(), value_utf8: z.string() })),
});

/** Keys and revisions behind a key, by key, and the last key that was looked at; null: all were. */
export interface RevisionPage {
  readonly found: ReadonlyMap<string, number>;
  readonly upTo: string | null;
}

/** @throws EarshotError EAR_STORE_FAILED: the server cannot be reached, or answers something else. */
export type ReadRevisions = (after: string) => Promise<RevisionPage>;

/**
 * @param admin base URL of Restate's admin API
 * @param object whose state has a `revision`
 */
export function revisionReader(admin: string, object: string): ReadRevisions {
  const limit = engineLimits.revisionsTogether;
  return async (after) => {
    const query =
      `SELECT service_key, value_utf8 FROM state WHERE service_name = '${object}' ` +
      `AND key = 'revision' AND service_key > '${after.replaceAll("'", "''")}' ` +
      `ORDER BY service_key LIMIT ${limit}`;
    const { rows } = answerSchema.parse(await askAdmin(admin, query, "conversations"));
    const found = new Map(
      rows.map(({ service_key, value_utf8 }) => [service_key, Number(value_utf8)]),
    );
    return { found, upTo: rows.length < limit ? null : (rows.at(-1)?.service_key ?? null) };
  };
}
