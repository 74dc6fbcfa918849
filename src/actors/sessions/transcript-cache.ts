/**
 * What is likely to be read next
 * ==============================
 * The part of a transcript that the next turn is given, kept in memory for sessions that were
 * talking lately, so that a long talk is not read from the store again with every turn. It follows
 * the commits: every line is added when it is durable. Bounded by the length of all its texts; what
 * is not here is read from the store.
 */
import { LRUCache } from "lru-cache";
import { limits } from "../../domain/limits.ts";
import type { Store } from "../../domain/ports/index.ts";
import type { TranscriptLine } from "../../domain/session.ts";

/** The line that stands for those before it, and what was said after those. */
export interface Past {
  readonly mark: TranscriptLine | null;
  readonly lines: readonly TranscriptLine[];
}

export interface TranscriptCache {
  /** The newest part of a session, no more lines than a turn may be given. */
  read(sessionId: string): Promise<Past>;
  /** These lines are durable now. */
  add(lines: readonly TranscriptLine[]): void;
}

interface CachedTranscript {
  mark: TranscriptLine | null;
  lines: TranscriptLine[];
  units: number;
}

/** What a line costs beyond its text. */
const lineUnits = 200;
const sizeOf = ({ text }: TranscriptLine) => text.length + lineUnits;

/** `unitsMax`: of all its texts. */
export function createTranscriptCache(
  store: Pick<Store, "transcript" | "transcriptMark">,
  unitsMax: number = limits.transcriptUnitsCachedMax,
): TranscriptCache {
  const tails = new LRUCache<string, CachedTranscript>({
    maxSize: unitsMax,
    sizeCalculation: ({ units }) => Math.max(1, units),
  });
  /** Lines that became durable while their session was being read. */
  const meanwhile = new Map<string, TranscriptLine[]>();

  async function load(sessionId: string): Promise<CachedTranscript> {
    const late: TranscriptLine[] = [];
    meanwhile.set(sessionId, late);
    const mark = await store.transcriptMark(sessionId);
    const after = mark?.covers ?? 0;
    const limit = limits.transcriptLinesMax;
    const found = await store.transcript({ sessionId, after, limit, newest: true });
    const lines = found.filter(({ covers }) => covers === undefined);
    const units = [...lines, ...(mark === null ? [] : [mark])].map(sizeOf);
    const tail: CachedTranscript = {
      mark,
      lines,
      units: units.reduce((sum, size) => sum + size, 0),
    };
    for (const line of late) put(tail, line);
    if (meanwhile.get(sessionId) === late) meanwhile.delete(sessionId);
    tails.set(sessionId, tail);
    return tail;
  }

  return {
    async read(sessionId) {
      const { mark, lines } = tails.get(sessionId) ?? (await load(sessionId));
      return { mark, lines: [...lines] };
    },
    add(lines) {
      for (const line of lines) {
        const { sessionId } = line;
        meanwhile.get(sessionId)?.push(line);
        const tail = tails.get(sessionId);
        if (tail === undefined) continue;
        put(tail, line);
        // The cache weighs only what is not the same object as before.
        tails.set(sessionId, { ...tail });
      }
    },
  };
}

/** Adds one line. One that stands for others takes their place. */
function put(tail: CachedTranscript, line: TranscriptLine): void {
  const { covers } = line;
  if (covers !== undefined) {
    if (tail.mark !== null && tail.mark.id >= line.id) return;
    const left = tail.lines.filter(({ id }) => id > covers);
    tail.mark = line;
    tail.lines = left;
    tail.units = [line, ...left].reduce((sum, line) => sum + sizeOf(line), 0);
    return;
  }
  if (line.id <= (tail.lines.at(-1)?.id ?? 0)) return;
  tail.lines.push(line);
  tail.units += sizeOf(line);
  if (tail.lines.length <= limits.transcriptLinesMax) return;
  const [first] = tail.lines.splice(0, 1);
  tail.units -= first === undefined ? 0 : sizeOf(first);
}
