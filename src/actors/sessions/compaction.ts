/**
 * A transcript that exceeds its agent's context is shortened: the same agent summarises the oldest
 * part in an invisible turn of its own, and from there on the summary replaces those lines in the
 * prompt. The lines themselves stay in the store. If no summary can be made, the lines are left out
 * with a note that says so, because a turn must never fail because of its transcript.
 */
import { agentOf, type EarshotConfig } from "../../domain/config/index.ts";
import { limits } from "../../domain/limits.ts";
import type {
  Clock,
  Ids,
  Log,
  SessionRow,
  StoreWrite,
  TranscriptEntry,
} from "../../domain/ports/index.ts";
import { unlessAborted } from "../../domain/ports/within.ts";
import { cut } from "../../domain/sanitize.ts";
import { noUsage, type TranscriptLine } from "../../domain/session.ts";
import type { SessionCompacted } from "../../machines/events/events.ts";
import type { Journal } from "../journal/journal.ts";
import { newEvent } from "../protocol/event-codec.ts";
import type { OrderedTurn, Sessions } from "./session-registry.ts";
import type { Summaries, Summary } from "./summarizer.ts";
import type { Past, TranscriptCache } from "./transcript-cache.ts";
import type { TranscriptFiles } from "./transcript-files.ts";
import { createTranscriptsSoFar, type SoFar } from "./transcript-so-far.ts";
import {
  entriesOf,
  estimateEntries,
  estimateTokens,
  type TranscriptView,
} from "./transcript-view.ts";
import type { Remembering } from "./turn-session.ts";

export interface CompactionPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly ids: Ids;
  readonly journal: Pick<Journal, "keep" | "offer">;
  readonly sessions: Sessions;
  readonly projection: Pick<TranscriptFiles, "write">;
  readonly summaries: Summaries;
  readonly transcripts: Pick<TranscriptCache, "read">;
  readonly config: () => EarshotConfig;
  /** Number of that config. */
  readonly cfg: () => number;
}

export interface Compaction {
  /** As `TurnSessions.remember`. */
  remember(what: Remembering, signal: AbortSignal): Promise<readonly TranscriptEntry[]>;
  /** Number of summaries in progress, for turns or by command. */
  waiting(): number;
  /** Summarises the whole transcript; false: nothing to summarise. */
  compact(
    owner: Pick<OrderedTurn, "conv" | "key" | "agentId">,
    session: SessionRow,
  ): Promise<boolean>;
}

interface Work {
  readonly owner: Pick<OrderedTurn, "conv" | "key" | "agentId">;
  readonly session: SessionRow;
  readonly view: TranscriptView;
  /** That of the turn, so that a provider finds its cached start; left out: the configured one. */
  readonly system?: string;
  /** The turn it is done for, whose id the summary line gets. */
  readonly turnId: string;
  /** 1: a turn waits for it; 0: requested by a command. */
  readonly forTurn: 0 | 1;
}

const memoryFlushPrompt =
  "This session is about to be summed up: afterwards you will know only the summary. Write down now " +
  "what should last, if you have a place for that (notes, files, a tool of your own): decisions, " +
  "promises, facts about people, what is still open. Do not repeat what is written down already. " +
  "Nobody is shown your answer; if there is nothing to write down, answer NO_REPLY.";

/** Share of the capacity that stays verbatim when the rest is summarised. */
const verbatimShare = 0.5;

