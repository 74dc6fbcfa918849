/**
 * Session and settings
 * ====================
 * What changes how a conversation works without anybody having said something to be answered:
 * another config, what the session says differently, a new session, a turn that nobody asked for.
 */
import { withOverride } from "../domain/settings.ts";
import type { ConversationContext } from "./conversation.context.ts";
import type {
  AgentUsage,
  ConfigChanged,
  HeartbeatDue,
  SessionOverridden,
  SessionReset,
} from "./events.ts";

export function adoptSettings(context: ConversationContext, { settings }: ConfigChanged): void {
  context.configured = settings;
  context.settings = withOverride(settings, context.override);
}

/** What the session says differently: a field left out stays, null goes back to the config. */
export function override(context: ConversationContext, event: SessionOverridden): void {
  const { queue = context.override.queue, send = context.override.send } = event;
  context.override = {
    ...(queue === undefined || queue === null ? {} : { queue }),
    ...(send === undefined || send === null ? {} : { send }),
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

/** Told by the agent as it ends; belongs to the session of its turn. */
export function noteUsage(context: ConversationContext, event: AgentUsage): void {
  const { turnId, inputTokens, outputTokens, costUsd = 0 } = event;
  context.effects.push({ type: "usage", turnId, inputTokens, outputTokens, costUsd });
}

/** One heartbeat is owed at most; a later one only says where its words go. */
export function oweHeartbeat(context: ConversationContext, { route }: HeartbeatDue): void {
  if (context.run?.order.heartbeat !== true) context.heartbeat = route;
}
