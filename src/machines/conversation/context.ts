/**
 * What a conversation remembers
 * =============================
 * The context of the conversation machine: facts and pending work, no states. Where attention is,
 * whether the lock is closed and whether the loop guard holds is said by the snapshot's value alone.
 * A context is never changed: a step works on a copy (step.ts) and leaves the next one. Nothing in
 * here is a clock, a timer or a handle; everything but the settings goes into the record.
 */
import type { Membership, Participant } from "../../domain/decision.ts";
import { emptyFloors, type FloorLedger } from "../../domain/floor.ts";
import type { AuthorId, Millis, Route } from "../../domain/message.ts";
import type { UnsentPart } from "../../domain/session.ts";
import type { ConversationSettings, SessionOverride } from "../../domain/settings.ts";
import type { FailureCause, Outcome } from "../../domain/stream.ts";
import { type ContextBuffer, emptyBuffer } from "../batching/context-buffer.ts";
import type { Flush, Forming, PendingMessage } from "../batching/inbox.ts";
import type { Note, ReadMessage } from "../batching/notes.ts";
import { type GuardCounters, noCounters } from "../engagement/loop-guard.ts";
import type { StickyLedger } from "../engagement/sticky.ts";
import type { TurnRun } from "../events/effects.ts";
import type { RelayOrder } from "../events/events.ts";

/** What the floor remembers of a text of ours. */
export interface BlockGist {
  /** Author ids that its beginning names. */
  readonly names: readonly AuthorId[];
  /** Hashes of its words. */
  readonly words: readonly number[];
  readonly asks: boolean;
}

/** A block that was handed to delivery and has no answer yet. */
export interface OpenBlock {
  readonly index: number;
  readonly kind: "reply" | "notice" | "aside";
  /** Author ids its text mentions; credited with the delivery. */
  readonly mentions: readonly AuthorId[];
  /** It grows. */
  readonly draft?: true;
  /** What the floor remembers of its text; absent where no floor is judged. */
  readonly gist?: BlockGist;
}

/** An engaged message that other agents answer, too, each after those before it. */
export interface RelayLeg extends RelayOrder {
  readonly seq: number;
  readonly at: Millis;
  /** Places of the agents that come before and have not ended yet. */
  readonly ahead: readonly number[];
}

/** The outcome of a turn whose agent was stopped or failed, whatever was delivered. */
export interface RunFailure {
  readonly outcome: Extract<Outcome, "failed" | "cancelled" | "expired">;
  readonly reason: string;
  /** Of a failed turn; absent in records of older versions. */
  readonly cause?: FailureCause;
}

/** The one turn under way, from its turn slot to its last delivery. */
export interface Run {
  /** The order as it was first given: a second try gets the same. */
  readonly order: TurnRun;
  readonly batch: readonly PendingMessage[];
  /** Its authors count as credited until it ends. */
  readonly holds: boolean;
  /** Someone else has spoken here since the message it answers. */
  readonly overtaken: boolean;
  /** Who stopped it; null: nobody. */
  readonly abortedBy: string | null;
  /** Blocks handed to delivery so far: the next block's index. */
  readonly blocks: number;
  /** Source offset up to which the answer was handed to delivery. */
  readonly offset: number;
  readonly open: readonly OpenBlock[];
  /** A new session began since: nothing is steered into it, and its end is not mentioned there. */
  readonly left?: true;
  /** The send policy kept its text from the room. */
  readonly refused?: true;
  /** Numbers of blocks that are no answer: reasoning, status, refused ones. */
  readonly asides?: readonly number[];
  /** Number of the newest growing message that reached the room. */
  readonly shown?: number;
  /** Parts of the answer that reached the room; absent: none. */
  readonly sent?: number;
  /** Parts of the answer that will not, as far as is known. */
  readonly unsent?: readonly UnsentPart[];
  /** Why the agent gave no whole answer; absent: it did, or is still at it. */
  readonly failure?: RunFailure;
  /** Its outcome was given before its deliveries were settled, by an older version. */
  readonly reported?: true;
}

