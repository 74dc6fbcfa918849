/**
 * One row per session, one per transcript line. Usage is added in place, so two concurrent steps
 * never overwrite each other's count; an index guarantees one current session per conversation,
 * whatever is written.
 */
import type {
  SessionReads,
  SessionRow,
  SessionWrite,
  TranscriptWrite,
} from "../../domain/ports/index.ts";
import {
  defaultSessionSettings,
  patchedSettings,
  type SessionSettings,
  type SessionUsage,
  type TranscriptLine,
} from "../../domain/session.ts";
import { checkedLine, type Damaged, type StoredLine, type Summed, sumOfLine } from "./row-sum.ts";
import type { Statement } from "./sqlite-driver.ts";

export const sessionSchema = `
CREATE TABLE session(
  id TEXT PRIMARY KEY, conv INTEGER NOT NULL, key TEXT NOT NULL, agent TEXT NOT NULL,
  created INTEGER NOT NULL, updated INTEGER NOT NULL, from_seq INTEGER NOT NULL,
  settings TEXT NOT NULL, turns INTEGER NOT NULL DEFAULT 0, input INTEGER NOT NULL DEFAULT 0,
  output INTEGER NOT NULL DEFAULT 0, cost REAL NOT NULL DEFAULT 0,
  aborted INTEGER NOT NULL DEFAULT 0, archived INTEGER
) WITHOUT ROWID;
CREATE INDEX session_conv ON session(conv, from_seq);
CREATE UNIQUE INDEX session_in_use ON session(conv) WHERE archived IS NULL;
`;
export const transcriptSchema = `
CREATE TABLE transcript(
  id INTEGER PRIMARY KEY, conv INTEGER NOT NULL, turn TEXT NOT NULL, role TEXT NOT NULL,
  at INTEGER NOT NULL, text TEXT NOT NULL, session TEXT NOT NULL DEFAULT '', covers INTEGER,
  more TEXT, sum INTEGER);
`;
export const transcriptIndexes = `
CREATE INDEX transcript_session ON transcript(session, id);
CREATE INDEX transcript_turn ON transcript(turn);
`;

const session =
  "SELECT s.id AS sessionId, s.conv AS conv, s.key AS key, s.agent AS agentId, " +
  "s.created AS createdAt, s.updated AS updatedAt, s.settings AS settings, s.turns AS turns, " +
  "s.input AS inputTokens, s.output AS outputTokens, s.cost AS costUsd, s.aborted AS aborted, " +
  "s.archived AS archivedAt FROM session s ";
const line = "SELECT id, session, turn, role, at, text, covers, more, sum FROM transcript ";

export const sessionSql = {
  open:
    "INSERT INTO session(id, conv, key, agent, created, updated, from_seq, settings) " +
    "VALUES(?, ?, ?, ?, ?, ?, 0, ?) ON CONFLICT DO NOTHING",
  archive: "UPDATE session SET archived = ? WHERE conv = ? AND archived IS NULL AND id <> ?",
  begin:
    "INSERT INTO session(id, conv, key, agent, created, updated, from_seq, settings) " +
    "VALUES(?1, ?2, ?3, ?4, ?5, ?5, ?6, coalesce((SELECT settings FROM session WHERE conv = ?2 " +
    "ORDER BY from_seq DESC LIMIT 1), ?7)) ON CONFLICT DO NOTHING",
  settings: "UPDATE session SET settings = ?, updated = ? WHERE conv = ? AND archived IS NULL",
  patch: "UPDATE session SET settings = ? WHERE conv = ? AND archived IS NULL",
  used:
    "UPDATE session SET updated = ?, turns = turns + ?, input = input + ?, output = output + ?, " +
    "cost = cost + ?, aborted = coalesce(?, aborted) WHERE id = ?",
  touch: "UPDATE session SET updated = ? WHERE id = ?",
  insertLine:
    "INSERT INTO transcript(id, conv, turn, role, at, text, session, covers, more, sum) " +
    "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",

  scanLines: `${line}WHERE id > ? ORDER BY id LIMIT ?`,
  lines: `${line}WHERE session = ? AND id > ? ORDER BY id LIMIT ?`,
  newest: `${line}WHERE session = ? AND id > ? ORDER BY id DESC LIMIT ?`,
  linesOfTurn: `${line}WHERE turn = ? ORDER BY id`,
  mark: `${line}WHERE session = ? AND covers IS NOT NULL ORDER BY id DESC LIMIT 1`,
  lastLine: "SELECT coalesce(max(id), 0) AS id FROM transcript",
  lately: `${session}WHERE s.id IN (SELECT session FROM transcript ORDER BY id DESC LIMIT ?)`,
  session: `${session}WHERE s.id = ?`,
  inUse: `${session}WHERE s.conv = ? AND s.archived IS NULL`,
  at: `${session}WHERE s.conv = ? AND s.from_seq < ? ORDER BY s.from_seq DESC LIMIT 1`,
  ofTurn: `${session}WHERE s.id = (SELECT session FROM transcript WHERE turn = ? LIMIT 1)`,
  list:
    `${session}WHERE s.id > ?1 AND (?2 IS NULL OR s.agent = ?2) AND (?3 OR s.archived IS NULL) ` +
    "ORDER BY s.id LIMIT ?4",
  listOfConv:
    `${session}WHERE s.id > ?1 AND (?2 IS NULL OR s.agent = ?2) AND (?3 OR s.archived IS NULL) ` +
    "AND s.conv = ?5 ORDER BY s.id LIMIT ?4",
  newestSessions: "SELECT agent AS agentId, max(id) AS sessionId FROM session GROUP BY agent",
  usage:
    "SELECT agent AS agentId, sum(turns) AS turns, sum(input) AS inputTokens, " +
    "sum(output) AS outputTokens, sum(cost) AS costUsd FROM session GROUP BY agent ORDER BY agent",
} as const;

