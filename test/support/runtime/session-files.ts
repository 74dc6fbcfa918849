/**
 * Session files in memory: what an adapter for a disk does, with a disk that can be full, and that
 * may lose or tear what was written, as a crash would.
 */
import { EarshotError } from "../../../src/domain/errors.ts";
import type { SessionFile, SessionFiles } from "../../../src/domain/ports/index.ts";
import type { TranscriptLine } from "../../../src/domain/session.ts";

export interface MemoryFiles extends SessionFiles {
  /** `agentId/sessionId` to its text. */
  readonly files: Map<string, string>;
  readonly indexes: Map<string, string>;
  /** Writes so far. */
  readonly writes: { readonly name: string; readonly lines: number }[];
  full: boolean;
  /** The lines of one file, or of the only one. */
  lines(name?: string): Omit<TranscriptLine, "sessionId">[];
}

const nameOf = ({ agentId, sessionId }: SessionFile) => `${agentId}/${sessionId}`;

export function createMemoryFiles(): MemoryFiles {
  const files = new Map<string, string>();
  const indexes = new Map<string, string>();
  const whole = (name: string) => {
    const text = files.get(name) ?? "";
    return text.slice(0, text.lastIndexOf("\n") + 1);
  };
  const linesOf = (name: string) =>
    whole(name)
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as TranscriptLine);
  const memory: MemoryFiles = {
    files,
    indexes,
    writes: [],
    full: false,
    lines: (name = [...files.keys()][0] ?? "") => linesOf(name),
    async lastLine(file, most = Number.POSITIVE_INFINITY) {
      const name = nameOf(file);
      const kept = linesOf(name).filter(({ id }) => id <= most);
      const text = whole(name).split("\n").slice(0, kept.length);
      if (files.has(name)) files.set(name, text.map((line) => `${line}\n`).join(""));
      return kept.at(-1)?.id ?? 0;
    },
    async append(file, lines) {
      if (memory.full) throw new EarshotError("EAR_STORE_FULL", "Cannot write: the disk is full");
      const name = nameOf(file);
      memory.writes.push({ name, lines: lines.length });
      files.set(name, `${files.get(name) ?? ""}${lines.map((line) => `${line}\n`).join("")}`);
    },
    async writeIndex(agentId, parts) {
      let text = "";
      for await (const part of parts) text += part;
      indexes.set(agentId, text);
    },
    indexHead: async (agentId) => indexes.get(agentId)?.split("\n")[0] ?? null,
  };
  return memory;
}
