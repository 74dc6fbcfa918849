/**
 * Everything a message means to this conversation, worked out once before the step: who is here now
 * that its author has spoken, what the ladder says, what the loop guard counts, what becomes of its
 * batch. Several guards and actions need the answer, so it goes into the machine with the event.
 * It is no part of what is journalled.
 */
import type {
  EngagementInput,
  EngagementVerdict,
  Membership,
  Participant,
} from "../../domain/decision.ts";
import type { FloorLedger } from "../../domain/floor.ts";
import { type AuthorId, type Inbound, routeOf } from "../../domain/message.ts";
import { chatOf, idsIn } from "../batching/chats.ts";
import { type Arrival, type Gathered, gather } from "../batching/inbox.ts";
import { decideEngagement } from "../engagement/engagement.ts";
import { noteSpeaker, participantDaysOf } from "../engagement/humans.ts";
import { countPeerTurn, type GuardCounters, noCounters } from "../engagement/loop-guard.ts";
import { signalsOf } from "../engagement/signals.ts";
import type { ConversationEvent, JudgeAnswered, MessageReceived } from "../events/events.ts";
import { type ConversationContext, type Run, threadKey } from "./context.ts";
import { judgesFloor } from "./delivery-actions.ts";
import { type AnalyzedAnswer, analyzeAnswer, gistOf, hasMedia } from "./judge-actions.ts";

export interface MessageAnalysis {
  readonly verdict: EngagementVerdict;
  readonly participants: readonly Participant[];
  readonly isNew: boolean;
  readonly membership: Membership | null;
  /** Peer bots count turns; a human's line starts the count again. */
  readonly fromBot: boolean;
  readonly counters: GuardCounters;
  /** The batches with this message in; null: it was not engaged. */
  readonly gathered: Gathered | null;
  /** Typing is shown from the start. */
  readonly instant: boolean;
}

/** A message with what it means to the conversation that is about to step on it. */
export interface AnalyzedMessage extends MessageReceived {
  readonly analysis: MessageAnalysis;
}

/** An event as the machine takes it. */
export type StepEvent =
  | Exclude<ConversationEvent, MessageReceived | JudgeAnswered>
  | AnalyzedMessage
  | AnalyzedAnswer;

/** What the analysis asks of a snapshot. */
interface AnalyzedSnapshot {
  readonly value: { readonly guard: "clear" | "tripped" | "muted" };
  readonly context: ConversationContext;
}

const noAuthors: readonly AuthorId[] = [];
const muted: EngagementVerdict = { decision: "observe", rule: "loop-guard", credit: "none" };

/** The event for a step from this snapshot: a message with its analysis, any other as it is. */
export function stepEvent(snapshot: AnalyzedSnapshot, event: ConversationEvent): StepEvent {
  if (event.type === "judge.answered")
    return { ...event, analysis: analyzeAnswer(snapshot.context, event) };
  if (event.type !== "message.received") return event;
  return { ...event, analysis: analyze(snapshot, event) };
}

function analyze({ value, context }: AnalyzedSnapshot, event: MessageReceived): MessageAnalysis {
  const { at, message } = event;
  const { author } = message;
  const days = participantDaysOf(context.settings.engagement);
  const { participants, isNew } = noteSpeaker(context.participants, author, at, days);
  const fromBot = author.isBot || participants.at(-1)?.isBot === true;
  const membership = event.membership ?? context.membership;
  const input = inputOf(context, event, participants, membership, fromBot);
  const verdict = fromBot && value.guard === "muted" ? muted : decideEngagement(input);
  const engages = verdict.decision === "engage";
  const instant = engages && showsTypingFromStart(context, input);
  return {
    verdict,
    participants,
    isNew,
    membership,
    fromBot,
    counters: countersAfter(context, event, fromBot, engages),
    gathered: engages
      ? gather(context.forming, arrivalOf(context, event, instant), context.settings.debounce)
      : null,
    instant,
  };
}

