/**
 * Where to next
 * =============
 * The questions the conversation's chart asks before it moves. They look at the context as it was
 * before the event and answer for the state after it, so that no transition ever lands in a state
 * that its own actions have made untrue. None of them changes anything but the memo of the message
 * at hand.
 */
import { routeOf } from "../../domain/message.ts";
import type { Flush, Forming } from "../batching/inbox.ts";
import { removePending } from "../batching/pending.ts";
import { reachedHardLimit, reachedLimit } from "../engagement/loop-guard.ts";
import type {
  CommandApplied,
  ConversationEvent,
  DeadlineDue,
  DeliveryFailed,
  DeliverySent,
  LaneGranted,
  MessageDeleted,
  MessageReceived,
  SessionReset,
} from "../events/events.ts";
import { takeFree } from "./agent-relay.ts";
import type { ConversationContext } from "./context.ts";
import { readMessage } from "./message-analysis.ts";
import { needsQuiet } from "./queue-actions.ts";
import { inboxAfterRun, mayRetry, type RunEnd, willTellRoom } from "./turn-actions.ts";

/** Where attention goes when a piece of work is done. */
export type Next = "observing" | "gathering" | "waiting" | "settling";

/** The ladder says engage. */
export function engages(context: ConversationContext, event: MessageReceived): boolean {
  return readMessage(context, event).gathered !== null;
}

/** It engages and closes a batch at once, and no quiet window holds the line. */
export function engagesAtOnce(context: ConversationContext, event: MessageReceived): boolean {
  const { gathered } = readMessage(context, event);
  return gathered !== null && gathered.closed.length > 0 && context.quietAt === null;
}

/** A human spoke: the guard has nothing to count. */
export function humanSpoke(context: ConversationContext, event: MessageReceived): boolean {
  return !readMessage(context, event).fromBot;
}

/** This engaged peer-bot message is one too many. */
export function trips(context: ConversationContext, event: MessageReceived): boolean {
  const { fromBot, gathered, counters } = readMessage(context, event);
  return fromBot && gathered !== null && reachedLimit(counters, context.settings.loopGuard);
}

/** This engaged peer-bot message is the last one that is answered. */
export function mutes(context: ConversationContext, event: MessageReceived): boolean {
  const { fromBot, gathered, counters } = readMessage(context, event);
  return fromBot && gathered !== null && reachedHardLimit(counters, context.settings.loopGuard);
}

/** The first window has closed by now, and no quiet window holds the line. */
export function flushReleases(context: ConversationContext, event: DeadlineDue): boolean {
  const { flushAt, quietAt } = context;
  return event.id === "flush" && flushAt !== null && event.at >= flushAt && quietAt === null;
}

/** The quiet window is over. */
export function quietIsOver(context: ConversationContext, event: DeadlineDue): boolean {
  return event.id === "quiet" && context.quietAt !== null && event.at >= context.quietAt;
}

/** A command closes an open window, and no quiet window holds the line. */
export function commandReleases(
  context: ConversationContext,
  _event: CommandApplied | SessionReset,
): boolean {
  return context.forming.length > 0 && context.quietAt === null;
}

/** The most urgent of the work that is left. */
export type Left = "line" | "window" | "heartbeat" | "nothing";

/** What is left of the pending work after a deletion. */
export function afterDeletion(
  { forming, inbox, heartbeat }: ConversationContext,
  { deletion }: MessageDeleted,
): Left {
  const route = routeOf(deletion);
  if (removePending(inbox, route, deletion.id).batches.length > 0) return "line";
  if (removePending(forming, route, deletion.id).batches.length > 0) return "window";
  return heartbeat === null ? "nothing" : "heartbeat";
}

/** Events of a try that is over come late and change nothing. */
export function isThisTurn({ run }: ConversationContext, event: ConversationEvent): boolean {
  return run !== null && "turnId" in event && event.turnId === run.order.turnId;
}

/** The first in line is too old to be answered. */
export function isExpired(context: ConversationContext, event: LaneGranted): boolean {
  const newest = nextInLine(context)?.messages.at(-1);
  return newest !== undefined && event.at - newest.at > context.settings.turn.replyAgeMsMax;
}

const nextInLine = (context: ConversationContext): Flush | null => takeFree(context).flush;

/** Where attention goes when the first in line has expired. */
export function afterExpiry(context: ConversationContext): Next {
  const { forming, heartbeat } = context;
  const rest = takeFree(context).inbox;
  if (rest.length > 0) return "waiting";
  if (forming.length > 0) return "gathering";
  return heartbeat === null ? "observing" : "waiting";
}

/** The host is gone, nothing was said, and there are tries left. */
export function retries(context: ConversationContext, event: RunEnd): boolean {
  if (event.type === "agent.ended") return false;
  return concerns(context, event) && mayRetry(context, event);
}

/** Where attention goes when the agent ends; null: this is not the running turn's end. */
export function afterRun(context: ConversationContext, event: RunEnd): Next | null {
  const { run } = context;
  if (run === null || !concerns(context, event)) return null;
  if (run.open.length > 0 || willTellRoom(context, event)) return "settling";
  return nextWork(context, inboxAfterRun(context, event), context.forming);
}

/** Where attention goes after a delivery report while settling; null: it settles nothing. */
export function afterDelivery(
  context: ConversationContext,
  event: DeliverySent | DeliveryFailed,
): Next | null {
  const { run } = context;
  if (run === null || !isThisTurn(context, event)) return null;
  if (run.open.length !== 1 || run.open[0]?.index !== event.index) return null;
  return nextWork(context, context.inbox, context.forming);
}

const concerns = (context: ConversationContext, event: RunEnd): boolean =>
  event.type === "host.recovered" || isThisTurn(context, event);

function nextWork(
  context: ConversationContext,
  inbox: readonly Flush[],
  forming: readonly Forming[],
): Next {
  if (inbox.length > 0) return needsQuiet(context) ? "gathering" : "waiting";
  if (forming.length > 0) return "gathering";
  return context.heartbeat === null ? "observing" : "waiting";
}
