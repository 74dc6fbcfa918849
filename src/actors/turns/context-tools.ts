/**
 * `attachment_list`, `attachment_fetch`, `history_search` and `schedule`, for the conversation of the asking
 * turn and no other: the conversation is taken from what was recorded when the turn was composed,
 * never from the request. Every answer is text, including refusals, and arrives within a time
 * limit. Text of a room is fenced as in a prompt.
 */
import { LRUCache } from "lru-cache";
import { z } from "zod";
import { fold } from "../../domain/fold-text.ts";
import { atMost, limits } from "../../domain/limits.ts";
import type { Route } from "../../domain/message.ts";
import type { Clock, Digest, Ids, Log, MediaReading, Store } from "../../domain/ports/index.ts";
import { late, within } from "../../domain/ports/within.ts";
import { cut } from "../../domain/sanitize.ts";
import type { TranscriptLine } from "../../domain/session.ts";
import type { MessageRef } from "../../machines/events/effects.ts";
import { escapeLabel, escapeRoomText } from "../../machines/prompt/escape.ts";
import {
  contextToolInputs,
  isContextTool,
  type ScheduleInput,
} from "../protocol/context-tool-schemas.ts";
import type { ContextAnswer, ContextQuestion } from "../protocol/host-protocol.ts";
import {
  type FoundMessage,
  type MediaRef,
  messagesIn,
  parseAttachmentName,
  refsOf,
} from "./attachment-names.ts";
import { type Deletions, deletedIn, isGone } from "./deletions.ts";
import type { Media } from "./media.ts";

export interface ContextToolPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly ids: Ids;
  readonly digest: Digest;
  readonly store: Store;
  readonly media: Pick<Media, "readOne" | "pictureOne">;
  readonly schedule: (turn: AskingTurn, input: ScheduleInput) => Promise<string>;
}

/** A composed turn: its conversation, and what it was shown. */
export interface AskingTurn {
  readonly turnId: string;
  readonly conv: number;
  readonly key: string;
  /** Where it answers. */
  readonly route: Route;
  /** Journal number of the event that started it; later events are queued or overheard. */
  readonly since: number;
  readonly refs: readonly MessageRef[];
}

export interface ContextTools {
  /** Registers a turn that is about to run, replacing the previous one of its conversation. */
  opened(turn: AskingTurn): void;
  /** Whether a question comes from a turn that was registered. */
  isRunning(question: ContextQuestion): boolean;
  answer(question: ContextQuestion): Promise<ContextAnswer>;
}

/** Registered turns; more never run at once. */
const turnsMax = 10_000;
const snippetUnits = 240;
/** The newest transcript lines that a search reads. */
const linesSearchedMax = 5_000;
const sessionsLookedAtMax = 10_000;
const nothingFound = "Nothing in this session contains that.";
const refused = (why: string) => `Refused: ${why}`;

export function createContextTools(ports: ContextToolPorts): ContextTools {
  const turns = new LRUCache<number, AskingTurn>(atMost(turnsMax));
  return {
    opened: (turn) => void turns.set(turn.conv, turn),
    isRunning({ conv, turnId, key }) {
      const turn = turns.get(conv);
      return turn?.turnId === turnId && turn.key === key;
    },
    async answer(question) {
      const turn = turns.get(question.conv);
      if (turn === undefined || turn.turnId !== question.turnId || turn.key !== question.key)
        return refused("no such turn is running.");
      if (!isContextTool(question.tool)) return refused("there is no such tool here.");
      const input = contextToolInputs[question.tool].safeParse(question.input ?? {});
      if (!input.success) return refused(cut(z.prettifyError(input.error), 500));
      const work = perform(ports, turn, question.tool, input.data).catch((error: unknown) => {
        ports.log("warn", "turn.lookup-failed", { tool: question.tool, error: String(error) });
        return refused("that cannot be looked up at the moment.");
      });
      const answer = await within(ports.clock, limits.askMsMax, work);
      return answer === late ? refused("it took too long.") : answer;
    },
  };
}

type Input<Tool extends keyof typeof contextToolInputs> = z.infer<(typeof contextToolInputs)[Tool]>;

function perform(
  ports: ContextToolPorts,
  turn: AskingTurn,
  tool: keyof typeof contextToolInputs,
  input: unknown,
): Promise<ContextAnswer> {
  switch (tool) {
    case "attachment_list":
      return list(ports, turn, input as Input<"attachment_list">);
    case "attachment_fetch":
      return fetchOne(ports, turn, input as Input<"attachment_fetch">);
    case "history_search":
      return search(ports, turn, input as Input<"history_search">);
    case "schedule":
      return ports.schedule(turn, input as Input<"schedule">);
  }
}

