/**
 * Names and bodies
 * ================
 * What the conversation chart's guards and actions do. The chart is read by name; each name refers
 * to a function that can be read and tested without a machine: a guard of the context and the
 * event, an action of the step in the making and the event.
 *
 * XState is given the actions as transactions: what a body has left in its step is assigned, and its
 * effects are emitted in their order.
 */
import { type ActionFunction, and, enqueueActions, not, or, stateIn } from "xstate";
import type { EmittedEffect } from "../events/effects.ts";
import * as relay from "./agent-relay.ts";
import type { ConversationContext } from "./context.ts";
import * as delivery from "./delivery-actions.ts";
import * as guards from "./guards.ts";
import * as judge from "./judge-actions.ts";
import * as messages from "./message-actions.ts";
import type { StepEvent } from "./message-analysis.ts";
import * as output from "./output-actions.ts";
import * as queue from "./queue-actions.ts";
import * as session from "./session-actions.ts";
import * as steering from "./steering-actions.ts";
import { beginStep, type Step } from "./step.ts";
import * as turn from "./turn-actions.ts";
import * as typing from "./typing-actions.ts";

type Types = StepEvent["type"];
type EventOf<Type extends Types> = Extract<StepEvent, { type: Type }>;
interface Asked {
  readonly context: ConversationContext;
  readonly event: StepEvent;
}

/** Gives a function of one kind of event the form of a guard. */
const asks =
  <Type extends Types>(body: (context: ConversationContext, event: EventOf<Type>) => boolean) =>
  ({ context, event }: Asked): boolean =>
    body(context, event as EventOf<Type>);
const isDeadline = (id: string) => asks<"deadline.due">((_, event) => event.id === id);
const isSilenced = or([stateIn({ lock: "silenced" }), stateIn({ lock: "closed" })]);

/** Questions; their answers decide where the chart moves. */
export const conversationGuards = {
  engages: asks<"message.received" | "judge.answered">(guards.engages),
  engagesNow: asks<"message.received" | "judge.answered">(guards.engagesNow),
  humanSpoke: asks<"message.received">(guards.humanSpoke),
  trips: asks<"message.received">(guards.trips),
  mutes: asks<"message.received">(guards.mutes),
  isFlush: isDeadline("flush"),
  isInterrupt: isDeadline("interrupt"),
  isRelay: asks<"deadline.due">((_, { id }) => relay.isRelayDeadline(id)),
  flushReleases: asks<"deadline.due">(guards.flushReleases),
  quietIsOver: asks<"deadline.due">(guards.quietIsOver),
  mayFreeLine: asks<"deadline.due">(guards.mayFreeLine),
  commandReleases: asks<Types>(guards.commandReleases),
  isLastToWait: asks<"message.deleted">(guards.isLastToWait),
  stopsAll: asks<"run.aborted">(guards.stopsAll),
  mustWait: asks<Types>(relay.mustWait),
  isExpired: asks<"lane.granted">(turn.isExpired),
  isThisTurn: asks<Types>(guards.isThisTurn),
  retries: asks<"agent.failed" | "host.recovered">(turn.mayRetry),
  isDelivering: asks<Types>(guards.isDelivering),
  needsQuiet: asks<Types>(queue.needsQuiet),
  isQuiet: asks<Types>(guards.isQuiet),
  hasLine: asks<Types>(guards.hasLine),
  hasWindow: asks<Types>(guards.hasWindow),
  owesTurn: asks<Types>(guards.owesTurn),
  /** Of the turn under way, and the lock lets it speak. */
  maySpeak: and(["isThisTurn", not(isSilenced)]),
  /** The turn that is running chooses silence. */
  choosesSilence: and(["isThisTurn", stateIn({ attention: { engaged: "running" } })]),
  grantsCredit: or([stateIn({ lock: "granting" }), stateIn({ lock: "silenced" })]),
  loopGuardHolds: not(stateIn({ guard: "clear" })),
  /** The turn slot is taken: the lock of the last turn ends. */
  turnBegins: and([
    stateIn({ attention: { engaged: "waiting" } }),
    not("mustWait"),
    not("isExpired"),
  ]),
};

type Body<Type extends Types, Params> = (step: Step, event: EventOf<Type>, params?: Params) => void;
type AnyBody<Params> = (step: Step, event: StepEvent, params?: Params) => void;