/** A prompt by its journal number, and where its answer goes. */
export interface OwedPrompt {
  readonly seq: number;
  readonly route: Route;
}

export interface ConversationContext {
  /** As in force: what the config says, with the session's override. */
  readonly settings: ConversationSettings;
  /** What the config says. */
  readonly configured: ConversationSettings;
  readonly override: SessionOverride;

  readonly participants: readonly Participant[];
  readonly membership: Membership | null;
  readonly ledger: StickyLedger;
  /** Our talk with those who hold a credit; kept in stickiness mode "floor" only. */
  readonly floors: FloorLedger;
  readonly counters: GuardCounters;
  readonly buffer: ContextBuffer;
  /** What else the next turn is shown, oldest first. */
  readonly notes: readonly Note[];
  /** The latest messages that turns have read, oldest first, so that an edit of one is noticed. */
  readonly readByTurns: readonly ReadMessage[];
  /** History was read once. */
  readonly seeded: boolean;
  /** Batches whose debounce window is open, in the order of their first messages. */
  readonly forming: readonly Forming[];
  /** Closed batches that wait for a turn, first in, first out. */
  readonly inbox: readonly Flush[];
  /** When the durable deadline "quiet" was set for; null: no quiet window is open. */
  readonly quietAt: Millis | null;
  /** The quiet window ends by then, however much is said. */
  readonly quietBy: Millis;
  /** Lines about messages that a full queue dropped, for the next prompt. */
  readonly droppedWhileBusy: readonly string[];
  readonly run: Run | null;
  /** Engaged messages that other agents answer, too, in the order of their numbers. */
  readonly relays: readonly RelayLeg[];
  /** A heartbeat is due, for this place; null: none. It goes when nobody waits. */
  readonly heartbeat: Route | null;
  /** Prompts whose turns are due, first in, first out. They go when nobody waits. */
  readonly prompts: readonly OwedPrompt[];
  /** When a running turn was last interrupted for a newer message; 0: never. */
  readonly interruptedAt: Millis;
  /** Where we are shown as typing; null: nowhere. */
  readonly typing: Route | null;

  /** Turns so far. */
  readonly turnSeq: number;
  /** The session's first turn has had its introduction. */
  readonly introduced: boolean;
  readonly abortedLastRun: boolean;
  /** Platform ids of our latest messages, oldest first, with their chat where there are several (batching/chats.ts). */
  readonly ownMessages: readonly string[];
  /** The same of other agents here, so that a reply to them is none to us. */
  readonly siblingMessages: readonly string[];
  /** The same of everyone else, outside direct chats: the platform may not say who is replied to. */
  readonly heardMessages: readonly string[];
  /** Threads in which a message of ours was delivered, oldest first. */
  readonly spokenIn: readonly string[];
}

/** One object for all of them: thousands of conversations are in memory, and most have nothing here. */
const none: readonly never[] = [];
const noOverride: SessionOverride = {};
const noCredits: StickyLedger = {};

/** A conversation in which nothing has happened yet. */
export function newContext(settings: ConversationSettings): ConversationContext {
  return {
    settings,
    configured: settings,
    override: noOverride,
    participants: none,
    membership: null,
    ledger: noCredits,
    floors: emptyFloors,
    counters: noCounters,
    buffer: emptyBuffer,
    notes: none,
    readByTurns: none,
    seeded: false,
    forming: none,
    inbox: none,
    quietAt: null,
    quietBy: 0,
    droppedWhileBusy: none,
    run: null,
    relays: none,
    heartbeat: null,
    prompts: none,
    interruptedAt: 0,
    typing: null,
    turnSeq: 0,
    introduced: false,
    abortedLastRun: false,
    ownMessages: none,
    siblingMessages: none,
    heardMessages: none,
    spokenIn: none,
  };
}

/** Names a thread within a conversation; null outside threads. */
export function threadKey(route: Route): string | null {
  if (route.thread === null) return null;
  return JSON.stringify([route.channel, route.account, route.chat.id, route.thread.id]);
}
