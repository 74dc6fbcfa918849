/**
 * One statechart for every conversation, in three regions. Attention says what the room is due:
 * nothing (observing), or a turn on its way (engaged). The lock says what the turn under way may
 * still do to the room. The guard keeps peer bots from talking in circles. What must end together is
 * nested, so leaving a state ends it: "typing while idle" cannot be reached. When something has ended
 * (a run, its deliveries, an expired batch, a deletion), `next` asks what is due now.
 *
 * Pure by XState's own measure: actions assign and emit, guards only ask, time and ids come in with
 * events. A message comes with its analysis (conversation/message-analysis.ts), as several guards
 * and actions need it. Their bodies are in conversation/implementations.ts.
 */
import { setup } from "xstate";
import type { ConversationSettings } from "../domain/settings.ts";
import { type ConversationContext, newContext } from "./conversation/context.ts";
import { conversationActions, conversationGuards } from "./conversation/implementations.ts";
import type { StepEvent } from "./conversation/message-analysis.ts";
import type { EmittedEffect } from "./events/effects.ts";

export const conversationMachine = setup({
  types: {
    context: {} as ConversationContext,
    events: {} as StepEvent,
    emitted: {} as EmittedEffect,
    input: {} as { readonly settings: ConversationSettings },
  },
  guards: conversationGuards,
  actions: conversationActions,
}).createMachine({
  id: "conversation",
  description: "Everything said within earshot of one agent in one place.",
  context: ({ input }) => newContext(input.settings),
  type: "parallel",
  on: {
    "fellow.spoke": { actions: "bufferSibling", description: "Another agent; decides nothing." },
    "message.edited": {
      actions: "applyEdit",
      description: "Changes unanswered messages.",
    },
    "message.deleted": {
      actions: "applyDeletion",
      description: "Removes unanswered messages.",
    },
    "message.reacted": {
      actions: "noteReaction",
      description: "To our message; decides nothing.",
    },
    "history.seeded": { actions: "seedHistory", description: "Cold start; decides nothing." },
    "membership.read": { actions: "noteMembership", description: "Who is in the room." },
    "session.overridden": { actions: "overrideSession", description: "From the next step on." },
    "session.reset": { actions: "beginSession", description: "A new session starts." },
    "config.changed": { actions: "adoptSettings", description: "Applies from the next event on." },
    "judge.answered": { actions: "closeQuestion", description: "It stays observed." },
    "run.aborted": { actions: "dropQuestions", description: "Nothing runs." },
    "delivery.sent": {
      actions: "noteSent",
      description: "Late: it is still our message.",
    },
    "delivery.failed": {
      actions: "noteUnsent",
      description: "A text without a turn was not sent.",
    },
    "text.due": { actions: "sayText", description: "A text that belongs to no turn." },
    "lane.granted": { actions: "releaseSlot", description: "Nothing waits for the slot any more." },
    "command.applied": { actions: "runCommand", description: "The runtime answers." },
  },
  states: {
    attention: {
      description: "Whether a turn is pending or running.",
      initial: "observing",
      on: {
        disengage: { actions: "dropCredits", description: "All credits end." },
      },
      states: {
        observing: {
          description: "No turn is pending. Messages are read, nothing is shown.",
          on: {
            "message.received": [
              {
                guard: "engagesNow",
                target: "engaged.waiting",
                actions: ["recordDecision", "engage"],
                description: "Files form their own batch.",
              },
              {
                guard: "engages",
                target: "engaged.gathering",
                actions: ["recordDecision", "engage"],
              },
              {
                actions: ["recordDecision", "bufferMessage"],
                description: "Observed and remembered.",
              },
            ],
            "judge.answered": [
              { guard: "engagesNow", target: "engaged.waiting", actions: "engageLate" },
              { guard: "engages", target: "engaged.gathering", actions: "engageLate" },
            ],
            "heartbeat.due": {
              target: "engaged.waiting",
              actions: "noteHeartbeat",
              description: "A turn without a message.",
            },
            "prompt.due": { target: "engaged.waiting", actions: "notePrompt" },
          },
        },
        engaged: {
          description: "A turn is pending or running. Typing ends with this state.",
          exit: "stopTyping",
          initial: "gathering",
          on: {
            "message.received": [
              {
                guard: "engages",
                actions: ["recordDecision", "engage"],
                description: "A batch gathers meanwhile.",
              },
              { actions: ["recordDecision", "bufferMessage"] },
            ],
            "judge.answered": { guard: "engages", actions: "engageLate" },
            "deadline.due": [
              {
                guard: "isFlush",
                actions: "closeDueWindows",
                description: "A window closed: its batch joins the queue.",
              },
              {
                guard: "isRelay",
                actions: "notePassed",
                description: "An earlier agent has ended.",
              },
            ],
            "command.applied": {
              actions: ["closeWindows", "runCommand"],
              description: "Earlier messages come first.",
            },
            "session.reset": {
              actions: ["closeWindows", "beginSession"],
              description: "Earlier messages belong to the old session.",
            },
            "delivery.sent": [
              {
                guard: "grantsCredit",
                actions: ["grantCredit", "noteSent"],
                description: "Those answered can continue without a mention.",
              },
              { actions: "noteSent" },
            ],
            "delivery.failed": { actions: "noteUnsent", description: "Grants nothing." },
            "heartbeat.due": { actions: "noteHeartbeat", description: "People come first." },
            "prompt.due": { actions: "notePrompt", description: "People come first here, too." },
          },
          states: {
            gathering: {
              description: "A window is open: a batch may grow, or the room has to be quiet first.",
              on: {
                "message.received": {
                  guard: "engagesNow",
                  target: "waiting",
                  actions: ["recordDecision", "engage"],
                },
                "judge.answered": { guard: "engagesNow", target: "waiting", actions: "engageLate" },
                "deadline.due": [
                  { guard: "flushReleases", target: "waiting", actions: "closeDueWindows" },
                  { guard: "quietIsOver", target: "waiting", actions: "endQuiet" },
                  { guard: "isFlush", actions: "closeDueWindows" },
                  { guard: "isRelay", actions: "notePassed" },
                  { actions: "keepQuiet", description: "It fired early." },
                ],
                "command.applied": {
                  guard: "commandReleases",
                  target: "waiting",
                  actions: ["closeWindows", "runCommand"],
                },
                "session.reset": {
                  guard: "commandReleases",
                  target: "waiting",
                  actions: ["closeWindows", "beginSession"],
                },
                "run.aborted": { target: "next", actions: "parkLine" },
                "message.deleted": { target: "next", actions: "applyDeletion" },
              },
            },
            waiting: {
              description: "A batch is ready and waits for a turn slot.",
              entry: "requestSlot",
              on: {
                "deadline.due": {
                  guard: "mayFreeLine",
                  target: "waiting",
                  reenter: true,
                  actions: "notePassed",
                  description: "The slot is requested once earlier agents have ended.",
                },
                "lane.granted": [
                  {
                    guard: "mustWait",
                    actions: "releaseSlot",
                    description: "Sibling agents go first.",
                  },
                  {
                    guard: "isExpired",
                    target: "next",
                    actions: "expireTurn",
                    description: "Too old to be answered.",
                  },
                  {
                    guard: "loopGuardHolds",
                    target: "running",
                    actions: { type: "startTurn", params: { warned: true } },
                    description: "The agent's prompt says that it may stay silent.",
                  },
                  { target: "running", actions: "startTurn" },
                ],
                "host.recovered": {
                  actions: "requestSlot",
                  description: "The request may be lost with the host.",
                },
                "message.deleted": {
                  guard: "isLastToWait",
                  target: "next",
                  actions: ["applyDeletion", "releaseSlot"],
                },
                "run.aborted": [
                  { guard: "stopsAll", target: "next", actions: ["parkLine", "releaseSlot"] },
                  { actions: "parkLine" },
                ],
              },
            },
            running: {
              description: "The agent runs.",
              on: {
                "message.received": {
                  guard: "engages",
                  actions: ["recordDecision", { type: "engage", params: { running: true } }],
                  description: "It may be steered into the turn, or stop it.",
                },
                "judge.answered": {
                  guard: "engages",
                  actions: { type: "engageLate", params: { running: true } },
                },
                "message.edited": {
                  actions: ["applyEdit", "offerLine"],
                  description: "It may be steered into the turn.",
                },
                "deadline.due": [
                  {
                    guard: "isFlush",
                    actions: { type: "closeDueWindows", params: { running: true } },
                  },
                  { guard: "isRelay", actions: ["notePassed", "offerLine"] },
                  {
                    guard: "isInterrupt",
                    actions: "interruptDue",
                    description: "A newer message came too soon after the last interruption.",
                  },
                ],
                "command.applied": {
                  actions: [{ type: "closeWindows", params: { running: true } }, "runCommand"],
                },
                "session.reset": {
                  actions: [{ type: "closeWindows", params: { running: true } }, "beginSession"],
                },
                "lane.granted": { description: "It already has a slot." },
                "agent.started": { description: "The agent was called." },
                "agent.message-ended": { description: "Its blocks were cut already." },
                "agent.spoke": { guard: "maySpeak", actions: "showTyping" },
                "agent.text": { guard: "maySpeak", actions: "sendBlock" },
                "agent.tool": { guard: "maySpeak", actions: "reactAsAsked" },
                "agent.tool-failed": { description: "Only noted." },
                "agent.steered": { guard: "isThisTurn", actions: "joinTurn" },
                "agent.usage": { guard: "isThisTurn", actions: "noteUsage" },
                "run.aborted": {
                  actions: ["abortTurn", "parkLine"],
                  description: "Its author's waiting messages get no turn.",
                },
                "agent.ended": { guard: "isThisTurn", target: "next", actions: "endTurn" },
                "agent.failed": [
                  { guard: "retries", actions: "retryTurn" },
                  { guard: "isThisTurn", target: "next", actions: "endTurn" },
                ],
                "host.recovered": [
                  { guard: "retries", actions: "retryTurn" },
                  { target: "next", actions: "endTurn" },
                ],
              },
            },
            settling: {
              description: "The agent is done. Its last deliveries decide the outcome.",
              on: {
                "run.aborted": { actions: ["abortDelivery", "parkLine"] },
                "delivery.sent": [
                  {
                    guard: "grantsCredit",
                    target: "next",
                    actions: ["grantCredit", "noteSent"],
                  },
                  { target: "next", actions: "noteSent" },
                ],
                "delivery.failed": { target: "next", actions: "noteUnsent" },
              },
            },
            next: {
              description: "Something has ended: what is pending?",
              always: [
                { guard: "isDelivering", target: "settling" },
                {
                  guard: "needsQuiet",
                  target: "gathering",
                  actions: ["closeTurn", "openQuiet"],
                  description: "Waiting messages need a pause first.",
                },
                { guard: "isQuiet", target: "gathering" },
                { guard: "hasLine", target: "waiting", actions: "closeTurn" },
                { guard: "hasWindow", target: "gathering", actions: "closeTurn" },
                { guard: "owesTurn", target: "waiting", actions: "closeTurn" },
                { target: "#conversation.attention.observing", actions: "closeTurn" },
              ],
            },
          },
        },
      },
    },
    lock: {
      description: "What the current turn may still do to the room. The next turn resets it.",
      initial: "granting",
      states: {
        granting: {
          description: "Deliveries grant credit.",
          on: {
            disengage: { target: "withheld" },
            skip: {
              guard: "choosesSilence",
              target: "silenced",
              actions: "fallSilent",
            },
          },
        },
        withheld: {
          description: "Disengaged: deliveries grant no credit.",
          on: {
            skip: {
              guard: "choosesSilence",
              target: "closed",
              actions: "fallSilent",
            },
            "lane.granted": { guard: "turnBegins", target: "granting" },
          },
        },
        silenced: {
          description: "The agent chose silence: more output is refused.",
          on: {
            disengage: { target: "closed" },
            "lane.granted": { guard: "turnBegins", target: "granting" },
          },
        },
        closed: {
          description: "Disengaged and silent.",
          on: { "lane.granted": { guard: "turnBegins", target: "granting" } },
        },
      },
    },
    guard: {
      description: "Stops bots from triggering each other.",
      initial: "clear",
      states: {
        clear: {
          description: "Peer bots are answered like people.",
          on: {
            "message.received": [
              { guard: "mutes", target: "muted" },
              { guard: "trips", target: "tripped" },
            ],
          },
        },
        tripped: {
          description: "The agent's prompt says that it may stay silent.",
          on: {
            "message.received": [
              { guard: "humanSpoke", target: "clear" },
              { guard: "mutes", target: "muted" },
            ],
          },
        },
        muted: {
          description: "Peer bots are only observed until a human speaks.",
          on: { "message.received": { guard: "humanSpoke", target: "clear" } },
        },
      },
    },
  },
});
