/**
 * Sessions in memory
 * ==================
 * The sessions and transcripts of the memory store: the same contract as their tables, in plain
 * maps.
 */
import type {
  SessionQuery,
  SessionReads,
  SessionRow,
  SessionWrite,
  TranscriptWrite,
} from "../../domain/ports/index.ts";
import {
  defaultSessionSettings,
  noUsage,
  patchedSettings,
  type TranscriptLine,
} from "../../domain/session.ts";
import { createLines } from "./memory.lines.ts";

interface Kept {
  row: SessionRow;
  readonly fromSeq: number;
}

export interface MemorySessions {
  /** 1, or 0 if refused. */
  put(write: SessionWrite | TranscriptWrite): number;
  readonly reads: SessionReads;
}

/** Lines of which `lately` knows. */
const newestMax = 10_000;

/** `turnsMax`: turns whose session is known; older ones are forgotten. */
export function createMemorySessions({
  lines = createLines(),
  turnsMax = Number.POSITIVE_INFINITY,
} = {}): MemorySessions {
  const sessions = new Map<string, Kept>();
  /** Of each conversation, the newest first. */
  const conversations = new Map<number, Kept[]>();
  /** Sessions by the turns that have left a line. */
  const turns = new Map<string, string>();
  /** The sessions of the newest lines. */
  let newest: string[] = [];
  let lastLine = 0;

  const ofConversation = (conv: number) => conversations.get(conv) ?? [];
  const inUse = (conv: number) =>
    ofConversation(conv).find(({ row }) => row.archivedAt === null) ?? null;
  const change = (kept: Kept | null | undefined, how: Partial<SessionRow>): number => {
    if (kept === null || kept === undefined) return 0;
    kept.row = { ...kept.row, ...how };
    return 1;
  };

  function put(write: SessionWrite | TranscriptWrite): number {
    if (write.kind === "transcript") {
      keep(write.line);
      return change(sessions.get(write.line.sessionId), { updatedAt: write.line.at });
    }
    switch (write.op) {
      case "open":
        return inUse(write.conv) === null ? make(write, 0) : 0;
      case "begin": {
        if (sessions.has(write.sessionId)) return 0;
        const before = ofConversation(write.conv)[0]?.row.settings;
        change(inUse(write.conv), { archivedAt: write.at });
        return make(write, write.fromSeq, before);
      }
      case "settings": {
        const { settings, at } = write;
        return change(inUse(write.conv), { settings, updatedAt: at });
      }
      case "patch": {
        const kept = inUse(write.conv);
        if (kept === null) return 0;
        return change(kept, { settings: patchedSettings(kept.row.settings, write.patch) });
      }
      case "used": {
        const kept = sessions.get(write.sessionId);
        if (kept === undefined) return 0;
        const { usage, abortedLastRun } = kept.row;
        return change(kept, {
          updatedAt: write.at,
          usage: sum(usage, write.used),
          abortedLastRun: write.aborted ?? abortedLastRun,
        });
      }
    }
  }

  function keep(line: TranscriptLine): void {
    const { id, sessionId, turnId } = line;
    lines.add(line);
    if (!turns.has(turnId)) turns.set(turnId, sessionId);
    if (turns.size > turnsMax * 1.25) forgetTurns();
    lastLine = Math.max(lastLine, id);
    newest.push(sessionId);
    if (newest.length > newestMax * 2) newest = newest.slice(-newestMax);
  }

  /** Many at a time: the first key of a map that has lost its first ones is far from its start. */
  function forgetTurns(): void {
    for (const turnId of turns.keys()) {
      if (turns.size <= turnsMax) return;
      turns.delete(turnId);
    }
  }

  function make(
    write: Extract<SessionWrite, { op: "open" | "begin" }>,
    fromSeq: number,
    settings = defaultSessionSettings,
  ): number {
    const { conv, key, agentId, sessionId, at } = write;
    const times = { createdAt: at, updatedAt: at, archivedAt: null };
    const fresh = { settings, usage: noUsage, abortedLastRun: false };
    const kept = { row: { conv, key, agentId, sessionId, ...times, ...fresh }, fromSeq };
    sessions.set(sessionId, kept);
    conversations.set(conv, [kept, ...ofConversation(conv)]);
    return 1;
  }

  return {
    put,
    reads: {
      transcript: async (query) => [...lines.read(query)],
      transcriptMark: async (sessionId) => lines.mark(sessionId),
      lastLine: async () => lastLine,
      lately: async (count) => {
        const ids = new Set(newest.slice(-count));
        return [...ids].flatMap((id) => sessions.get(id)?.row ?? []);
      },
      session: async (sessionId) => sessions.get(sessionId)?.row ?? null,
      sessionOf: async (conv, seq) => {
        if (seq === undefined) return inUse(conv)?.row ?? null;
        return ofConversation(conv).find(({ fromSeq }) => fromSeq < seq)?.row ?? null;
      },
      sessionOfTurn: async (turnId) => {
        const sessionId = turns.get(turnId);
        return sessionId === undefined ? null : (sessions.get(sessionId)?.row ?? null);
      },
      sessions: async ({ agentId, conv, all = false, after = "", limit }: SessionQuery) =>
        [...sessions.values()]
          .map(({ row }) => row)
          .filter(
            (row) =>
              row.sessionId > after &&
              (agentId === undefined || row.agentId === agentId) &&
              (conv === undefined || row.conv === conv) &&
              (all || row.archivedAt === null),
          )
          .sort((a, b) => (a.sessionId < b.sessionId ? -1 : 1))
          .slice(0, limit),
      newestSessions: async () => {
        const newest = new Map<string, string>();
        for (const { row } of sessions.values())
          if (row.sessionId > (newest.get(row.agentId) ?? ""))
            newest.set(row.agentId, row.sessionId);
        return [...newest].map(([agentId, sessionId]) => ({ agentId, sessionId }));
      },
      usageByAgent: async () => {
        const totals = new Map<string, typeof noUsage>();
        for (const { row } of sessions.values())
          totals.set(row.agentId, sum(totals.get(row.agentId) ?? noUsage, row.usage));
        return [...totals]
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([agentId, usage]) => ({ agentId, ...usage }));
      },
    },
  };
}

function sum(a: typeof noUsage, b: typeof noUsage): typeof noUsage {
  return {
    turns: a.turns + b.turns,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    costUsd: a.costUsd + b.costUsd,
  };
}
