/**
 * Interface of the runtime
 * ========================
 * What the daemon, the simulation and the tests use of it, and the ports that they give
 * it.
 */

import type { EarshotConfig } from "../../domain/config/index.ts";
import type { Expected, Membership, Verdict } from "../../domain/decision.ts";
import type { ChatKind, Inbound, Millis, Route } from "../../domain/message.ts";
import type {
  AgentDriver,
  CarriedOutbound,
  ChannelEvent,
  ChannelOutbound,
  Clock,
  DaemonControl,
  Digest,
  Ids,
  InspectReport,
  InspectRequest,
  Log,
  MediaService,
  Numbers,
  OutgoingFiles,
  Plugin,
  Random,
  Scheduler,
  SessionFiles,
  Skill,
  Store,
  Workspaces,
} from "../../domain/ports/index.ts";
import type { Session, SessionPatch, SessionUsage } from "../../domain/session.ts";
import type { FailingAgent } from "../../domain/stream.ts";
import type { JudgeAnswered } from "../../machines/events/events.ts";
import type { AccessStore } from "./access-store.ts";
import type {
  ConversationCount,
  ConversationSummary,
  NodeSlots,
  SlotsOfAgent,
  Unapplied,
} from "./conversation-summary.ts";
import type { AdmittedEvent, Forward } from "./event-codec.ts";
import type { AgentJudgeDay } from "./judges.ts";
import type { ConversationOrder, OrderOutcome, RoomOperator } from "./room-actions.ts";
import type { RuntimeEvents } from "./runtime-events.ts";
import type { ScheduleOperator, UnsaidEntry } from "./schedules.ts";
import type { Speech, SpeechTaken } from "./speech.ts";
import type { Label, SentPrompt, Why } from "./why.ts";

/** Reads of a room that a connected account can make; both end within 10 s. */
export interface FirstReads {
  /** Resolves when the member list was read, or could not be. Null: the account cannot. */
  readonly members: ((route: Route) => Promise<void>) | null;
  /** The newest messages, oldest first; null: they could not be read. Null: the account cannot. */
  readonly history: ((route: Route, limit: number) => Promise<readonly Inbound[] | null>) | null;
}

/** The platform side for the outbox. */
export interface OutboundDirectory {
  /** Whether the account is configured, connected or not. */
  hasAccount(channel: string, account: string): boolean;
  /** The configured accounts, as `channel:account`. @default it is unknown which there are */
  accounts?(): readonly string[];
  /** Null while the account is not open; sends then wait. */
  outbound(channel: string, account: string): ChannelOutbound | CarriedOutbound | null;
  /** Makes a carried call again: learns what became of it. */
  carrier?(channel: string, account: string): CarriedOutbound | null;
  /** Whether sends may start now (connected, not halted). */
  ready(channel: string, account: string): boolean;
  textLimit(channel: string): number;
  typingIntervalMs(channel: string): number;
  /** The sender of a local channel is the operator. */
  isLocal(channel: string): boolean;
  /** What kind of chat an id shows; null: it shows none. @default null */
  chatKind?(channel: string, chatId: string): ChatKind | null;
  /** Whether the author is one of our accounts. @default none is */
  isOurs?(channel: string, authorId: string): boolean;
  /** Starts a member read; its result is attached to the next message of that chat. */
  refreshMembership(route: Route): void;
  /** The cached read of a chat (threads resolve under their parent), or null. */
  membership(route: Route): Membership | null;
  /** What the account can read of a room that is new to it. @default nothing */
  firstReads?(channel: string, account: string): FirstReads | null;
}

