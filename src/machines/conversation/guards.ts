/**
 * The chart's questions
 * =====================
 * What the conversation's chart asks before it moves. A guard looks at the context as it is and at
 * the event, and changes nothing. What the guards of `next` find has been left by the actions of
 * what has just ended.
 */
import { routeOf } from "../../domain/message.ts";
import { removePending } from "../batching/pending.ts";
import { reachedHardLimit, reachedLimit } from "../engagement/loop-guard.ts";
import type { DeadlineDue, MessageDeleted, RunAborted } from "../events/events.ts";
import { isRelayDeadline, mustWait } from "./agent-relay.ts";
import type { ConversationContext } from "./context.ts";
import type { AnalyzedAnswer } from "./judge-actions.ts";
import type { AnalyzedMessage, StepEvent } from "./message-analysis.ts";
import { firstClose } from "./queue-actions.ts";
import { reaches } from "./same-person.ts";

/** The ladder says engage, or the judge does. */
export function engages(
  _context: ConversationContext,
  { analysis }: AnalyzedMessage | AnalyzedAnswer,
): boolean {
  return analysis.gathered !== null;
}

/** It engages and closes a batch at once, and no quiet window holds the line. */
export function engagesNow(
  context: ConversationContext,
  { analysis }: AnalyzedMessage | AnalyzedAnswer,
): boolean {
  const { gathered } = analysis;
  return gathered !== null && gathered.closed.length > 0 && context.quietAt === null;
}

/** A human spoke: the loop guard has nothing to count. */
export function humanSpoke(_context: ConversationContext, { analysis }: AnalyzedMessage): boolean {
  return !analysis.fromBot;
}

/** This engaged peer-bot message is one too many. */
export function trips({ settings }: ConversationContext, { analysis }: AnalyzedMessage): boolean {
  const { fromBot, gathered, counters } = analysis;
  return fromBot && gathered !== null && reachedLimit(counters, settings.loopGuard);
}

/** This engaged peer-bot message is the last one that is answered. */
export function mutes({ settings }: ConversationContext, { analysis }: AnalyzedMessage): boolean {
  const { fromBot, gathered, counters } = analysis;
  return fromBot && gathered !== null && reachedHardLimit(counters, settings.loopGuard);
}

/** The first window has closed by now, and no quiet window holds the line. */
export function flushReleases(context: ConversationContext, event: DeadlineDue): boolean {
  const closesAt = firstClose(context);
  if (event.id !== "flush" || context.quietAt !== null) return false;
  return closesAt !== null && event.at >= closesAt;
}

export function quietIsOver({ quietAt }: ConversationContext, event: DeadlineDue): boolean {
  return event.id === "quiet" && quietAt !== null && event.at >= quietAt;
}

/** A window is open that a command closes, and no quiet window holds the line. */
export function commandReleases({ forming, quietAt }: ConversationContext): boolean {
  return forming.length > 0 && quietAt === null;
}

/** An agent before us has ended, or was waited for long enough, and the line waits for that. */
export function mayFreeLine(context: ConversationContext, { id }: DeadlineDue): boolean {
  return isRelayDeadline(id) && mustWait(context);
}

/** Nothing else waits for the turn slot but the message that is deleted. */
export function isLastToWait(context: ConversationContext, { deletion }: MessageDeleted): boolean {
  const { batches, removed } = removePending(context.inbox, routeOf(deletion), deletion.id);
  return removed !== null && batches.length === 0 && !owesTurn(context);
}

/** Nothing else waits for the turn slot but what the order to stop is about. */
export function stopsAll(context: ConversationContext, { from }: RunAborted): boolean {
  if (from === undefined || owesTurn(context)) return false;
  return context.inbox.every((flush) => reaches(from, flush));
}

/** Events of a turn that is over come late and change nothing. */
export function isThisTurn({ run }: ConversationContext, event: StepEvent): boolean {
  return run !== null && "turnId" in event && event.turnId === run.order.turnId;
}

/** A block was handed to delivery and has no answer yet. */
export function isDelivering({ run }: ConversationContext): boolean {
  return run !== null && run.open.length > 0;
}

/** A quiet window is open. */
export function isQuiet({ quietAt }: ConversationContext): boolean {
  return quietAt !== null;
}

/** A closed batch waits for a turn. */
export function hasLine({ inbox }: ConversationContext): boolean {
  return inbox.length > 0;
}

/** A batch may still grow. */
export function hasWindow({ forming }: ConversationContext): boolean {
  return forming.length > 0;
}

/** A turn that nobody in the room asked for is due. */
export function owesTurn({ heartbeat, prompts }: ConversationContext): boolean {
  return heartbeat !== null || prompts.length > 0;
}
