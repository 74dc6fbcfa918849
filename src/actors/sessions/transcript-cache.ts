/**
 * The part of a transcript that the next turn gets, in memory for recently active sessions, so that
 * a long conversation is not read from the store with every turn. It follows the commits: every
 * line is added when it is durable. Bounded by the memory that it takes; the rest is read from the store.
 */
import { LRUCache } from "lru-cache";
import { limits } from "../../domain/limits.ts";
import type { Store } from "../../domain/ports/index.ts";
import type { TranscriptLine } from "../../domain/session.ts";
import { bytesOfText } from "../util/cache-size.ts";

/** The summary line, and the lines after it. */
export interface Past {
  readonly mark: TranscriptLine | null;
  readonly lines: readonly TranscriptLine[];
}

export interface TranscriptCache {
  /** The newest part of a session, up to the lines a turn may get. */
  read(sessionId: string): Promise<Past>;
  /** Adds durable lines. */
  add(lines: readonly TranscriptLine[]): void;
}

interface CachedTranscript {
  mark: TranscriptLine | null;
  lines: TranscriptLine[];
  bytes: number;
}

/** Bytes of a line beyond its text, as measured: its ids, its author, the object; of a new one fewer. */
const lineBytes = 500;
const sizeOf = ({ text }: TranscriptLine) => bytesOfText(text) + lineBytes;

/** `bytesMax` bounds the memory of all lines. */
export function createTranscriptCache(
  store: Pick<Store, "transcript" | "transcriptMark">,
  bytesMax: number = limits.transcriptBytesCachedMax,
): TranscriptCache {
  const tails = new LRUCache<string, CachedTranscript>({
    maxSize: bytesMax,
    sizeCalculation: ({ bytes }) => Math.max(1, bytes),
  });
  /** Lines that became durable while their session was being loaded. */
  const meanwhile = new Map<string, TranscriptLine[]>();

  async function load(sessionId: string): Promise<CachedTranscript> {
    const late: TranscriptLine[] = [];
    meanwhile.set(sessionId, late);
    const mark = await store.transcriptMark(sessionId);
    const after = mark?.covers ?? 0;
    const limit = limits.transcriptLinesMax;
    const found = await store.transcript({ sessionId, after, limit, newest: true });
    const lines = found.filter(({ covers }) => covers === undefined);
    const bytes = [...lines, ...(mark === null ? [] : [mark])].map(sizeOf);
    const tail: CachedTranscript = {
      mark,
      lines,
      bytes: bytes.reduce((sum, size) => sum + size, 0),
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
        // The cache only weighs a new object again.
        tails.set(sessionId, { ...tail });
      }
    },
  };
}

/** Adds one line. A summary replaces the lines it covers. */
function put(tail: CachedTranscript, line: TranscriptLine): void {
  const { covers } = line;
  if (covers !== undefined) {
    if (tail.mark !== null && tail.mark.id >= line.id) return;
    const left = tail.lines.filter(({ id }) => id > covers);
    tail.mark = line;
    tail.lines = left;
    tail.bytes = [line, ...left].reduce((sum, line) => sum + sizeOf(line), 0);
    return;
  }
  if (line.id <= (tail.lines.at(-1)?.id ?? 0)) return;
  tail.lines.push(line);
  tail.bytes += sizeOf(line);
  if (tail.lines.length <= limits.transcriptLinesMax) return;
  const [first] = tail.lines.splice(0, 1);
  tail.bytes -= first === undefined ? 0 : sizeOf(first);
}