export interface RuntimePorts {
  readonly clock: Clock;
  /** The machine's wall clock as it is set, which `clock` does not follow at once. @default `clock` */
  readonly wall?: () => Millis;
  readonly ids: Ids;
  readonly random: Random;
  readonly digest: Digest;
  /** @default the event loop */
  readonly scheduler?: Scheduler;
  readonly log: Log;
  readonly store: Store;
  /** Read for people. @default `store` */
  readonly reads?: Store | undefined;
  /** @default counted */
  readonly numbers?: Numbers;
  /** ms that local time is ahead of UTC at a moment. @default UTC */
  readonly zoneOffset?: (at: Millis) => Millis;
  /** The version that `/status` shows. @default none */
  readonly version?: string;
  /** Plugins that watch events and may change what is sent, in this order. @default none */
  readonly plugins?: readonly Plugin[];
  /** The skills of all agents, as they are now. @default none */
  readonly skills?: () => readonly Skill[];
  /** What owners may change of the daemon itself. @default nothing */
  readonly control?: DaemonControl;
  /** Agents' folders; absent: there are none, and heartbeats start no turns. */
  readonly workspaces?: Workspaces;
  /** Where transcripts are written for people; absent: nowhere. */
  readonly sessionFiles?: SessionFiles | undefined;
  readonly config: EarshotConfig;
  /**
   * Drivers by kind, for turns that run in-process; worker hosts load the same registry themselves.
   */
  readonly drivers: ReadonlyMap<string, AgentDriver>;
  readonly directory: OutboundDirectory;
  /** Reads attachments. Absent: files are named, and nothing is fetched. */
  readonly media?: MediaService;
  /** Files that agents send. Absent: there are none. */
  readonly outgoing?: OutgoingFiles;
  /** Where an engine steps conversations. @default here */
  readonly forward?: Forward;
  /** The access store of the daemon, for a runtime of one of its conversations. @default its own */
  readonly access?: () => AccessStore;
  /** Turn slots that several runtimes share. @default its own */
  readonly slots?: NodeSlots;
  /**
   * `now`: what ran before may have ended with its process, so events are stepped one at a time. `alone` does this
   * while no other runtime of the process does.
   */
  readonly careful?: {
    readonly now: boolean;
    readonly alone: (step: () => Promise<void>) => Promise<void>;
    /** Events that it is given right after the start, as those before it had them. */
    readonly handedOver: () => number;
  };
  /** Reports everything that happens, once, in order. */
  readonly events: RuntimeEvents;
  /** 0: everything in-process. */
  readonly workers: number;
  /**
   * Periodic work: records of quiet conversations, and deletion of old journal rows and files.
   * @default true
   */
  readonly housekeeping?: boolean;
  /** The schedules of the daemon, for a runtime of one of its conversations. @default its own, which start here */
  readonly schedules?: () => ScheduleOperator;
  /** Whether the heartbeats of a conversation start here. @default those of all do */
  readonly heartbeats?: (key: string) => boolean;
  /** Bytes of memory for cached lines of transcripts. @default 33,554,432 */
  readonly transcriptBytesMax?: number;
  /** Live stream extras (channel, chat, author, system lines, deltas). @default true */
  readonly live?: boolean;
  /** Publish `prompt` lines. @default false */
  readonly prompts?: boolean;
  /** Module (URL) that worker hosts import drivers from; absent: the built-in registry. */
  readonly hostModule?: string;
  /** Entry file of a worker host, for tests that poison one. @default src/actors/host/worker.ts */
  readonly hostEntry?: URL;
  /** Gets the frames of inspected conversations. @default none */
  readonly onInspect?: (report: InspectReport) => void;
  /** Called at named points of a message's path; crash tests end the process there. */
  readonly onPoint?: (point: CrashPoint) => void;
}

/** Points at which a crash must neither lose nor duplicate anything. */
export type CrashPoint = "before-ack" | "after-send" | "before-mark" | "after-lines";

export interface IngestOutcome {
  readonly id: string;
  /**
   * One per agent that received it. `decision` is null unless waited for (or decided by admission).
   */
  readonly receivers: readonly { readonly key: string | null; readonly verdict: Verdict | null }[];
}

export interface IngestOptions {
  readonly cursor?: { readonly identity: string; readonly value: string };
  /** Resolve after the decisions were made, not only after the events are durable. */
  readonly wait?: "decision";
}