/** Gives a function of one kind of event the form of every action's body. */
const on = <Type extends Types, Params = undefined>(body: Body<Type, Params>) =>
  body as AnyBody<Params>;

/** What is done, by name. */
export const actionBodies = {
  recordDecision: on<"message.received">(messages.recordDecision),
  engage: on<"message.received", queue.AtWork>(messages.engage),
  engageLate: on<"judge.answered", queue.AtWork>(judge.engageLate),
  closeQuestion: on<"judge.answered">(judge.closeQuestion),
  dropQuestions: on<Types>(judge.dropQuestions),
  bufferMessage: on<"message.received">(messages.bufferMessage),
  bufferSibling: on<"fellow.spoke">(messages.bufferSibling),
  applyEdit: on<"message.edited">(messages.applyEdit),
  applyDeletion: on<"message.deleted">(messages.applyDeletion),
  noteReaction: on<"message.reacted">(messages.noteReaction),
  seedHistory: on<"history.seeded">(messages.seedHistory),
  noteMembership: on<"membership.read">(messages.noteMembership),
  adoptSettings: on<"config.changed">(session.adoptSettings),
  overrideSession: on<"session.overridden">(session.overrideSession),
  beginSession: on<"session.reset">(session.beginSession),
  runCommand: on<"command.applied">(session.runCommand),
  dropCredits: on<Types>(session.dropCredits),
  noteUsage: on<"agent.usage">(session.noteUsage),
  noteHeartbeat: on<"heartbeat.due">(session.noteHeartbeat),
  notePrompt: on<"prompt.due">(session.notePrompt),
  sayText: on<"text.due">(output.sayText),
  closeDueWindows: on<"deadline.due", queue.AtWork>(queue.closeDueWindows),
  closeWindows: on<Types, queue.AtWork>(queue.closeWindows),
  openQuiet: on<Types>(queue.openQuiet),
  endQuiet: on<"deadline.due">(queue.endQuiet),
  keepQuiet: on<Types>(queue.keepQuiet),
  notePassed: on<"deadline.due">(relay.notePassed),
  requestSlot: on<Types>(queue.requestSlot),
  releaseSlot: on<Types>(queue.releaseSlot),
  fallSilent: on<"skip">(output.fallSilent),
  stopTyping: on<Types>(typing.stopTyping),
  updateTyping: on<Types>(typing.updateTyping),
  startTurn: on<"lane.granted", turn.Warning>(turn.startTurn),
  expireTurn: on<"lane.granted">(turn.expireTurn),
  retryTurn: on<"agent.failed" | "host.recovered">(turn.retryTurn),
  endTurn: on<turn.RunEnd["type"]>(turn.endTurn),
  closeTurn: on<Types>(turn.closeTurn),
  offerLine: on<Types>(steering.offerLine),
  interruptDue: on<"deadline.due">(steering.interruptDue),
  joinTurn: on<"agent.steered">(steering.joinTurn),
  abortTurn: on<"run.aborted">(steering.abortTurn),
  abortDelivery: on<"run.aborted">(steering.abortDelivery),
  parkLine: on<"run.aborted">(queue.parkLine),
  sendBlock: on<"agent.text">(output.sendBlock),
  reactAsAsked: on<"agent.tool">(output.reactAsAsked),
  showTyping: on<"agent.spoke">(output.showTyping),
  noteSent: on<"delivery.sent">(delivery.noteSent),
  noteUnsent: on<"delivery.failed">(delivery.noteUnsent),
  grantCredit: on<"delivery.sent">(delivery.grantCredit),
};

type Bodies = typeof actionBodies;
type ChartAction<Params> = ActionFunction<
  ConversationContext,
  StepEvent,
  StepEvent,
  Params,
  never,
  never,
  never,
  never,
  EmittedEffect
>;

function asAction<Params>(body: AnyBody<Params>): ChartAction<Params | undefined> {
  return enqueueActions(({ context, event, enqueue }, params) => {
    const step = beginStep(context);
    body(step, event, params);
    // As a function: XState would look at each field of an object, whether it is one.
    enqueue.assign(() => step.context);
    for (const effect of step.effects) enqueue.emit(effect);
  });
}

/** Deeds, as XState takes them. */
export const conversationActions = Object.fromEntries(
  Object.entries(actionBodies).map(([name, body]) => [name, asAction(body as AnyBody<unknown>)]),
) as {
  readonly [Name in keyof Bodies]: ChartAction<Parameters<Bodies[Name]>[2]>;
};
