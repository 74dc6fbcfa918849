/**
 * Names and bodies
 * ================
 * What the conversation chart's guards and actions do. The chart is read by name; each name stands
 * for a function of the context and one event, which can be read and tested without a machine.
 */

import type { ConversationEvent } from "../events/events.ts";
import * as relay from "./agent-relay.ts";
import type { ConversationContext, GuardState, TurnLock } from "./context.ts";
import * as delivery from "./delivery-actions.ts";
import * as guards from "./guards.ts";
import * as hearing from "./message-actions.ts";
import * as queue from "./queue-actions.ts";
import * as session from "./session-actions.ts";
import * as steering from "./steering-actions.ts";
import * as turn from "./turn-actions.ts";

type Types = ConversationEvent["type"];
type EventOf<Type extends Types> = Extract<ConversationEvent, { type: Type }>;
interface Step {
  readonly context: ConversationContext;
  readonly event: ConversationEvent;
}

/** Gives a function of one kind of event the face of a guard or an action. */
const on =
  <Type extends Types, Answer>(
    body: (context: ConversationContext, event: EventOf<Type>) => Answer,
  ) =>
  ({ context, event }: Step): Answer =>
    body(context, event as EventOf<Type>);

/** Questions; their answers decide where the chart moves. */
export const conversationGuards = {
  engages: on<"message.received", boolean>(guards.engages),
  engagesAtOnce: on<"message.received", boolean>(guards.engagesAtOnce),
  humanSpoke: on<"message.received", boolean>(guards.humanSpoke),
  trips: on<"message.received", boolean>(guards.trips),
  mutes: on<"message.received", boolean>(guards.mutes),
  flushReleases: on<"deadline.due", boolean>(guards.flushReleases),
  isFlush: ({ event }: Step) => event.type === "deadline.due" && event.id === "flush",
  isInterrupt: ({ event }: Step) => event.type === "deadline.due" && event.id === "interrupt",
  isRelay: ({ event }: Step) => event.type === "deadline.due" && relay.isRelayDeadline(event.id),
  relayFrees: on<"deadline.due", boolean>(relay.frees),
  mustWait: ({ context }: Step) => relay.mustWait(context),
  quietIsOver: on<"deadline.due", boolean>(guards.quietIsOver),
  commandReleases: on<"command.applied" | "session.reset", boolean>(guards.commandReleases),
  deletionLeaves: ({ context, event }: Step, params: { what: guards.Left }) =>
    guards.afterDeletion(context, event as EventOf<"message.deleted">) === params.what,
  isThisTurn: on<Types, boolean>(guards.isThisTurn),
  expiresInto: ({ context, event }: Step, params: { next: guards.Next }) =>
    guards.isExpired(context, event as EventOf<"lane.granted">) &&
    guards.afterExpiry(context) === params.next,
  retries: on<"agent.failed" | "host.recovered", boolean>(guards.retries),
  endsInto: ({ context, event }: Step, params: { next: guards.Next }) =>
    guards.afterRun(context, event as turn.RunEnd) === params.next,
  settlesInto: ({ context, event }: Step, params: { next: guards.Next }) =>
    guards.afterDelivery(context, event as EventOf<"delivery.sent" | "delivery.failed">) ===
    params.next,
};

/** Deeds; their effects are gathered in the context. */
export const conversationActions = {
  hear: on<"message.received", void>(hearing.hear),
  remember: on<"message.received", void>(hearing.remember),
  overhear: on<"fellow.spoke", void>(hearing.overhear),
  takeUp: on<"message.received", void>(hearing.takeUp),
  applyEdit: on<"message.edited", void>(hearing.applyEdit),
  applyDeletion: on<"message.deleted", void>(hearing.applyDeletion),
  seedHistory: on<"history.seeded", void>(hearing.seedHistory),
  noteMembership: on<"membership.read", void>(hearing.noteMembership),
  adoptSettings: on<"config.changed", void>(session.adoptSettings),
  override: on<"session.overridden", void>(session.override),
  passOn: on<"command.applied", void>(session.passOn),
  beginSession: on<"session.reset", void>(session.begin),
  noteUsage: on<"agent.usage", void>(session.noteUsage),
  oweHeartbeat: on<"heartbeat.due", void>(session.oweHeartbeat),
  flushDue: on<"deadline.due", void>(queue.flushDue),
  interruptDue: on<"deadline.due", void>(queue.interruptDue),
  notePassed: on<"deadline.due", void>(relay.notePassed),
  steerFreed: on<Types, void>(queue.steerFreed),
  endQuiet: on<"deadline.due", void>(queue.endQuiet),
  keepQuiet: on<Types, void>(queue.keepQuiet),
  closeWindows: on<Types, void>(queue.closeWindows),
  requestLane: on<Types, void>(queue.requestLane),
  releaseLane: on<Types, void>(queue.releaseLane),
  stopTyping: on<Types, void>(queue.stopTyping),
  startTurn: on<"lane.granted", void>(turn.startTurn),
  expireTurn: on<"lane.granted", void>(turn.expireTurn),
  retryRun: on<"agent.failed" | "host.recovered", void>(turn.retryRun),
  sendBlock: on<"agent.text", void>(turn.sendBlock),
  reactAsAsked: on<"agent.tool", void>(turn.reactAsAsked),
  showTyping: on<"agent.spoke", void>(turn.showTyping),
  joinRun: on<"agent.steered", void>(steering.joinRun),
  abortRun: on<"run.aborted", void>(turn.abortRun),
  backOff: on<Types, void>(turn.backOff),
  lock: ({ context }: Step, params: { lock: TurnLock }) => turn.lockRun(context, params.lock),
  endRun: on<"agent.ended" | "agent.failed" | "host.recovered", void>(turn.endRun),
  closeTurn: on<Types, void>(turn.closeTurn),
  noteSent: on<"delivery.sent", void>(delivery.noteSent),
  noteUnsent: on<"delivery.failed", void>(delivery.noteUnsent),
  latch: ({ context }: Step, params: { guard: GuardState }) => {
    context.guard = params.guard;
  },
};