export interface HostStatus {
  readonly id: number;
  readonly state: "starting" | "ready" | "restarting" | "broken";
  readonly epoch: number;
  readonly live: number;
  /** Entries queued and in flight. */
  readonly mailbox: number;
  readonly restarts: number;
  /** Calls refused for a wrong form, over all its processes. Absent: none. */
  readonly refused?: number;
  readonly turns: number;
}

export interface RuntimeStatus {
  readonly ready: boolean;
  /** Why not. */
  readonly problem: string | null;
  readonly hosts: readonly HostStatus[];
  readonly conversations: { readonly live: number; readonly dirty: number };
  readonly turns: { readonly running: number; readonly waiting: number };
  readonly unapplied: Unapplied;
  /** Agents that have turns or wait for some. */
  readonly lanes: readonly SlotsOfAgent[];
  readonly failing: readonly FailingAgent[];
  readonly outbox: Readonly<Record<string, number>>;
  readonly ingress: {
    readonly pending: number;
    readonly refused: number;
    /** Copies of messages since the start. */
    readonly redelivered: number;
  };
  /** When agents are woken next, the soonest first. */
  readonly heartbeats: readonly { readonly key: string; readonly at: Millis }[];
  /** What judges did today (UTC), for each agent whose judge was asked. */
  readonly judges: readonly AgentJudgeDay[];
  readonly store: {
    readonly lastSeq: number;
    readonly failing: boolean;
    readonly lastCommitMs: number;
    /** Of the newest commits: 99th percentile in ms, and median number of rows. */
    readonly commits: { readonly msP99: Millis | null; readonly rows: number | null };
  };
  readonly quarantined: readonly QuarantinedEvent[];
  readonly unsaid: readonly UnsaidEntry[];
}

/** An event in quarantine: its conversation goes on without it. */
export interface QuarantinedEvent {
  readonly key: string;
  readonly conv: number;
  /** Its journal row. */
  readonly seq: number;
  /** When it was quarantined. */
  readonly at: Millis;
  readonly error: string;
  /** Retries by then. */
  readonly tries: number;
}

/** The result of a retry. `unknown`: it is not in quarantine (any more). */
export type RetryOutcome = "retried" | "unknown" | "unreadable" | "deleted";

/** A label to store; `expected: null` takes the last one back. */
export interface LabelOrder {
  readonly key: string;
  /** Platform id of the message. */
  readonly id: string;
  /** Its journal row, where it is known: the rows before it are not searched. */
  readonly seq?: number;
  readonly expected: Expected | null;
  readonly by: string;
}

/** An answer of a judge to a conversation's question about a message. */
export type RecordedAnswer = Pick<
  JudgeAnswered,
  "id" | "engage" | "confidence" | "why" | "failed"
> & {
  /** Session key. */
  readonly key: string;
};

export interface SessionFilter {
  readonly agentId?: string;
  /** Session key. */
  readonly key?: string;
  /** Archived ones, too. @default false */
  readonly all?: boolean;
  /** Only sessions created after this one. */
  readonly after?: string;
  readonly limit: number;
}