const sql = sessionSql;

type Use = (text: string) => Statement;

/** Adds one write to the current transaction. 1, or 0 if refused. */
export function putSession(use: Use, write: SessionWrite | TranscriptWrite): number {
  if (write.kind === "transcript") return putLine(use, write);
  switch (write.op) {
    case "open": {
      const { sessionId, conv, key, agentId, at } = write;
      const settings = JSON.stringify(defaultSessionSettings);
      return changes(use(sql.open).run(sessionId, conv, key, agentId, at, at, settings));
    }
    case "begin": {
      const { sessionId, conv, key, agentId, at, fromSeq } = write;
      const settings = JSON.stringify(defaultSessionSettings);
      use(sql.archive).run(at, conv, sessionId);
      return changes(use(sql.begin).run(sessionId, conv, key, agentId, at, fromSeq, settings));
    }
    case "settings":
      return changes(use(sql.settings).run(JSON.stringify(write.settings), write.at, write.conv));
    case "patch": {
      const { conv, patch } = write;
      const { settings: before } = (use(sql.inUse).get(conv) ?? {}) as { settings?: string };
      if (before === undefined) return 0;
      const after = patchedSettings(JSON.parse(before) as SessionSettings, patch);
      return changes(use(sql.patch).run(JSON.stringify(after), conv));
    }
    case "used": {
      const { sessionId, at, used, aborted } = write;
      const { turns, inputTokens, outputTokens, costUsd } = used;
      const flag = aborted === null ? null : Number(aborted);
      return changes(
        use(sql.used).run(at, turns, inputTokens, outputTokens, costUsd, flag, sessionId),
      );
    }
  }
}

const changes = (answer: { readonly changes: number | bigint }) => Number(answer.changes);

function putLine(use: Use, { conv, line }: TranscriptWrite): number {
  const { id, turnId, role, at, text, sessionId, covers, author, messageId, part, unsent, usage } =
    line;
  const json = JSON.stringify({ author, messageId, part, unsent, usage });
  const more = json === "{}" ? null : json;
  const row = {
    id,
    session: sessionId,
    turn: turnId,
    role,
    at,
    text,
    covers: covers ?? null,
    more,
  };
  use(sql.insertLine).run(
    ...[id, conv, turnId, role, at, text, sessionId],
    ...[row.covers, more, sumOfLine(row)],
  );
  use(sql.touch).run(at, sessionId);
  return 1;
}

interface StoredSession
  extends Omit<SessionRow, "settings" | "usage" | "abortedLastRun">,
    SessionUsage {
  readonly settings: string;
  readonly aborted: number;
}

function sessionRow(stored: StoredSession): SessionRow {
  const { settings, aborted, turns, inputTokens, outputTokens, costUsd, ...rest } = stored;
  return {
    ...rest,
    settings: { ...defaultSessionSettings, ...(JSON.parse(settings) as object) },
    usage: { turns, inputTokens, outputTokens, costUsd },
    abortedLastRun: aborted === 1,
  };
}

/** @throws EarshotError EAR_STORE_DAMAGED */
function lineOf(row: Summed<StoredLine>, damaged: Damaged): TranscriptLine {
  const { session: sessionId, turn, covers, more, ...rest } = checkedLine(row, damaged);
  return {
    ...rest,
    sessionId,
    turnId: turn,
    ...(covers === null ? {} : { covers }),
    ...(more === null ? {} : (JSON.parse(more) as object)),
  };
}

/** The store's ways to read, each with a fixed text. */
export interface Reading {
  one<Row>(text: string, ...values: (string | number | null)[]): Promise<Row | null>;
  all<Row>(text: string, ...values: (string | number | null)[]): Promise<Row[]>;
  readonly damaged: Damaged;
}

/** The reads of sessions. */
export function sessionReads({ one, all, damaged }: Reading): SessionReads {
  const lineAs = (row: Summed<StoredLine>) => lineOf(row, damaged);
  const row = async (text: string, ...values: (string | number)[]) => {
    const stored = await one<StoredSession>(text, ...values);
    return stored === null ? null : sessionRow(stored);
  };
  return {
    async transcript({ sessionId, after = 0, limit, newest = false }) {
      const text = newest ? sql.newest : sql.lines;
      const rows = await all<Summed<StoredLine>>(text, sessionId, after, limit);
      return (newest ? rows.reverse() : rows).map(lineAs);
    },
    async transcriptOfTurn(turnId) {
      return (await all<Summed<StoredLine>>(sql.linesOfTurn, turnId)).map(lineAs);
    },
    async transcriptMark(sessionId) {
      const stored = await one<Summed<StoredLine>>(sql.mark, sessionId);
      return stored === null ? null : lineAs(stored);
    },
    async lastLine() {
      return (await one<{ id: number }>(sql.lastLine))?.id ?? 0;
    },
    lately: async (lines) => (await all<StoredSession>(sql.lately, lines)).map(sessionRow),
    session: (sessionId) => row(sql.session, sessionId),
    sessionOf: (conv, seq) => (seq === undefined ? row(sql.inUse, conv) : row(sql.at, conv, seq)),
    sessionOfTurn: (turnId) => row(sql.ofTurn, turnId),
    async sessions({ agentId, conv, all: archived = false, after = "", limit }) {
      const values = [after, agentId ?? null, Number(archived), limit];
      const rows =
        conv === undefined
          ? await all<StoredSession>(sql.list, ...values)
          : await all<StoredSession>(sql.listOfConv, ...values, conv);
      return rows.map(sessionRow);
    },
    newestSessions: () => all(sql.newestSessions),
    usageByAgent: () => all(sql.usage),
  };
}
