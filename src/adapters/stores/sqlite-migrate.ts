/**
 * Migrations
 * ==========
 * Changes the tables of an older earshot to the current ones in one transaction, all or nothing. A
 * database of a newer earshot is refused.
 */
import { EarshotError } from "../../domain/errors.ts";
import { parseSessionKey } from "../../domain/key.ts";
import { createIds } from "../system/ids.ts";
import type { Database } from "./sqlite-driver.ts";
import { accessSchema, schema, schemaVersion } from "./sqlite-schema.ts";
import { putSession, sessionSchema, transcriptIndexes } from "./sqlite-sessions.ts";

/** @throws EarshotError EAR_STORE_VERSION; the database is closed then. */
export function migrate(database: Database, path: string): void {
  const found = database.prepare("PRAGMA user_version").get() as { user_version: number };
  if (found.user_version === schemaVersion) return;
  const tables = database.prepare("SELECT count(*) AS n FROM sqlite_schema").get() as { n: number };
  const isOlder = found.user_version > 0 && found.user_version < schemaVersion;
  if (!isOlder && (found.user_version !== 0 || tables.n > 0)) {
    database.close();
    throw new EarshotError(
      "EAR_STORE_VERSION",
      `Cannot open ${path}: this earshot writes schema version ${schemaVersion} (found version ` +
        `${found.user_version}). Use the earshot that wrote it, or another state directory.`,
    );
  }
  database.exec("BEGIN IMMEDIATE");
  try {
    if (found.user_version === 0) database.exec(schema);
    else {
      if (found.user_version < 2) addSessions(database);
      // Version 2 had no table for people besides those in the config.
      if (found.user_version < 3) database.exec(accessSchema);
      addSums(database);
    }
    database.exec("PRAGMA user_version = 5");
    database.exec("COMMIT");
  } catch (error) {
    database.exec("ROLLBACK");
    database.close();
    throw error;
  }
}

/**
 * Version 3 had no checksums, version 4 none of records and transcripts: rows from before keep none.
 */
function addSums(database: Database): void {
  for (const [columns, add] of [
    ["PRAGMA table_info(journal)", "ALTER TABLE journal ADD COLUMN sum INTEGER"],
    ["PRAGMA table_info(outbox)", "ALTER TABLE outbox ADD COLUMN sum INTEGER"],
    ["PRAGMA table_info(conversation)", "ALTER TABLE conversation ADD COLUMN sum INTEGER"],
    ["PRAGMA table_info(transcript)", "ALTER TABLE transcript ADD COLUMN sum INTEGER"],
  ] as const) {
    const found = database.prepare(columns).all() as { name: string }[];
    if (!found.some(({ name }) => name === "sum")) database.exec(add);
  }
}

/** Version 1 had one endless transcript per conversation: it becomes its first session. */
function addSessions(database: Database): void {
  database.exec(sessionSchema);
  database.exec("DROP INDEX IF EXISTS transcript_conv");
  database.exec("ALTER TABLE transcript ADD COLUMN session TEXT NOT NULL DEFAULT ''");
  database.exec("ALTER TABLE transcript ADD COLUMN covers INTEGER");
  database.exec("ALTER TABLE transcript ADD COLUMN more TEXT");
  const talked = database
    .prepare(
      "SELECT c.conv AS conv, c.key AS key, min(t.at) AS first, max(t.at) AS last, " +
        "count(DISTINCT t.turn) AS turns FROM conversation c " +
        "JOIN transcript t ON t.conv = c.conv GROUP BY c.conv ORDER BY first, c.conv",
    )
    .all() as { conv: number; key: string; first: number; last: number; turns: number }[];
  const own = database.prepare("UPDATE transcript SET session = ? WHERE conv = ?");
  database.exec("CREATE INDEX transcript_conv ON transcript(conv)");
  const use = (text: string) => database.prepare(text);
  const noTokens = { inputTokens: 0, outputTokens: 0, costUsd: 0 };
  for (const { conv, key, first, last, turns } of talked) {
    const sessionId = createIds(() => first).next();
    const { agentId } = parseSessionKey(key);
    const named = { kind: "session", conv, key, agentId, sessionId } as const;
    putSession(use, { ...named, op: "open", at: first });
    putSession(use, {
      kind: "session",
      op: "used",
      sessionId,
      at: last,
      aborted: null,
      used: { turns, ...noTokens },
    });
    own.run(sessionId, conv);
  }
  database.exec("DROP INDEX transcript_conv");
  database.exec(transcriptIndexes);
}
