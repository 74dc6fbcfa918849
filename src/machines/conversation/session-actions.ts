/**
 * Session and settings
 * ====================
 * What changes how a conversation works without anybody having said something to be answered:
 * another config, what the session says differently, a new session, a turn that nobody asked for.
 */
import { withOverride } from "../../domain/settings.ts";
import type { Standing } from "../events/effects.ts";
import type {
  AgentUsage,
  CommandApplied,
  ConfigChanged,
  HeartbeatDue,
  SessionOverridden,
  SessionReset,
} from "../events/events.ts";
import type { ConversationContext } from "./context.ts";

export function adoptSettings(context: ConversationContext, { settings }: ConfigChanged): void {
  context.configured = settings;
  context.settings = withOverride(settings, context.override);
}

/** What the session says differently: a field left out stays, null goes back to the config. */
export function override(context: ConversationContext, event: SessionOverridden): void {
  const before = context.override;
  const { queue: said, send = before.send, activation = before.activation } = event;
  const merges = event.merge === true && said !== undefined && said !== null;
  const queue = said === undefined ? before.queue : merges ? { ...before.queue, ...said } : said;
  context.override = {
    ...(queue === undefined || queue === null ? {} : { queue }),
    ...(send === undefined || send === null ? {} : { send }),
    ...(activation === undefined || activation === null ? {} : { activation }),
  };
  context.settings = withOverride(context.configured, context.override);
}

/** A new session: introduced again, and nothing is left to be said about the last run. */
export function begin(context: ConversationContext, { sessionId }: SessionReset): void {
  context.introduced = false;
  context.abortedLastRun = false;
  const { run } = context;
  if (run !== null) context.run = { ...run, left: true };
  if (sessionId !== undefined) context.effects.push({ type: "session.began", sessionId });
}

/** Commands are carried out by the runtime, in the order in which they came. */
export function passOn(context: ConversationContext, event: CommandApplied): void {
  const { command, args, more = [], asked = null } = event;
  const calls = [{ command, args }, ...more];
  context.effects.push({ type: "command", calls, asked, standing: standingOf(context) });
}

function standingOf({ run, inbox, forming, ...context }: ConversationContext): Standing {
  const { guard, counters, buffer, turnSeq, ledger, settings } = context;
  const idle = inbox.length > 0 ? "waiting" : forming.length > 0 ? "gathering" : "observing";
  return {
    attention: run === null ? idle : run.ended ? "settling" : "running",
    guard,
    consecutive: counters.consecutive,
    waiting: inbox.length + forming.length,
    remembered: buffer.entries.length,
    turns: turnSeq,
    credits: Object.keys(ledger).length,
    activation: settings.engagement.activation,
    queue: settings.queue,
    send: settings.send,
  };
}

/** Told by the agent as it ends; belongs to the session of its turn. */
export function noteUsage(context: ConversationContext, event: AgentUsage): void {
  const { turnId, inputTokens, outputTokens, costUsd = 0 } = event;
  context.effects.push({ type: "usage", turnId, inputTokens, outputTokens, costUsd });
}

/** One heartbeat is owed at most; a later one only says where its words go. */
export function oweHeartbeat(context: ConversationContext, { route }: HeartbeatDue): void {
  if (context.run?.order.heartbeat !== true) context.heartbeat = route;
}
