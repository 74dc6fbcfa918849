/**
 * The conversation machine
 * ========================
 * One statechart for every conversation, and what the workers run. Attention says what is owed:
 * nothing (observing), or a turn on its way (engaged). What must end together is nested, so leaving
 * a state ends it: "typing while idle" cannot be reached, nor can "idle with work pending". The
 * guard beside it keeps peer bots from talking in circles.
 *
 * Pure: time and ids come in with events, everything to be done goes out as effects in the context.
 * The bodies of all guards and actions stand under their names in conversation.bodies.ts; no
 * timers, no children, one microstep an event.
 */
import { setup } from "xstate";
import type { ConversationSettings } from "../domain/settings.ts";
import { type ConversationContext, newContext } from "./conversation/context.ts";
import { conversationActions, conversationGuards } from "./conversation/implementations.ts";
import type { ConversationEvent } from "./events/events.ts";

export const conversationMachine = setup({
  types: {
    context: {} as ConversationContext,
    events: {} as ConversationEvent,
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
    "fellow.spoke": { actions: "overhear", description: "Another agent of ours; decides nothing." },
    "message.edited": { actions: "applyEdit", description: "Rewrites what is not yet answered." },
    "message.deleted": { actions: "applyDeletion", description: "Forgets what is not answered." },
    "history.seeded": { actions: "seedHistory", description: "Cold start; decides nothing." },
    "membership.read": { actions: "noteMembership", description: "Who is in the room." },
    "session.overridden": { actions: "override", description: "From the next step on." },
    "session.reset": { actions: "beginSession", description: "The transcript starts afresh." },
    "config.changed": { actions: "adoptSettings", description: "Applies from the next event on." },
    "delivery.sent": { actions: "noteSent", description: "Late: still a message of ours." },
    "lane.granted": { actions: "releaseLane", description: "Nothing waits for it any more." },
    "command.applied": { actions: "passOn", description: "The runtime answers." },
    disengage: { actions: "backOff", description: "No credit is left and nobody is held." },
  },
  states: {
    attention: {
      description: "What is owed to the room.",
      initial: "observing",
      states: {
        observing: {
          description: "Nothing is owed. Everything is heard, nothing is shown.",
          on: {
            "message.received": [
              {
                guard: "engagesAtOnce",
                target: "engaged.waiting",
                actions: ["hear", "takeUp"],
                description: "Media goes by itself.",
              },
              { guard: "engages", target: "engaged.gathering", actions: ["hear", "takeUp"] },
              { actions: ["hear", "remember"], description: "Watch, but remember." },
            ],
            "heartbeat.due": {
              target: "engaged.waiting",
              actions: "oweHeartbeat",
              description: "A turn that nobody asked for.",
            },
          },
        },
        engaged: {
          description: "A turn is owed. Typing cannot outlive this state.",
          exit: "stopTyping",
          initial: "gathering",
          on: {
            "message.received": [
              {
                guard: "engages",
                actions: ["hear", "takeUp"],
                description: "Gathers beside what is under way.",
              },
              { actions: ["hear", "remember"] },
            ],
            "deadline.due": [
              {
                guard: "isFlush",
                actions: "flushDue",
                description: "A window closed: its batch joins the line.",
              },
              {
                guard: "isRelay",
                actions: ["notePassed", "steerFreed"],
                description: "An agent before us has ended.",
              },
            ],
            "command.applied": {
              actions: ["closeWindows", "passOn"],
              description: "What was said before a command goes before it.",
            },
            "session.reset": {
              actions: ["closeWindows", "beginSession"],
              description: "What was said before it is no part of what begins it.",
            },
            "delivery.sent": { actions: "noteSent", description: "Grants credit." },
            "delivery.failed": { actions: "noteUnsent", description: "Grants nothing." },
            "heartbeat.due": { actions: "oweHeartbeat", description: "People come first." },
          },
          states: {
            gathering: {
              description: "A window is open: a batch may grow, or the room has to be quiet first.",
              on: {
                "message.received": {
                  guard: "engagesAtOnce",
                  target: "waiting",
                  actions: ["hear", "takeUp"],
                },
                "deadline.due": [
                  { guard: "flushReleases", target: "waiting", actions: "flushDue" },
                  { guard: "quietIsOver", target: "waiting", actions: "endQuiet" },
                  { guard: "isFlush", actions: "flushDue" },
                  { guard: "isRelay", actions: "notePassed" },
                  { actions: "keepQuiet", description: "It came early." },
                ],
                "command.applied": {
                  guard: "commandReleases",
                  target: "waiting",
                  actions: ["closeWindows", "passOn"],
                },
                "session.reset": {
                  guard: "commandReleases",
                  target: "waiting",
                  actions: ["closeWindows", "beginSession"],
                },
                "message.deleted": [
                  {
                    guard: { type: "deletionLeaves", params: { what: "heartbeat" } },
                    target: "waiting",
                    actions: "applyDeletion",
                  },
                  {
                    guard: { type: "deletionLeaves", params: { what: "nothing" } },
                    target: "#conversation.attention.observing",
                    actions: "applyDeletion",
                  },
                ],
              },
            },
            waiting: {
              description: "A batch is ready and wants a lane.",
              entry: "requestLane",
              on: {
                "deadline.due": {
                  guard: "relayFrees",
                  actions: ["notePassed", "requestLane"],
                  description: "The agents before us have ended.",
                },
                "lane.granted": [
                  { guard: "mustWait", actions: "releaseLane" },
                  {
                    guard: { type: "expiresInto", params: { next: "waiting" } },
                    target: "waiting",
                    reenter: true,
                    actions: "expireTurn",
                    description: "Too old to be answered; the next one asks again.",
                  },
                  {
                    guard: { type: "expiresInto", params: { next: "gathering" } },
                    target: "gathering",
                    actions: "expireTurn",
                  },
                  {
                    guard: { type: "expiresInto", params: { next: "observing" } },
                    target: "#conversation.attention.observing",
                    actions: "expireTurn",
                  },
                  { target: "running", actions: "startTurn" },
                ],
                "host.recovered": {
                  actions: "requestLane",
                  description: "The request may be lost with the host.",
                },
                "message.deleted": [
                  {
                    guard: { type: "deletionLeaves", params: { what: "window" } },
                    target: "gathering",
                    actions: ["applyDeletion", "releaseLane"],
                  },
                  {
                    guard: { type: "deletionLeaves", params: { what: "nothing" } },
                    target: "#conversation.attention.observing",
                    actions: ["applyDeletion", "releaseLane"],
                  },
                ],
              },
            },
            running: {
              description: "The agent is at it. Leaving gives the turn its one outcome.",
              exit: "endRun",
              initial: "open",
              on: {
                "lane.granted": { description: "It has one; this came twice." },
                "agent.started": { description: "The agent was called; nothing to add." },
                "agent.spoke": { guard: "isThisTurn", actions: "showTyping" },
                "agent.text": { guard: "isThisTurn", actions: "sendBlock" },
                "agent.steered": { guard: "isThisTurn", actions: "joinRun" },
                "agent.message-ended": { description: "Blocks were cut before it got here." },
                "agent.tool": { guard: "isThisTurn", actions: "reactAsAsked" },
                "agent.usage": { guard: "isThisTurn", actions: "noteUsage" },
                "run.aborted": { actions: "abortRun", description: "Its end will tell." },
                "deadline.due": {
                  guard: "isInterrupt",
                  actions: "interruptDue",
                  description: "A newer message came too soon after the last interruption.",
                },
                "agent.ended": [
                  { guard: { type: "endsInto", params: { next: "settling" } }, target: "settling" },
                  {
                    guard: { type: "endsInto", params: { next: "waiting" } },
                    target: "waiting",
                    actions: "closeTurn",
                  },
                  {
                    guard: { type: "endsInto", params: { next: "gathering" } },
                    target: "gathering",
                    actions: "closeTurn",
                  },
                  {
                    guard: { type: "endsInto", params: { next: "observing" } },
                    target: "#conversation.attention.observing",
                    actions: "closeTurn",
                  },
                ],
                "agent.failed": [
                  { guard: "retries", actions: "retryRun" },
                  { guard: { type: "endsInto", params: { next: "settling" } }, target: "settling" },
                  {
                    guard: { type: "endsInto", params: { next: "waiting" } },
                    target: "waiting",
                    actions: "closeTurn",
                  },
                  {
                    guard: { type: "endsInto", params: { next: "gathering" } },
                    target: "gathering",
                    actions: "closeTurn",
                  },
                  {
                    guard: { type: "endsInto", params: { next: "observing" } },
                    target: "#conversation.attention.observing",
                    actions: "closeTurn",
                  },
                ],
                "host.recovered": [
                  { guard: "retries", actions: "retryRun" },
                  { guard: { type: "endsInto", params: { next: "settling" } }, target: "settling" },
                  {
                    guard: { type: "endsInto", params: { next: "waiting" } },
                    target: "waiting",
                    actions: "closeTurn",
                  },
                  {
                    guard: { type: "endsInto", params: { next: "gathering" } },
                    target: "gathering",
                    actions: "closeTurn",
                  },
                  {
                    guard: { type: "endsInto", params: { next: "observing" } },
                    target: "#conversation.attention.observing",
                    actions: "closeTurn",
                  },
                ],
              },
              states: {
                open: {
                  description: "Deliveries grant credit.",
                  entry: { type: "lock", params: { lock: "open" } },
                  on: {
                    disengage: { target: "disengaged", actions: "backOff" },
                    skip: { guard: "isThisTurn", target: "skipped" },
                  },
                },
                disengaged: {
                  description: "Backed off: what this turn still says grants nothing.",
                  entry: { type: "lock", params: { lock: "disengaged" } },
                  on: { skip: { guard: "isThisTurn", target: "skipped" } },
                },
                skipped: {
                  description: "The agent chose silence: what it still says is refused.",
                  entry: { type: "lock", params: { lock: "skipped" } },
                  on: { "agent.text": { description: "Refused." } },
                },
              },
            },
            settling: {
              description: "The agent is done; its last deliveries are under way.",
              on: {
                "delivery.sent": [
                  {
                    guard: { type: "settlesInto", params: { next: "waiting" } },
                    target: "waiting",
                    actions: ["noteSent", "closeTurn"],
                  },
                  {
                    guard: { type: "settlesInto", params: { next: "gathering" } },
                    target: "gathering",
                    actions: ["noteSent", "closeTurn"],
                  },
                  {
                    guard: { type: "settlesInto", params: { next: "observing" } },
                    target: "#conversation.attention.observing",
                    actions: ["noteSent", "closeTurn"],
                  },
                ],
                "delivery.failed": [
                  {
                    guard: { type: "settlesInto", params: { next: "waiting" } },
                    target: "waiting",
                    actions: ["noteUnsent", "closeTurn"],
                  },
                  {
                    guard: { type: "settlesInto", params: { next: "gathering" } },
                    target: "gathering",
                    actions: ["noteUnsent", "closeTurn"],
                  },
                  {
                    guard: { type: "settlesInto", params: { next: "observing" } },
                    target: "#conversation.attention.observing",
                    actions: ["noteUnsent", "closeTurn"],
                  },
                ],
              },
            },
          },
        },
      },
    },
    guard: {
      description: "Keeps peer bots from talking in circles.",
      initial: "clear",
      states: {
        clear: {
          description: "Peer bots are answered like anyone.",
          entry: { type: "latch", params: { guard: "clear" } },
          on: {
            "message.received": [
              { guard: "mutes", target: "muted" },
              { guard: "trips", target: "tripped" },
            ],
          },
        },
        tripped: {
          description: "The agent is told that it may stay silent.",
          entry: { type: "latch", params: { guard: "tripped" } },
          on: {
            "message.received": [
              { guard: "humanSpoke", target: "clear" },
              { guard: "mutes", target: "muted" },
            ],
          },
        },
        muted: {
          description: "Peer bots are only observed until a human speaks.",
          entry: { type: "latch", params: { guard: "muted" } },
          on: { "message.received": { guard: "humanSpoke", target: "clear" } },
        },
      },
    },
  },
});
