/**
 * The transcript as an agent sees it
 * ==================================
 * Earlier messages of the session: people's messages (with names, where there are several people),
 * the agent's answers, and summaries of older lines. Consecutive lines of one side are merged.
 * Notes of the runtime are left out.
 */
import type { TranscriptEntry } from "../../domain/ports/index.ts";
import type { TranscriptLine, UnsentPart } from "../../domain/session.ts";
import { escapeLabel, escapeRoomText } from "../../machines/prompt/escape.ts";

/** How words that are kept but may not have arrived are marked. */
export function arrival(unsent: readonly UnsentPart[]): string {
  const mayHave = unsent.some(({ status }) => status === "in-doubt");
  return mayHave ? "may not have reached the room" : "did not reach the room";
}

export interface TranscriptView {
  /** Prefix messages with names: several people may have spoken. */
  readonly named: boolean;
}

/** UTF-8 bytes per token: accurate for English, slightly low for other languages. */
const bytesPerToken = 4;
/** Tokens of an entry beyond its text. */
const entryTokens = 4;

export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken);
}

export function estimateEntries(entries: readonly Pick<TranscriptEntry, "text">[]): number {
  return entries.reduce((sum, { text }) => sum + entryTokens + estimateTokens(text), 0);
}

/** Entries that further lines are appended to. */
export interface Joining {
  readonly entries: TranscriptEntry[];
  /** The next line joins the last entry if it is of the same side. */
  joins: boolean;
  readonly unsent: ReadonlyMap<string, UnsentPart>;
}

/** Converts lines, in order, to entries. */
export function entriesOf(
  lines: readonly TranscriptLine[],
  view: TranscriptView,
): TranscriptEntry[] {
  const joining = { entries: [], joins: false, unsent: unsentIn(lines) };
  appendLines(joining, lines, view);
  return joining.entries;
}

/** Appends lines to entries. */
export function appendLines(
  joining: Joining,
  lines: readonly TranscriptLine[],
  view: TranscriptView,
): void {
  const { entries, unsent } = joining;
  for (const line of lines) {
    const entry = entryOf(line, view, unsent.get(placeOf(line)));
    const last = entries.at(-1);
    if (entry === null) continue;
    if (joining.joins && last !== undefined && last.role === entry.role)
      entries[entries.length - 1] = { ...last, text: joined(last, entry) };
    else entries.push(entry);
    joining.joins = line.covers === undefined;
  }
}

const placeOf = ({ turnId, part }: Pick<TranscriptLine, "turnId" | "part">) => `${turnId}:${part}`;

/** The parts of answers that did not arrive, by turn and part. */
export function unsentIn(lines: readonly TranscriptLine[]): ReadonlyMap<string, UnsentPart> {
  const found = new Map<string, UnsentPart>();
  for (const { turnId, unsent = [] } of lines)
    for (const one of unsent) found.set(placeOf({ turnId, part: one.part }), one);
  return found;
}

function joined(last: TranscriptEntry, next: TranscriptEntry): string {
  return `${last.text}${last.role === "assistant" ? "\n\n" : "\n"}${next.text}`;
}

/**
 * Entries by their lines: a long conversation is not escaped with every turn, and the prompts that
 * are kept for `earshot prompt` share what they have in common.
 */
const namedEntries = new WeakMap<TranscriptLine, TranscriptEntry>();
const plainEntries = new WeakMap<TranscriptLine, TranscriptEntry>();

function kept(line: TranscriptLine, named: boolean, text: () => string): TranscriptEntry {
  const entries = named ? namedEntries : plainEntries;
  const known = entries.get(line);
  if (known !== undefined) return known;
  const entry = {
    role: line.role === "assistant" ? line.role : "user",
    at: line.at,
    text: text(),
  } as const;
  entries.set(line, entry);
  return entry;
}

/** A person's line. It cannot contain the fence of a later turn, which was not known yet. */
function escaped(line: TranscriptLine, named: boolean): string {
  return named ? namedLine(line) : escapeRoomText(line.text, line.turnId);
}

/** With the author's name. Further lines are indented, so that none can imitate another person. */
function namedLine({ text, author, turnId }: TranscriptLine): string {
  const escapedText = escapeRoomText(text, turnId);
  if (author === undefined) return escapedText;
  return `${escapeLabel(author.name, turnId)}: ${escapedText.replaceAll("\n", "\n  ")}`;
}

function entryOf(
  line: TranscriptLine,
  { named }: TranscriptView,
  unsent: UnsentPart | undefined,
): TranscriptEntry | null {
  const { role, text, at, covers } = line;
  switch (role) {
    case "user":
      return kept(line, named, () => escaped(line, named));
    case "assistant":
      if (unsent === undefined) return kept(line, named, () => text);
      return { role, at, text: `${text}\n[This part ${arrival([unsent])}]` };
    case "summary":
      return { role: "user", at, text: `[Your summary of what was said before]\n${text}` };
    case "note":
      return covers === undefined ? null : { role: "user", at, text: `[${text}]` };
  }
}
