/**
 * The runtime's parts for sessions
 * ================================
 * Connects the parts of sessions: their turns, their files, their index, and the history that a
 * turn gets.
 */
import type { EarshotError } from "../../domain/errors.ts";
import type { Configs } from "../journal/config-versions.ts";
import type { Journal } from "../journal/journal.ts";
import type { RuntimePorts } from "../protocol/runtime.ts";
import type { Supervisor } from "../protocol/supervisor.ts";
import { createCompaction } from "../sessions/compaction.ts";
import { createSessionIndex } from "../sessions/session-index.ts";
import { createSessions } from "../sessions/session-registry.ts";
import { createSideQuestions } from "../sessions/side-questions.ts";
import { createSummaries } from "../sessions/summarizer.ts";
import { createTranscriptCache } from "../sessions/transcript-cache.ts";
import { createTranscriptFiles, type TranscriptFiles } from "../sessions/transcript-files.ts";
import { enterSession, type TurnSessions } from "../sessions/turn-session.ts";
import type { SessionParts } from "./parts.ts";

export interface SessionPartsPorts extends RuntimePorts {
  readonly journal: Journal;
  readonly configs: Configs;
  /** The supervisor, once there is one. */
  readonly supervisor: () => Pick<Supervisor, "run" | "abort">;
  /** Files began to fail, or work again (null). */
  readonly onHealth: (error: EarshotError | null) => void;
}

export function createSessionParts(ports: SessionPartsPorts): SessionParts {
  const { clock, log, store, ids, numbers, journal, configs, supervisor, onHealth } = ports;
  const files = ports.sessionFiles ?? null;
  const config = () => configs.current();
  const cfg = () => configs.version();
  const sessionIndex = createSessionIndex({ clock, log, store, files });
  const sessions = createSessions({
    store,
    journal,
    ids,
    numbers,
    onBegan: sessionIndex.changed,
  });
  const tails = createTranscriptCache(store, ports.transcriptBytesMax);
  const toFiles = createTranscriptFiles({ clock, log, store, files, onHealth });
  const projection: TranscriptFiles = {
    ...toFiles,
    write(filed) {
      tails.add(filed.map(({ line }) => line));
      return toFiles.write(filed);
    },
  };
  const summaries = createSummaries({
    ids,
    config,
    cfg,
    run: (order) => supervisor().run(order),
    abort: (turnId, reason) => supervisor().abort(turnId, reason),
  });
  const common = { clock, log, store, journal, sessions, projection };
  const compaction = createCompaction({
    ...common,
    ids,
    summaries,
    transcripts: tails,
    config,
    cfg,
  });
  const sideQuestions = createSideQuestions({
    clock,
    ids,
    journal,
    summaries,
    transcripts: tails,
    config,
  });
  const turnSessions: TurnSessions = {
    enter: (turn, messages) => enterSession(common, turn, messages),
    remember: compaction.remember,
  };
  return { sessions, projection, sessionIndex, summaries, compaction, sideQuestions, turnSessions };
}
