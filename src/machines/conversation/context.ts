/**
 * What a conversation remembers
 * =============================
 * The context of the conversation machine. One object per live conversation, owned by its actor:
 * actions replace its fields in place, because copying twenty fields for each overheard line would
 * cost more than deciding about it. The values in the fields are never changed, only replaced, so
 * handing one out is safe. Nothing in here is a clock, a timer or a handle; all but settings,
 * effects and the reading of the event at hand goes into the record.
 */
import type { Membership, Participant } from "../../domain/decision.ts";
import type { AuthorId, Millis, Route } from "../../domain/message.ts";
import type { ConversationSettings, SessionOverride } from "../../domain/settings.ts";
import { type ContextBuffer, emptyBuffer } from "../batching/context-buffer.ts";
import type { Flush, Forming, PendingMessage } from "../batching/inbox.ts";
import { type GuardCounters, noCounters } from "../engagement/loop-guard.ts";
import type { StickyLedger } from "../engagement/sticky.ts";
import type { Effect, TurnRun } from "../events/effects.ts";
import type { RelayLeg } from "./agent-relay.ts";
import type { Reading } from "./message-analysis.ts";

/** The guard region's state, for whoever reads the context only. */
export type GuardState = "clear" | "tripped" | "muted";

/**
 * What a turn may still do to the room: the running state's substate, kept while deliveries drain.
 */
export type TurnLock = "open" | "disengaged" | "skipped";

/** A block that was handed to delivery and has no answer yet. */
export interface OpenBlock {
  readonly index: number;
  readonly kind: "reply" | "notice" | "aside";
  /** Author ids its text mentions; credited with the delivery. */
  readonly mentions: readonly AuthorId[];
  /** It grows. */
  readonly draft?: true;
}

/** The one turn under way, from its lane to its last delivery. */
export interface Run {
  /** The order as it was first given: a second try gets the same. */
  readonly order: TurnRun;
  readonly batch: readonly PendingMessage[];
  /** Its authors count as credited until it ends. */
  readonly holds: boolean;
  /** Someone else has spoken here since the message it answers. */
  readonly overtaken: boolean;
  readonly lock: TurnLock;
  /** The agent is done; only deliveries are still open. */
  readonly ended: boolean;
  /** Who stopped it; null: nobody. */
  readonly abortedBy: string | null;
  /** Blocks handed to delivery so far: the next block's index. */
  readonly blocks: number;
  /** Source offset up to which the answer was handed to delivery. */
  readonly offset: number;
  readonly open: readonly OpenBlock[];
  /** Its session was left for a new one: nothing is steered into it, its end is not told there. */
  readonly left?: true;
  /** The send policy kept its words from the room. */
  readonly refused?: true;
  /** Numbers of blocks that are no answer: reasoning, status, refused ones. */
  readonly asides?: readonly number[];
  /** Number of the newest growing message that reached the room. */
  readonly shown?: number;
}

export interface ConversationContext {
  /** As in force: what the config says, with the session's override. */
  settings: ConversationSettings;
  /** What the config says. */
  configured: ConversationSettings;
  override: SessionOverride;
  /** What the step wants done, in order. Drained by the actor's owner after each step. */
  effects: Effect[];
  /** What the guards found out about the message at hand, so that the actions need not again. */
  reading: Reading | null;

  participants: readonly Participant[];
  membership: Membership | null;
  ledger: StickyLedger;
  guard: GuardState;
  counters: GuardCounters;
  buffer: ContextBuffer;
  /** History was read once. */
  seeded: boolean;
  /** Batches whose debounce window is open, in the order of their first messages. */
  forming: readonly Forming[];
  /** Closed batches that wait for a turn, first in, first out. */
  inbox: readonly Flush[];
  /** When the durable deadline "flush" was set for; null: not set. */
  flushAt: Millis | null;
  /** When the durable deadline "quiet" was set for; null: no quiet window is open. */
  quietAt: Millis | null;
  /** The quiet window ends by then, however much is said. */
  quietBy: Millis;
  /** Lines about messages that a full queue dropped, for the next prompt. */
  droppedWhileBusy: readonly string[];
  run: Run | null;
  /** Engaged messages that other agents answer, too, in the order of their numbers. */
  relays: readonly RelayLeg[];
  /** A heartbeat is owed, for this place; null: none. It goes when nobody waits. */
  heartbeat: Route | null;
  /** When a running turn was last interrupted for a newer message; 0: never. */
  interruptedAt: Millis;
  /** Where we are shown as typing; null: nowhere. */
  typing: Route | null;

  /** Turns so far. */
  turnSeq: number;
  /** The turn whose deliveries grant no credit. */
  disengagedTurn: number;
  /** The session's first turn has had its introduction. */
  introduced: boolean;
  abortedLastRun: boolean;
  /** Platform ids of our latest messages, oldest first. */
  ownMessages: readonly string[];
  /** The same of other agents here, so that a reply to them is none to us. */
  fellowMessages: readonly string[];
  /** Threads in which a message of ours was delivered, oldest first. */
  spokenIn: readonly string[];
}

/** A conversation in which nothing has happened yet. */
export function newContext(settings: ConversationSettings): ConversationContext {
  return {
    settings,
    configured: settings,
    override: {},
    effects: [],
    reading: null,
    participants: [],
    membership: null,
    ledger: {},
    guard: "clear",
    counters: noCounters,
    buffer: emptyBuffer,
    seeded: false,
    forming: [],
    inbox: [],
    flushAt: null,
    quietAt: null,
    quietBy: 0,
    droppedWhileBusy: [],
    run: null,
    relays: [],
    heartbeat: null,
    interruptedAt: 0,
    typing: null,
    turnSeq: 0,
    disengagedTurn: 0,
    introduced: false,
    abortedLastRun: false,
    ownMessages: [],
    fellowMessages: [],
    spokenIn: [],
  };
}

/** Names a thread within a conversation; null outside threads. */
export function threadKey(route: Route): string | null {
  if (route.thread === null) return null;
  return JSON.stringify([route.channel, route.account, route.chat.id, route.thread.id]);
}