/** The rows of a conversation among the newest rows of the journal, and where those begin. */
async function recentRows({ store }: ContextToolPorts, conv: number) {
  const from = await store.numberBefore(await store.lastSeq(), limits.searchRowsMax);
  return { from, rows: await store.tail(conv, from) };
}

/** Messages the turn was shown, and other recent ones; oldest first, distinct. */
async function recentMessages(
  ports: ContextToolPorts,
  { conv, refs }: AskingTurn,
): Promise<FoundMessage[]> {
  const { from, rows } = await recentRows(ports, conv);
  const older = new Set(refs.filter(({ seq }) => seq <= from).map(({ seq }) => seq));
  const shown = new Set(refs.map(({ seq, id }) => `${seq} ${id}`));
  const gone = deletedIn(rows);
  // Old messages that the turn was shown had not been deleted when it began.
  const before = (await ports.store.events([...older]))
    .flatMap(messagesIn)
    .filter(({ seq, inbound }) => shown.has(`${seq} ${inbound.id}`));
  return [...before, ...rows.flatMap(messagesIn)]
    .filter(
      ({ conv: of, inbound }) => of === conv && !inbound.author.isSelf && !isGone(inbound, gone),
    )
    .sort((a, b) => a.seq - b.seq || a.offset - b.offset);
}

async function list(
  ports: ContextToolPorts,
  turn: AskingTurn,
  { limit }: Input<"attachment_list">,
): Promise<string> {
  const fence = ports.ids.next();
  const messages = await recentMessages(ports, turn);
  const lines = messages
    .flatMap((message) => refsOf(message, ports.digest).map((ref) => ({ message, ref })))
    .reverse()
    .slice(0, limit)
    .map(({ message, ref }) => attachmentLine(message, ref, ports.clock.now(), fence));
  if (lines.length === 0) return "There are no files in the recent messages.";
  return fenced(lines.join("\n"), fence);
}

function attachmentLine(
  { inbound, at }: FoundMessage,
  { name, item: { attachment } }: MediaRef,
  now: number,
  fence: string,
): string {
  const { kind, mime, bytes } = attachment;
  const age = Math.max(0, Math.round((now - Math.min(now, inbound.sentAt ?? at)) / 1_000));
  const facts = [
    kind,
    ...(mime === undefined ? [] : [escapeLabel(mime, fence)]),
    ...(bytes === undefined ? [] : [`${bytes} bytes`]),
    ...(attachment.name === undefined ? [] : [`“${escapeLabel(attachment.name, fence)}”`]),
  ];
  return `${name}: ${facts.join(", ")}, from ${escapeLabel(inbound.author.name, fence)}, ${age} s ago`;
}

async function fetchOne(
  ports: ContextToolPorts,
  turn: AskingTurn,
  { attachment_id: name }: Input<"attachment_fetch">,
): Promise<ContextAnswer> {
  const { store, media, ids } = ports;
  const { conv, key, refs } = turn;
  const unknown = refused("no file of this conversation has that attachment_id.");
  const place = parseAttachmentName(name);
  if (place === null) return unknown;
  const [row] = await store.events([place.seq]);
  // The number may belong to any conversation: check the row's.
  if (row === undefined || row.conv !== conv) return unknown;
  const found = messagesIn(row)
    .flatMap((message) => refsOf(message, ports.digest).map((ref) => ({ message, ref })))
    .find(({ ref }) => ref.name === name);
  if (found === undefined) return unknown;
  const { message, ref } = found;
  const { from, rows } = await recentRows(ports, conv);
  if (place.seq <= from && !refs.some(({ seq }) => seq === place.seq))
    return refused("that was too long ago.");
  if (isGone(message.inbound, deletedIn(rows))) return refused("its message was deleted.");
  const fence = ids.next();
  const picture = await media.pictureOne(key, message, ref);
  if (picture !== null) {
    const { image, note } = picture;
    if (image === null) return refused(`${escapeLabel(note ?? "it cannot be shown", fence)}.`);
    return { text: "The picture is shown to you next.", images: [image] };
  }
  const outcome = await media.readOne(key, message, ref);
  if (!("found" in outcome)) return refused(`${escapeLabel(outcome.note, fence)}.`);
  return answered(ref, outcome.found, fence);
}