export interface Runtime extends RoomOperator {
  /** Opens the journal, recovers, starts hosts. Resolves when messages are accepted. */
  start(): Promise<void>;
  /**
   * Accepts events of one account. Resolves when they are durable.
   * @throws EarshotError EAR_INGRESS_FULL
   *
   * EAR_STORE_FAILED
   *
   * EAR_STORE_FULL: nothing was stored.
   */
  ingest(
    channel: string,
    account: string,
    events: readonly ChannelEvent[],
    options?: IngestOptions,
  ): Promise<IngestOutcome[]>;
  /** Takes events that were admitted elsewhere, in order; a copy is recognised. Resolves when they are stored. */
  deliver(events: readonly AdmittedEvent[]): Promise<void>;
  /**
   * Carries out an order for a conversation that this runtime has, once. Resolves when the outcome is
   * durable; it rejects where nothing can be stored.
   */
  carryOut(order: ConversationOrder): Promise<OrderOutcome>;
  /** Simulations: what the judge of a conversation answered when it was recorded. */
  judged(answer: RecordedAnswer): Promise<void>;
  /**
   * Says something in a room that nobody there asked for. Resolves when it is durable; "conflict":
   * its id is that of another order.
   * @throws EarshotError EAR_USAGE: the account, the agent or the kind of chat is unknown.
   *
   * EAR_STORE_FAILED
   *
   * EAR_STORE_FULL: nothing was stored.
   */
  say(speech: Speech): Promise<SpeechTaken | "conflict">;
  /** Things that are said at set times. */
  schedules(): ScheduleOperator;
  /**
   * Says what would have been right about a message. Resolves when it is durable; "unknown": the
   * conversation has not decided such a message.
   * @throws EarshotError EAR_STORE_FAILED
   *
   * EAR_STORE_FULL: nothing was stored.
   */
  label(order: LabelOrder): Promise<Label | null | "unknown">;
  passivateAll(): Promise<void>;
  /** Fault for tests and scenarios: ends one host (or all) like a crash. */
  crashHost(id?: number): Promise<void>;
  resend(outboxId: string): Promise<boolean>;
  drop(outboxId: string): Promise<boolean>;
  /**
   * Sends a quarantined event to its conversation once more, as if it arrived now. `key`: its conversation, where
   * the caller knows it.
   */
  retryEvent(seq: number, key?: string): Promise<RetryOutcome>;
  /** Removes it from the list, not from the journal. False: it is not listed. */
  dropEvent(seq: number, key?: string): Promise<boolean>;
  /** Who may speak besides the people in the config. */
  access(): AccessStore;
  /** The session in use under a key; null where there is none yet. */
  session(key: string): Promise<Session | null>;
  /** In the order of their creation. */
  sessions(filter: SessionFilter): Promise<readonly Session[]>;
  /** The usage of each agent in all its sessions. */
  usage(): Promise<readonly (SessionUsage & { readonly agentId: string })[]>;
  /**
   * Changes how an agent works in a session, from its next turn on. Creates the session if there is
   * none.
   * @throws EarshotError EAR_KEY_INVALID, EAR_USAGE for an agent that is not configured.
   */
  updateSession(key: string, patch: SessionPatch, by?: string): Promise<Session>;
  /**
   * Archives the current session and starts the next; null if there is none to archive, and if it
   * is not waited for. `sessionId`: of the next; default: a new one.
   */
  resetSession(
    key: string,
    how?: { readonly wait?: boolean; readonly by?: string; readonly sessionId?: string },
  ): Promise<Session | null>;
  /** Summarises the session so far. Not while a turn runs or waits there. */
  compactSession(key: string): Promise<"done" | "busy" | "empty">;
  /** Replaces the config for everything admitted from now on. */
  reload(config: EarshotConfig): Promise<void>;
  /** A connection came up or went down: waiting sends may start. */
  connectionChanged(channel: string, account: string): void;
  /** Current summaries; passivated conversations have no entry. */
  summaries(convs: readonly number[]): Promise<ReadonlyMap<number, ConversationSummary>>;
  /** Which conversations are live, engaged, and held by their loop guard. */
  count(): Promise<ConversationCount>;
  /** Lets a reader inspect conversations, until it is stopped; frames go to `onInspect`. */
  inspect(order: InspectRequest): void;
  uninspect(reader: number): void;
  /** With `seq` only about that row of the journal. */
  why(messageId: string, seq?: number): Promise<readonly Why[]>;
  /** What agents were given to answer this message, of the newest turns since the start. */
  prompts(messageId: string): readonly SentPrompt[];
  status(): RuntimeStatus;
  /** Resolves when nothing is in progress but timers and open sends. It looks in each turn of the event loop. */
  settled(): Promise<void>;
  /** Whether that is so now. A caller that has to wait for slow storage asks again later. */
  isSettled(): Promise<boolean>;
  /**
   * Stops intake, ends or parks turns, drains the outbox for at most `drainMs`, commits, ends
   * hosts.
   */
  stop(options?: { readonly drainMs?: number }): Promise<void>;
}
