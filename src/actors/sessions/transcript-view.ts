/**
 * The transcript as an agent gets it
 * ==================================
 * What was said in this session before: people's words (with their names, where there are several
 * people), the agent's answers, and what stands for lines that are too old to be carried along.
 * Lines of one side that follow each other are one entry. Notes of the runtime are not for agents.
 */
import type { TranscriptEntry } from "../../domain/ports/index.ts";
import type { TranscriptLine } from "../../domain/session.ts";
import { escapeLabel, escapeRoomText } from "../../machines/prompt/escape.ts";

export interface TranscriptView {
  /** Several people may have spoken: say who. */
  readonly named: boolean;
}

/** UTF-8 bytes that count as one token: close for English, and not far under it for others. */
const bytesPerToken = 4;
/** What an entry costs beyond its text. */
const entryTokens = 4;

/** About how many tokens a text has. */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken);
}

/** About how many tokens entries have. */
export function estimateEntries(entries: readonly Pick<TranscriptEntry, "text">[]): number {
  return entries.reduce((sum, { text }) => sum + entryTokens + estimateTokens(text), 0);
}

/** Lines, in order, as entries. */
export function entriesOf(
  lines: readonly TranscriptLine[],
  view: TranscriptView,
): TranscriptEntry[] {
  const entries: TranscriptEntry[] = [];
  let joins = false;
  for (const line of lines) {
    const entry = entryOf(line, view);
    const last = entries.at(-1);
    if (entry === null) continue;
    if (joins && last !== undefined && last.role === entry.role)
      entries[entries.length - 1] = { ...last, text: joined(last, entry) };
    else entries.push(entry);
    joins = line.covers === undefined;
  }
  return entries;
}

function joined(last: TranscriptEntry, next: TranscriptEntry): string {
  return `${last.text}${last.role === "assistant" ? "\n\n" : "\n"}${next.text}`;
}

/** Lines that were read before: a long talk is not escaped anew with every turn. */
const namedLines = new WeakMap<TranscriptLine, string>();
const plainLines = new WeakMap<TranscriptLine, string>();

/** A person's line. The fence of a later turn cannot be in it: nobody could know it then. */
function escaped(line: TranscriptLine, named: boolean): string {
  const lines = named ? namedLines : plainLines;
  let text = lines.get(line);
  if (text === undefined) {
    text = named ? namedLine(line) : escapeRoomText(line.text, line.turnId);
    lines.set(line, text);
  }
  return text;
}

/** With who said it. Further lines stand in, or one of them could be another person's. */
function namedLine({ text, author, turnId }: TranscriptLine): string {
  const words = escapeRoomText(text, turnId);
  if (author === undefined) return words;
  return `${escapeLabel(author.name, turnId)}: ${words.replaceAll("\n", "\n  ")}`;
}

function entryOf(line: TranscriptLine, { named }: TranscriptView): TranscriptEntry | null {
  const { role, text, at, covers } = line;
  switch (role) {
    case "user":
      return { role, at, text: escaped(line, named) };
    case "assistant":
      return { role, at, text };
    case "summary":
      return { role: "user", at, text: `[Your summary of what was said before]\n${text}` };
    case "note":
      return covers === undefined ? null : { role: "user", at, text: `[${text}]` };
  }
}