/** A reading as text; without text, one line about the file. */
function answered({ item }: MediaRef, reading: MediaReading, fence: string): string {
  const { kind, name } = item.attachment;
  const { text, words, note, mime, bytes } = reading;
  const facts = [
    kind,
    ...(mime === null ? [] : [escapeLabel(mime, fence)]),
    ...(bytes === null ? [] : [`${bytes} bytes`]),
    ...(name === undefined ? [] : [`“${escapeLabel(name, fence)}”`]),
    ...(note === null ? [] : [escapeLabel(note, fence)]),
  ];
  const line = facts.join(", ");
  if (text === null) return note === null ? `${line}. Nothing here reads it.` : `${line}.`;
  return `${line}, its ${words ?? "content"}:\n${fenced(escapeRoomText(text, fence), fence)}`;
}

/** A line of the transcript or the journal. */
interface Line {
  readonly at: number;
  readonly who: string;
  readonly text: string;
}

/** Searches this session's transcript and the messages overheard during it. */
async function search(
  ports: ContextToolPorts,
  turn: AskingTurn,
  { query, limit }: Input<"history_search">,
): Promise<string> {
  const { store, ids } = ports;
  const wanted = fold(query);
  const session = await store.sessionOf(turn.conv, turn.since);
  if (session === null) return nothingFound;
  const { sessionId } = session;
  const since = await beganAt(store, turn, sessionId);
  const { rows } = await recentRows(ports, turn.conv);
  const heard = rows.flatMap(messagesIn);
  const gone = deletedIn(rows);
  const lines = new Map<string, Line>();
  const noted = await store.transcript({ sessionId, limit: linesSearchedMax, newest: true });
  for (const line of noted) {
    const { id, at, role, author, text, messageId } = line;
    if ((role !== "user" && role !== "assistant") || isLineGone(line, heard, gone)) continue;
    const name = messageId === undefined ? `line ${id}` : lineName(messageId, author);
    lines.set(name, { at, who: author?.name ?? "you", text });
  }
  for (const { inbound, at } of heard) {
    const { id, channel, account, chat, author, text } = inbound;
    if (at < since || lines.has(lineName(id, author)) || isGone(inbound, gone)) continue;
    const name = JSON.stringify([channel, account, chat.id, id]);
    if (lines.has(name)) continue;
    lines.set(name, { at: Math.min(inbound.sentAt ?? at, at), who: author.name, text });
  }
  const hits = [...lines.values()]
    .filter(({ text }) => fold(text).includes(wanted))
    .sort((a, b) => b.at - a.at)
    .slice(0, limit);
  if (hits.length === 0) return nothingFound;
  const fence = ids.next();
  const shown = hits.map(({ at, who, text }) => {
    const time = `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC`;
    return `[${time}] ${escapeLabel(who, fence)}: ${snippet(text, wanted, fence)}`;
  });
  return fenced(shown.join("\n"), fence);
}

/** A transcript does not say in which chat a line was said: its author stands for that. */
const lineName = (messageId: string, author: TranscriptLine["author"]) =>
  `${messageId} ${author?.id ?? ""}`;

/** Whether a line's message was deleted; where nothing shows its chat, any deletion of its id counts. */
function isLineGone(
  { messageId, author }: TranscriptLine,
  heard: readonly FoundMessage[],
  gone: Deletions,
): boolean {
  if (messageId === undefined || !gone.has(messageId)) return false;
  const own = heard.filter(
    ({ inbound }) => lineName(inbound.id, inbound.author) === lineName(messageId, author),
  );
  return own.length === 0 || own.some(({ inbound }) => isGone(inbound, gone));
}

/** When the previous session was archived; later messages belong to this one. */
async function beganAt(store: Store, { conv }: AskingTurn, sessionId: string): Promise<number> {
  const all = await store.sessions({ conv, all: true, limit: sessionsLookedAtMax });
  const index = all.findIndex((session) => session.sessionId === sessionId);
  const before = index === -1 ? all.at(-1) : all[index - 1];
  return before?.archivedAt ?? 0;
}

/** The text around the first hit, on one line. */
function snippet(text: string, wanted: string, fence: string): string {
  const at = Math.max(0, fold(text).indexOf(wanted));
  const from = Math.max(0, at - snippetUnits / 2);
  const part = cut(text.slice(from), snippetUnits);
  const line = escapeRoomText(part, fence).replace(/\s+/g, " ").trim();
  return `${from > 0 ? "…" : ""}${line}${from + part.length < text.length ? "…" : ""}`;
}

const fenced = (lines: string, fence: string): string =>
  `<room-text ${fence}>\n${lines}\n</room-text ${fence}>`;
