/**
 * The judge of a room
 * ===================
 * A line that no rule decided is observed, and the judge is asked about it. The question is an
 * effect, the answer an event; while it is open, the line's entry in the context buffer says so.
 * Whatever takes that entry away closes the question: a turn that is shown the line, a deletion,
 * newer lines that push it out. Backing off, a stop and a new session close every question. So an
 * answer engages a line at most once, and never one that has been dealt with.
 */
import { type Inbound, type Route, routeOf } from "../../domain/message.ts";
import { oneLine } from "../../domain/sanitize.ts";
import type { ConversationSettings } from "../../domain/settings.ts";
import { isSame } from "../batching/chats.ts";
import {
  type AskedMessage,
  type BufferEntry,
  closeQuestions,
  removeBuffered,
} from "../batching/context-buffer.ts";
import { type Forming, type Gathered, gather, refOf } from "../batching/inbox.ts";
import type { JudgeAnswered } from "../events/events.ts";
import type { ConversationContext } from "./context.ts";
import { type AtWork, armFlush, extendQuiet, firstClose, queueClosed } from "./queue-actions.ts";
import { stopHeartbeat } from "./steering-actions.ts";
import type { Step } from "./step.ts";
import { startTyping } from "./typing-actions.ts";

/** What an answer does to its message. */
export interface AnswerAnalysis {
  /** The message; null: no question about it is open. */
  readonly entry: BufferEntry | null;
  /** The batches with the message in; null: it stays observed. */
  readonly gathered: Gathered | null;
}

/** An answer with what it does to the message that it is about. */
export interface AnalyzedAnswer extends JudgeAnswered {
  readonly analysis: AnswerAnalysis;
}

/** Lines that a question shows, its own among them. */
const linesShownMax = 12;
const gistUnitsMax = 160;

export const hasMedia = ({ attachments, groupId }: Inbound): boolean =>
  attachments.length > 0 || groupId !== undefined;

/** What a note would say about the message if a full queue dropped it. */
export function gistOf({ queue }: ConversationSettings, { author, text }: Inbound): string {
  return queue.drop === "summarize" ? oneLine(`${author.name}: ${text}`, gistUnitsMax) : "";
}

/** What is kept of a message about which the judge is asked. */
export function askedOf(settings: ConversationSettings, message: Inbound): AskedMessage {
  return {
    route: routeOf(message),
    media: hasMedia(message),
    group: message.groupId ?? null,
    gist: gistOf(settings, message),
  };
}

/** Asks about the newest message of the buffer. One that was not kept cannot be engaged later. */
export function askJudge({ context, effects }: Step, route: Route): void {
  const messages = context.buffer.entries.slice(-linesShownMax).map(refOf);
  if (messages.length > 0) effects.push({ type: "judge.ask", messages, route });
}

/** What an answer means to the conversation as it is now. */
export function analyzeAnswer(context: ConversationContext, event: JudgeAnswered): AnswerAnalysis {
  const { buffer, settings, forming } = context;
  const found = buffer.entries.find((entry) => entry.asked !== undefined && isSame(entry, event));
  const entry = found ?? null;
  const { judge } = settings.engagement;
  const isSure = judge !== undefined && event.confidence >= judge.minConfidence;
  const engages = event.engage && event.failed === undefined && isSure;
  if (!engages || found?.asked === undefined) return { entry, gathered: null };
  const { seq, id, author, editSeq } = found;
  const { route, media, group, gist } = found.asked;
  const gathered = gather(
    forming,
    {
      message: {
        seq,
        id,
        at: event.at,
        author,
        ack: settings.ackReaction,
        gist,
        ...(editSeq === undefined ? {} : { editSeq }),
      },
      route,
      media,
      group,
      instant: settings.typing.mode === "instant",
    },
    settings.debounce,
  );
  return { entry, gathered: isOvertaken(context, found) ? overtaken(gathered, seq) : gathered };
}

/** Somebody else has spoken since: an answer to it is sent as a quote. */
const isOvertaken = ({ buffer }: ConversationContext, { seq, author }: BufferEntry): boolean =>
  buffer.entries.some((later) => later.seq > seq && later.author !== author);

function overtaken({ forming, closed }: Gathered, seq: number): Gathered {
  const mark = (batch: Forming): Forming =>
    batch.messages.some((message) => message.seq === seq) ? { ...batch, overtaken: true } : batch;
  return { forming: forming.map(mark), closed: closed.map(mark) };
}

/** The judge says engage: what was observed so far becomes the business of a turn. */
export function engageLate(step: Step, event: AnalyzedAnswer, work?: AtWork): void {
  const { context, effects } = step;
  const { entry, gathered } = event.analysis;
  if (entry?.asked === undefined || gathered === null) return;
  const { seq, id, asked } = entry;
  const { route } = asked;
  const verdict = { decision: "engage", rule: "judge", credit: "none" } as const;
  effects.push({ type: "decided", seq, messageId: id, ...verdict });
  context.buffer = removeBuffered(context.buffer, entry);
  if (work?.running === true) stopHeartbeat(step);
  const emoji = context.settings.ackReaction;
  if (emoji !== null) effects.push({ type: "react", message: id, emoji, route });
  if (context.settings.typing.mode === "instant") startTyping(step, route);
  const setFor = firstClose(context);
  context.forming = gathered.forming;
  queueClosed(step, gathered.closed, event.at, work);
  extendQuiet(step, event.at);
  armFlush(step, setFor);
}

/** The answer leaves the message observed. */
export function closeQuestion({ context }: Step, event: JudgeAnswered): void {
  context.buffer = closeQuestions(context.buffer, event);
}

export function dropQuestions({ context }: Step): void {
  context.buffer = closeQuestions(context.buffer);
}