export function createCompaction(ports: CompactionPorts): Compaction {
  const { transcripts: tails, journal, sessions, projection, summaries, clock } = ports;
  /** Conversations with a requested summary in progress: their turns wait for it. */
  const busy = new Map<number, Promise<void>>();
  const views = createTranscriptsSoFar();
  let waiting = 0;

  async function read(
    sessionId: string,
    but: string,
    ownFrom = 0,
  ): Promise<Past & { readonly full: boolean }> {
    const { mark, lines } = await tails.read(sessionId);
    const full = lines.length >= limits.transcriptLinesMax;
    return { mark, lines: without(lines, but, ownFrom), full };
  }

  const entries = ({ mark, lines }: Past, view: TranscriptView) =>
    entriesOf(mark === null ? lines : [mark, ...lines], view);

  /**
   * Asks the agent to write down what lasts, where it can; what it answers is dropped. The summary
   * is made whether that works or not.
   */
  async function flushMemory(
    { owner, session, system, forTurn }: Work,
    transcript: readonly TranscriptEntry[],
    signal: AbortSignal,
  ): Promise<Summary["usage"] | null> {
    const { memoryFlush } = ports.config().session;
    if (memoryFlush === false) return null;
    const prompt = memoryFlush === true ? memoryFlushPrompt : memoryFlush;
    waiting += forTurn;
    const flush = await summaries.of(
      { ...owner, ...asSystem(system), session, transcript, prompt, mayBeSilent: true },
      signal,
    );
    waiting -= forTurn;
    if (flush.failed !== null)
      ports.log("warn", "sessions.memory-flush", { key: owner.key, reason: flush.failed });
    return flush.usage;
  }

  /** A row beside those of the conversation, stored as applied: where it happened. */
  async function note(owner: Work["owner"], summary: boolean): Promise<void> {
    const event: SessionCompacted = { type: "session.compacted", at: clock.now(), summary };
    const named = { identity: `compacted|${ports.ids.next()}`, code: 0 };
    await journal.offer([newEvent(owner, ports.cfg(), event, named)]);
  }

  /** Adds a line that replaces these lines in the prompt. */
  async function replace(work: Work, past: Past, signal: AbortSignal): Promise<TranscriptLine> {
    const { owner, session, view, system, turnId, forTurn } = work;
    const { contextTokens } = agentOf(ports.config(), owner.agentId);
    const transcript = newest(entries(past, view), contextTokens);
    const flushed = await flushMemory(work, transcript, signal);
    signal.throwIfAborted();
    waiting += forTurn;
    const summary = await summaries.of(
      { ...owner, ...asSystem(system), session, transcript },
      signal,
    );
    waiting -= forTurn;
    signal.throwIfAborted();
    const { sessionId } = session;
    const at = clock.now();
    const covers = past.lines.at(-1)?.id ?? 0;
    const content = summaryLine(summary, past, contextTokens);
    const line = sessions.number({ sessionId, at, turnId, covers, ...content });
    const { conv, agentId } = owner;
    const used = { ...noUsage, ...sumOf(summary.usage, flushed) };
    const writes: StoreWrite[] = [
      { kind: "transcript", conv, line },
      { kind: "session", op: "used", sessionId, at, used, aborted: null },
    ];
    if (summary.failed !== null)
      ports.log("warn", "sessions.compaction", { key: owner.key, reason: summary.failed });
    await journal.keep(writes);
    await projection.write([{ agentId, line }]);
    await note(owner, summary.failed === null);
    return line;
  }

  /** Waits for a requested summary, and no longer than the signal. */
  async function summedUp(conv: number, signal: AbortSignal): Promise<void> {
    const work = busy.get(conv);
    if (work === undefined) return;
    waiting += 1;
    await unlessAborted(work, signal).finally(() => {
      waiting -= 1;
    });
  }

  async function remember(what: Remembering, signal: AbortSignal) {
    const { turn, session } = what;
    await summedUp(turn.conv, signal);
    const past = await read(session.sessionId, turn.turnId, what.ownFrom);
    const capacity = capacityFor(what, ports.config());
    const soFar = views.of(session.sessionId, past, what.named, what.authors);
    const view = { named: soFar.named };
    const verbatim = keep(past, soFar, view, capacity);
    if (verbatim === past.lines.length) return soFar.entries;
    const split = past.lines.length - verbatim;
    const old = { mark: past.mark, lines: past.lines.slice(0, split) };
    const { system } = what;
    const work = { owner: turn, session, view, system, turnId: turn.turnId, forTurn: 1 } as const;
    const mark = await replace(work, old, signal);
    return entries({ mark, lines: past.lines.slice(split) }, view);
  }

  async function whole(owner: Work["owner"], session: SessionRow): Promise<boolean> {
    const past = await read(session.sessionId, "");
    if (past.lines.length === 0) return false;
    const turnId = past.lines.at(-1)?.turnId ?? "";
    const view = { named: true };
    await replace({ owner, session, view, turnId, forTurn: 0 }, past, new AbortController().signal);
    return true;
  }

  return {
    remember,
    waiting: () => waiting,
    async compact(owner, session) {
      while (busy.has(owner.conv)) await busy.get(owner.conv);
      const work = whole(owner, session);
      const settled = work.then(
        () => undefined,
        () => undefined,
      );
      busy.set(owner.conv, settled);
      await settled;
      busy.delete(owner.conv);
      return work;
    },
  };
}

