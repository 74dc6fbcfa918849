/**
 * The connection of one account
 * =============================
 * The state of one login of one channel: connecting, live, resuming, backing off, halted. The
 * channel reports, this machine keeps the account's history consistent: what may follow what, since
 * when, and how many failures came in a row. `halted` is left only by an operator (another config,
 * or one more try), never by the channel itself, so a refused token cannot become a loop. Where several
 * nodes run the account, `elsewhere` says that this one does not connect; it may follow on anything.
 *
 * Pure: time comes in with each event, and the timers of a back-off belong to the code that runs
 * the account.
 */
import { assign, setup } from "xstate";
import type { Millis } from "../domain/message.ts";

export type ConnectionEvent =
  /** A login or a first request is under way. */
  | { readonly type: "connection.connecting"; readonly at: Millis; readonly detail?: string }
  /** Messages flow. */
  | { readonly type: "connection.live"; readonly at: Millis; readonly detail?: string }
  /** The line broke and is being taken up where it was left. */
  | { readonly type: "connection.resuming"; readonly at: Millis; readonly detail?: string }
  /** A failure that passes; the next try comes after a pause. */
  | { readonly type: "connection.backing-off"; readonly at: Millis; readonly detail?: string }
  /** It will never work as it is configured. */
  | { readonly type: "connection.halted"; readonly at: Millis; readonly detail?: string }
  /** Another node connects, or may: this one does not. */
  | { readonly type: "connection.elsewhere"; readonly at: Millis; readonly detail?: string }
  /** The operator wants one more try with the config as it is. */
  | { readonly type: "connection.retried"; readonly at: Millis }
  /** The operator stopped the account, or its config changed. */
  | { readonly type: "connection.stopped"; readonly at: Millis };

export interface ConnectionFacts {
  /** When the present state was entered, ms since the epoch. */
  readonly since: Millis;
  /** Why, in words for a person. Never holds a secret. */
  readonly detail: string | null;
  /** Failures since the connection was last live. */
  readonly failures: number;
  /** Times it became live. */
  readonly connects: number;
}

export const connectionMachine = setup({
  types: {
    context: {} as ConnectionFacts,
    events: {} as ConnectionEvent,
    input: {} as { readonly at: Millis },
  },
  actions: {
    enter: assign(({ event }) => ({
      since: event.at,
      detail: "detail" in event ? (event.detail ?? null) : null,
    })),
    explain: assign(({ context, event }) => ({
      detail: "detail" in event ? (event.detail ?? null) : context.detail,
    })),
    countConnect: assign(({ context }) => ({ connects: context.connects + 1, failures: 0 })),
    countFailure: assign(({ context }) => ({ failures: context.failures + 1 })),
  },
}).createMachine({
  id: "connection",
  description: "The state of one login of one channel.",
  context: ({ input }) => ({ since: input.at, detail: null, failures: 0, connects: 0 }),
  initial: "connecting",
  on: {
    "connection.stopped": { target: ".stopped", actions: "enter" },
    "connection.halted": { target: ".halted", actions: "enter" },
    "connection.elsewhere": { target: ".elsewhere", actions: "enter" },
  },
  states: {
    connecting: {
      description: "A login or a first request is in progress.",
      on: {
        "connection.live": { target: "live", actions: ["enter", "countConnect"] },
        "connection.backing-off": { target: "backing-off", actions: ["enter", "countFailure"] },
      },
    },
    live: {
      description: "Messages arrive.",
      on: {
        "connection.live": { actions: "explain" },
        "connection.resuming": { target: "resuming", actions: "enter" },
        "connection.backing-off": { target: "backing-off", actions: ["enter", "countFailure"] },
      },
    },
    resuming: {
      description: "The connection broke and resumes where it stopped.",
      on: {
        "connection.live": { target: "live", actions: ["enter", "countConnect"] },
        "connection.connecting": { target: "connecting", actions: "enter" },
        "connection.backing-off": { target: "backing-off", actions: ["enter", "countFailure"] },
      },
    },
    "backing-off": {
      description: "It failed; the next try comes after a pause.",
      on: {
        "connection.backing-off": { actions: ["explain", "countFailure"] },
        "connection.connecting": { target: "connecting", actions: "enter" },
        "connection.resuming": { target: "resuming", actions: "enter" },
        "connection.live": { target: "live", actions: ["enter", "countConnect"] },
      },
    },
    halted: {
      description: "It cannot work as configured. Only an operator ends this state.",
      on: {
        "connection.halted": { actions: "explain" },
        "connection.retried": { target: "connecting", actions: "enter" },
      },
    },
    elsewhere: {
      description: "Another node has the connection.",
      on: {
        "connection.elsewhere": { actions: "explain" },
        "connection.connecting": { target: "connecting", actions: "enter" },
      },
    },
    stopped: { type: "final", description: "Ended on purpose." },
  },
});
