/**
 * Transcripts of recently active sessions as their agents see them, each extended by what was said since
 * its last turn, so that a turn does not cost more the longer its conversation is. A line that changes an
 * earlier one (a part that did not arrive), another summary and lines that were left out begin again.
 */
import { LRUCache } from "lru-cache";
import { limits } from "../../domain/limits.ts";
import type { TranscriptEntry } from "../../domain/ports/index.ts";
import type { TranscriptLine } from "../../domain/session.ts";
import { noteText } from "../protocol/batch-encoding.ts";
import { SharedText } from "../util/shared-text.ts";
import type { Past } from "./transcript-cache.ts";
import { appendLines, estimateEntries, type Joining, unsentIn } from "./transcript-view.ts";

/** The past of a session for its next turn. */
export interface SoFar {
  readonly entries: readonly TranscriptEntry[];
  /** As `estimateEntries` of them. */
  readonly tokens: number;
  /** Messages have the names of their authors: asked for, or several people have spoken. */
  readonly named: boolean;
}

export interface TranscriptsSoFar {
  /** `now`: ids of the authors who speak beside those of the lines. */
  of(sessionId: string, past: Past, named: boolean, now: readonly string[]): SoFar;
}

interface Kept {
  readonly mark: TranscriptLine | null;
  readonly named: boolean;
  readonly first: TranscriptLine | undefined;
  readonly authors: Set<string>;
  readonly joining: Joining;
  /** Lines that are entries already, and the last of them. */
  lines: number;
  last: TranscriptLine | undefined;
  /** Entries that no further line can change: how many, their tokens, and their text. */
  settled: number;
  tokens: number;
  readonly text: SharedText;
  /** Bytes of memory beside that of the text. */
  bytes: number;
}

/** What an empty one takes, and an entry beside its part of the text; as measured. */
const keptBytes = 1_000;
const entryBytes = 400;

/** `bytesMax` bounds the memory of all of them. */
export function createTranscriptsSoFar(
  bytesMax: number = limits.transcriptBytesCachedMax,
): TranscriptsSoFar {
  const known = new LRUCache<string, Kept>({
    maxSize: bytesMax,
    sizeCalculation: ({ bytes, text }) => bytes + text.size,
  });

  return {
    of(sessionId, past, named, now) {
      const found = known.get(sessionId);
      let kept = found !== undefined && goesOn(found, past) ? found : begin(past, named);
      extend(kept, past);
      const isNamed = named || new Set([...kept.authors, ...now]).size > 1;
      if (kept.named !== isNamed) {
        kept = begin(past, isNamed);
        extend(kept, past);
      }
      // The cache only weighs a new object again.
      known.set(sessionId, { ...kept });
      const entries = [...kept.joining.entries];
      noteText(entries, kept.settled, kept.text.part);
      const tokens = kept.tokens + estimateEntries(entries.slice(kept.settled));
      return { entries, tokens, named: isNamed };
    },
  };
}

function begin({ mark, lines }: Past, named: boolean): Kept {
  const kept: Kept = {
    mark,
    named,
    first: lines[0],
    authors: new Set(),
    joining: { entries: [], joins: false, unsent: unsentIn(lines) },
    lines: 0,
    last: undefined,
    settled: 0,
    tokens: 0,
    text: new SharedText(),
    bytes: keptBytes,
  };
  if (mark !== null) appendLines(kept.joining, [mark], { named });
  return kept;
}

/** Whether these lines are those that are kept, with others behind them that change none. */
function goesOn(kept: Kept, { mark, lines }: Past): boolean {
  if (kept.mark !== mark || kept.first !== lines[0]) return false;
  if (lines[kept.lines - 1] !== kept.last) return false;
  return lines.slice(kept.lines).every(({ unsent }) => unsent === undefined);
}

function extend(kept: Kept, { lines }: Past): void {
  const added = lines.slice(kept.lines);
  for (const { author } of added) if (author !== undefined) kept.authors.add(author.id);
  const { named, joining } = kept;
  appendLines(joining, added, { named });
  kept.lines = lines.length;
  kept.last = lines.at(-1);
  // The last entry is joined by the next line of its side.
  let text = "";
  for (; kept.settled < joining.entries.length - 1; kept.settled += 1) {
    const entry = joining.entries[kept.settled] as TranscriptEntry;
    kept.tokens += estimateEntries([entry]);
    text += `${kept.settled === 0 ? "" : ","}${JSON.stringify(entry)}`;
    kept.bytes += entryBytes;
  }
  kept.text.append(text);
}