const asSystem = (system: string | undefined) => (system === undefined ? {} : { system });

/** What a summary used, with what was used before it. */
const sumOf = (used: Summary["usage"], before: Summary["usage"] | null): Summary["usage"] =>
  before === null
    ? used
    : {
        inputTokens: used.inputTokens + before.inputTokens,
        outputTokens: used.outputTokens + before.outputTokens,
        costUsd: used.costUsd + before.costUsd,
      };

/** Tokens available to the transcript beside the turn's own needs. */
function capacityFor({ turn, system, prompt }: Remembering, config: EarshotConfig): number {
  const { contextTokens } = agentOf(config, turn.agentId);
  return Math.max(0, contextTokens - estimateTokens(system) - estimateTokens(prompt));
}

/** How many of the newest lines stay verbatim: all of them if they fit. */
function keep(
  { lines, full }: Past & { readonly full: boolean },
  { tokens }: SoFar,
  view: TranscriptView,
  capacity: number,
): number {
  if (tokens <= capacity && !full) return lines.length;
  let left = capacity * verbatimShare;
  let verbatim = 0;
  const most = Math.floor(limits.transcriptLinesMax * verbatimShare);
  for (const line of lines.toReversed()) {
    left -= estimateEntries(entriesOf([line], view));
    if (left < 0 || verbatim === most) break;
    verbatim += 1;
  }
  // A turn is not split: its question stays with its answer.
  while (verbatim > 0 && verbatim < lines.length && sameTurn(lines, lines.length - verbatim))
    verbatim -= 1;
  return verbatim;
}

/** The lines but those of a turn, which has none below number `ownFrom`. */
function without(
  lines: readonly TranscriptLine[],
  turn: string,
  ownFrom: number,
): readonly TranscriptLine[] {
  let own = lines.length;
  while (own > 0 && (lines[own - 1] as TranscriptLine).id >= ownFrom) own -= 1;
  return [...lines.slice(0, own), ...lines.slice(own).filter(({ turnId }) => turnId !== turn)];
}

const sameTurn = (lines: readonly TranscriptLine[], at: number) =>
  lines[at - 1]?.turnId === lines[at]?.turnId;

/** The newest entries that fit. */
export function newest(
  all: readonly TranscriptEntry[],
  capacity: number,
): readonly TranscriptEntry[] {
  let left = capacity;
  const first = all.findLastIndex((entry) => {
    left -= estimateEntries([entry]);
    return left < 0;
  });
  return all.slice(first + 1);
}

/** The content of the summary line. */
function summaryLine(
  { text, failed }: Summary,
  { mark, lines }: Past,
  unitsMax: number,
): Pick<TranscriptLine, "role" | "text"> {
  if (failed === null) return { role: "summary", text: cut(text, unitsMax) };
  const content = lines.filter(({ role }) => role !== "note").length;
  const note =
    `${content} earlier lines of this session were left out: ` +
    `they could not be summed up (${failed})`;
  if (mark?.role !== "summary") return { role: "note", text: note };
  return { role: "summary", text: `${cut(mark.text, unitsMax)}\n\n[${note}]` };
}
