/**
 * Session and settings
 * ====================
 * What changes how a conversation works without a message to be answered: another config, what the
 * session says differently, a new session, a turn that nobody asked for, a command.
 */
import { emptyFloors } from "../../domain/floor.ts";
import { limits } from "../../domain/limits.ts";
import { withOverride } from "../../domain/settings.ts";
import { closeQuestions, removeStopped } from "../batching/context-buffer.ts";
import { release } from "../batching/pending.ts";
import { keepCredited } from "../engagement/floor.ts";
import type { ConversationFigures } from "../events/effects.ts";
import type {
  AgentUsage,
  CommandApplied,
  CommandAsked,
  ConfigChanged,
  HeartbeatDue,
  PromptDue,
  SessionOverridden,
  SessionReset,
} from "../events/events.ts";
import type { ConversationContext } from "./context.ts";
import { judgesFloor } from "./delivery-actions.ts";
import { askedBy, reaches } from "./same-person.ts";
import type { Step } from "./step.ts";

export function adoptSettings({ context }: Step, { settings }: ConfigChanged): void {
  context.configured = settings;
  context.settings = withOverride(settings, context.override);
  if (!judgesFloor(context)) context.floors = emptyFloors;
}

/** What the session says differently: a field left out stays, null goes back to the config. */
export function overrideSession({ context }: Step, event: SessionOverridden): void {
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

/**
 * A new session: introduced again, and nothing is left to be said about the last run. Where somebody
 * ordered it, what waits for a turn stays in the session in which it was said.
 */
export function beginSession({ context, effects }: Step, event: SessionReset): void {
  const { sessionId, cuts } = event;
  const owes = cuts === true && context.inbox.length > 0;
  if (owes) context.inbox = context.inbox.map((one) => ({ ...one, past: (one.past ?? 0) + 1 }));
  context.buffer = closeQuestions(context.buffer);
  // What was said to the agent and stopped belongs to the session in which it was said.
  if (cuts === true) context.buffer = removeStopped(context.buffer);
  // Nor does what is edited there later come up in the new one.
  context.readByTurns = [];
  if (cuts === true && !owes) context.notes = [];
  context.introduced = false;
  context.abortedLastRun = false;
  const { run } = context;
  if (run !== null) context.run = { ...run, left: true };
  if (sessionId !== undefined)
    effects.push({ type: "session.began", sessionId, ...(owes ? { owes } : {}) });
}

/** Commands are carried out by the runtime, in the order in which they came. */
export function runCommand({ context, effects }: Step, event: CommandApplied): void {
  const { command, args, more = [], asked = null } = event;
  const calls = [{ command, args }, ...more];
  effects.push({ type: "command", calls, asked, status: figuresOf(context, asked) });
}

function figuresOf(context: ConversationContext, asked: CommandAsked | null): ConversationFigures {
  const { inbox, forming, counters, buffer, turnSeq, ledger, settings, run } = context;
  const reached = inbox.filter((flush) => reaches(asked ?? undefined, flush));
  const messagesOf = (flushes: typeof reached) =>
    flushes.flatMap(({ messages }) => messages).length;
  const current = reached.filter(({ past }) => past === undefined);
  return {
    stops: {
      turn: run !== null && run.abortedBy === null && reaches(asked ?? undefined, askedBy(run)),
      messages: messagesOf(current),
      past: messagesOf(reached) - messagesOf(current),
    },
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

/** Backs off: no credit is left, nobody is held, no question is open. What is still delivered is the lock's business. */
export function dropCredits({ context }: Step): void {
  const { run } = context;
  context.ledger = {};
  context.buffer = closeQuestions(context.buffer);
  if (judgesFloor(context)) context.floors = keepCredited(context.floors, {});
  context.forming = release(context.forming);
  context.inbox = release(context.inbox);
  if (run?.holds) context.run = { ...run, holds: false };
}

/** Reported by the agent as it ends; belongs to the session of its turn. */
export function noteUsage({ effects }: Step, event: AgentUsage): void {
  const { turnId, inputTokens, outputTokens, costUsd = 0 } = event;
  effects.push({ type: "usage", turnId, inputTokens, outputTokens, costUsd });
}

/** One heartbeat is due at most; a later one only changes where its text goes. */
export function noteHeartbeat({ context }: Step, { route }: HeartbeatDue): void {
  if (context.run?.order.heartbeat !== true) context.heartbeat = route;
}

/** One more prompt is due, after those before it. Of too many the newest is dropped. */
export function notePrompt({ context, effects }: Step, { seq, id, route }: PromptDue): void {
  if (context.prompts.length < limits.promptsOwedMax)
    context.prompts = [...context.prompts, { seq, route }];
  else effects.push({ type: "dropped", message: { seq, id }, why: "queue-cap-new" });
}