/** What the ladder would be shown for a message if it came now. Changes nothing. */
export function engagementInput(
  context: ConversationContext,
  event: MessageReceived,
): EngagementInput {
  const days = participantDaysOf(context.settings.engagement);
  const { author } = event.message;
  const { participants } = noteSpeaker(context.participants, author, event.at, days);
  const fromBot = author.isBot || participants.at(-1)?.isBot === true;
  return inputOf(context, event, participants, event.membership ?? context.membership, fromBot);
}

function inputOf(
  context: ConversationContext,
  event: MessageReceived,
  participants: readonly Participant[],
  membership: Membership | null,
  fromBot: boolean,
): EngagementInput {
  const { settings, ownMessages, siblingMessages, heardMessages } = context;
  const { namesOnly } = event;
  const chat = chatOf(settings, event.message);
  const found = signalsOf(event.message, {
    ownMessages: idsIn(ownMessages, chat),
    siblingMessages: idsIn(siblingMessages, chat),
    heardMessages: idsIn(heardMessages, chat),
    everyoneMentions: settings.everyoneMentions,
  });
  const signals = fromBot && !found.authorIsBot ? { ...found, authorIsBot: true } : found;
  const isJudged = judgesFloor(context);
  const input: EngagementInput & { floors?: FloorLedger } = {
    message: namesOnly === undefined ? signals : { ...signals, namesOnly },
    rules: settings.engagement,
    room: { participants, membership, botInThread: hasSpokenInThread(context, event.message) },
    credits: context.ledger,
    now: event.at,
    // Where the floor is judged only those are held whose turn has not begun: their lines go with it.
    held: heldAuthors(context, isJudged ? null : context.run),
  };
  if (isJudged) input.floors = context.floors;
  return input;
}

/** Authors of batches that wait and of the turn under way, unless the agent has backed off. */
export function heldAuthors(
  { forming, inbox, run: current }: ConversationContext,
  run: Run | null = current,
): readonly AuthorId[] {
  if (run === null && forming.length === 0 && inbox.length === 0) return noAuthors;
  const held = new Set<AuthorId>();
  if (run?.holds) for (const { author } of run.batch) held.add(author);
  // A batch in line has one author: lines of several are joined only when a turn takes them.
  for (const { holds, messages } of inbox) if (holds && messages[0]) held.add(messages[0].author);
  for (const batch of forming) if (batch.holds) held.add(batch.author);
  return [...held];
}

/**
 * Our part in the message's thread. Outside threads there is none: a reply there is aimed at its
 * parent.
 */
function hasSpokenInThread(context: ConversationContext, message: Inbound): boolean {
  if (message.thread === null) return false;
  const thread = threadKey(routeOf(message));
  if (thread !== null && context.spokenIn.includes(thread)) return true;
  return context.buffer.entries.some((entry) => entry.self);
}

function countersAfter(
  context: ConversationContext,
  event: MessageReceived,
  fromBot: boolean,
  engages: boolean,
): GuardCounters {
  if (!fromBot) return noCounters;
  if (!engages) return context.counters;
  return countPeerTurn(context.counters, event.at, context.settings.loopGuard);
}

/** Typing on engage: where the config says so; by default in direct chats and on a mention. */
function showsTypingFromStart(context: ConversationContext, { message }: EngagementInput): boolean {
  const { mode } = context.settings.typing;
  return mode === "instant" || (mode === "auto" && (message.isDirect || message.mentionsSelf));
}

function arrivalOf(
  { settings }: ConversationContext,
  { at, seq, message, steer }: MessageReceived,
  instant: boolean,
): Arrival {
  return {
    message: {
      seq,
      id: message.id,
      at,
      author: message.author.id,
      ack: settings.ackReaction,
      gist: gistOf(settings, message),
      ...(steer === undefined ? {} : { steer }),
    },
    route: routeOf(message),
    media: hasMedia(message) || steer === true,
    group: message.groupId ?? null,
    instant,
  };
}
