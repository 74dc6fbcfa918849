/**
 * The memory store's transcripts
 * ==============================
 * Lines of sessions in plain arrays: for tests and for short simulations. stores/spilled.lines.ts
 * keeps the same for long ones.
 */
import type { TranscriptQuery } from "../../domain/ports/index.ts";
import type { TranscriptLine } from "../../domain/session.ts";

/** Lines by session. Their numbers grow. */
export interface Lines {
  add(line: TranscriptLine): void;
  read(query: TranscriptQuery): readonly TranscriptLine[];
  /** The newest line of the session that stands for those before it. */
  mark(sessionId: string): TranscriptLine | null;
  close(): void;
}

/** Lines in plain arrays. */
export function createLines(): Lines {
  const lines = new Map<string, TranscriptLine[]>();
  const linesOf = (sessionId: string) => lines.get(sessionId) ?? [];
  return {
    add(line) {
      const own = lines.get(line.sessionId);
      if (own === undefined) lines.set(line.sessionId, [line]);
      else own.push(line);
    },
    read({ sessionId, after = 0, limit, newest = false }) {
      const found = linesOf(sessionId).filter(({ id }) => id > after);
      return newest ? found.slice(Math.max(0, found.length - limit)) : found.slice(0, limit);
    },
    mark: (sessionId) => linesOf(sessionId).findLast(({ covers }) => covers !== undefined) ?? null,
    close: () => undefined,
  };
}
