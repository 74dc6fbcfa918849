/**
 * The runtime's face
 * ==================
 * What the daemon, the simulation and the tests see of the runtime, and what they must give it.
 */
import type { EarshotConfig } from "../../domain/config/index.ts";
import type { Explanation, Membership, Participant, Verdict } from "../../domain/decision.ts";
import type { Inbound, Millis, Route } from "../../domain/message.ts";
import type {
  AgentDriver,
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
  Plugin,
  Random,
  Scheduler,
  SessionFiles,
  Skill,
  Store,
  Workspaces,
} from "../../domain/ports/index.ts";
import type { Session, SessionPatch, SessionUsage, TurnLevels } from "../../domain/session.ts";
import type { AccessStore } from "./access-store.ts";
import type { ConversationCount, ConversationSummary } from "./conversation-summary.ts";
import type { RuntimeEvents } from "./runtime-events.ts";
import type { SlotsOfAgent } from "./turn-slots.ts";

/** The platform side as the outbox sees it. */
export interface OutboundDirectory {
  /** Null while the account is not configured; sends then wait. */
  outbound(channel: string, account: string): ChannelOutbound | null;
  /** Whether sends may start now (connected, not halted). */
  ready(channel: string, account: string): boolean;
  textLimit(channel: string): number;
  typingIntervalMs(channel: string): number;
  /** The sender of a local channel is the operator. */
  isLocal(channel: string): boolean;
  /** Whether one of our accounts writes under this author's id. @default none does */
  isOurs?(channel: string, authorId: string): boolean;
  /** Starts a member read; its answer is attached to the next message of that chat. */
  refreshMembership(route: Route): void;
  /** The cached read of a chat (threads resolve under their parent), or null. */
  membership(route: Route): Membership | null;
}

export interface RuntimePorts {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
  readonly digest: Digest;
  /** @default the event loop */
  readonly scheduler?: Scheduler;
  readonly log: Log;
  readonly store: Store;
  /** ms that local time is ahead of UTC at a moment. @default UTC */
  readonly zoneOffset?: (at: Millis) => Millis;
  /** Of earshot, as `/status` tells it. @default none is told */
  readonly version?: string;
  /** What is told of everything and may change what is sent, in this order. @default none */
  readonly plugins?: readonly Plugin[];
  /** The skills of all agents, as they are now. @default none */
  readonly skills?: () => readonly Skill[];
  /** What owners may change of the daemon itself. @default nothing */
  readonly control?: DaemonControl;
  /** Agents' folders; left out: there are none, and no agent is woken by a heartbeat. */
  readonly workspaces?: Workspaces;
  /** Where transcripts are written for people; left out: nowhere. */
  readonly sessionFiles?: SessionFiles | undefined;
  readonly config: EarshotConfig;
  /**
   * Drivers by kind, for turns that run in-process; worker hosts load the same registry themselves.
   */
  readonly drivers: ReadonlyMap<string, AgentDriver>;
  readonly directory: OutboundDirectory;
  /** Reads what people sent. Left out: files are named, and nothing is fetched. */
  readonly media?: MediaService;
  /** Tells those who watch of everything that happens, once, in order. */
  readonly events: RuntimeEvents;
  /** 0: everything in-process. */
  readonly workers: number;
  /**
   * Periodic work: records of conversations that have gone quiet, journal rows and files past their
   * time. @default true
   */
  readonly housekeeping?: boolean;
  /** UTF-16 units of transcripts that are kept in memory. @default 33,554,432 */
  readonly transcriptUnitsMax?: number;
  /** Live stream extras (channel, chat, author, system lines, deltas). @default true */
  readonly live?: boolean;
  /** Publish `prompt` lines. @default false */
  readonly prompts?: boolean;
  /** Module (URL) that worker hosts import drivers from; the built-in registry if left out. */
  readonly hostModule?: string;
  /** Entry file of a worker host, for tests that poison one. @default src/actors/host/worker.ts */
  readonly hostEntry?: URL;
  /** What is told to those who look into conversations. @default nobody is told */
  readonly onInspect?: (report: InspectReport) => void;
  /** Called at named points of the message's walk; crash tests end the process there. */
  readonly onPoint?: (point: CrashPoint) => void;
}

/** Instants at which a crash must lose and double nothing. */
export type CrashPoint = "before-ack" | "after-send" | "before-mark" | "after-lines";

export interface IngestOutcome {
  readonly id: string;
  /**
   * One per agent that heard it. `decision` is null unless waited for (or decided by admission).
   */
  readonly heard: readonly { readonly key: string | null; readonly verdict: Verdict | null }[];
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
  /** Messages of it that had no form we know, over all its lives. Absent: none. */
  readonly refused?: number;
  readonly turns: number;
}

export interface RuntimeStatus {
  readonly ready: boolean;
  /** Why not, in words. */
  readonly problem: string | null;
  readonly hosts: readonly HostStatus[];
  readonly conversations: { readonly live: number; readonly dirty: number };
  readonly turns: { readonly running: number; readonly waiting: number };
  /** Agents that have turns or wait for some. */
  readonly lanes: readonly SlotsOfAgent[];
  readonly outbox: Readonly<Record<string, number>>;
  readonly ingress: { readonly pending: number; readonly refused: number };
  /** When agents are woken next, the soonest first. */
  readonly heartbeats: readonly { readonly key: string; readonly at: Millis }[];
  readonly store: {
    readonly lastSeq: number;
    readonly failing: boolean;
    readonly lastCommitMs: number;
    /** Of the newest commits: what 99 of 100 took at most, ms, and how many rows half of them had. */
    readonly commits: { readonly msP99: Millis | null; readonly rows: number | null };
  };
  readonly quarantined: readonly QuarantinedEvent[];
}

/** An event in quarantine: its conversation goes on without it. */
export interface QuarantinedEvent {
  readonly key: string;
  readonly conv: number;
  /** Its journal row. */
  readonly seq: number;
  /** When it was set aside. */
  readonly at: Millis;
  readonly error: string;
  /** How often it had been tried again by then. */
  readonly tries: number;
}

/** What became of the wish to try an event again. `unknown`: it is not in quarantine (any more). */
export type RetryOutcome = "retried" | "unknown" | "unreadable" | "deleted";

/** Everything `earshot why` shows. */
export interface Why {
  readonly message: Inbound;
  readonly at: Millis;
  readonly seq: number;
  readonly key: string;
  /** What the message asked of its turn; taken out of its text. */
  readonly levels?: TurnLevels;
  /** As it was recorded; null: not decided yet. */
  readonly recorded: Verdict | null;
  /** The ladder walked again on the conversation as it was; null where admission decided. */
  readonly explanation: Explanation | null;
  /** Where admission decided: why, and what would admit it. */
  readonly admission?: string;
  readonly humans: { readonly count: number; readonly source: string };
  readonly participants: readonly Participant[];
  readonly membership: Membership | null;
  readonly credits: Readonly<Record<string, Millis>>;
  readonly held: readonly string[];
  readonly guard: { readonly state: "clear" | "tripped" | "muted"; readonly consecutive: number };
  /** What became of it. */
  readonly fate: {
    readonly turnId: string | null;
    readonly turn: number | null;
    readonly batch: readonly string[];
    readonly outcome: string | null;
    /** Why the turn ended like that, where there is more to say. */
    readonly reason?: string;
    readonly dropped: string | null;
    readonly deliveries: readonly {
      readonly id: string;
      readonly status: string;
      readonly text: string;
      /** Why it was not sent, or not at once. */
      readonly error?: string;
    }[];
  };
}

export interface SessionFilter {
  readonly agentId?: string;
  /** Session key. */
  readonly key?: string;
  /** Archived ones, too. @default false */
  readonly all?: boolean;
  /** Only those made after this one. */
  readonly after?: string;
  readonly limit: number;
}

export interface Runtime {
  /** Opens the journal, recovers, starts hosts. Resolves when messages can be taken. */
  start(): Promise<void>;
  /**
   * Takes events of one account. Resolves when they are durable.
   * @throws EarshotError EAR_INGRESS_FULL | EAR_STORE_FAILED | EAR_STORE_FULL: nothing was taken.
   */
  ingest(
    channel: string,
    account: string,
    events: readonly ChannelEvent[],
    options?: IngestOptions,
  ): Promise<IngestOutcome[]>;
  /** Operator's commands on one conversation. */
  abortTurn(key: string, by: string): Promise<boolean>;
  disengage(key: string): Promise<void>;
  passivateAll(): Promise<void>;
  /** Fault for tests and scenarios: ends one host (or all) as if it had crashed. */
  crashHost(id?: number): Promise<void>;
  resend(outboxId: string): Promise<boolean>;
  drop(outboxId: string): Promise<boolean>;
  /** Gives an event that is in quarantine to its conversation once more, as heard now. */
  retryEvent(seq: number): Promise<RetryOutcome>;
  /** Leaves it in the journal and lists it no more. False: it is not listed. */
  dropEvent(seq: number): Promise<boolean>;
  /** Who may speak beside those whom the config names. */
  access(): AccessStore;
  /** The session in use under a key; null where there is none yet. */
  session(key: string): Promise<Session | null>;
  /** In the order they were made. */
  sessions(filter: SessionFilter): Promise<readonly Session[]>;
  /** What each agent has used in all its sessions. */
  usage(): Promise<readonly (SessionUsage & { readonly agentId: string })[]>;
  /**
   * Changes how an agent works in a session, from its next turn on. Makes the session if there is
   * none. @throws EarshotError EAR_KEY_INVALID, EAR_USAGE for an agent that is not configured.
   */
  updateSession(key: string, patch: SessionPatch): Promise<Session>;
  /**
   * Archives the session in use and begins the next; null where there is none to archive, and where
   * it is not waited for.
   */
  resetSession(key: string, how?: { readonly wait?: boolean }): Promise<Session | null>;
  /** Sums up everything said in the session so far. Not while a turn runs or waits there. */
  compactSession(key: string): Promise<"done" | "busy" | "empty">;
  /** Swaps the config for everything admitted from now on. */
  reload(config: EarshotConfig): Promise<void>;
  /** A connection came up or went down: waiting sends may start. */
  connectionChanged(channel: string, account: string): void;
  /** How conversations stand now; those that are asleep have no entry. */
  summaries(convs: readonly number[]): Promise<ReadonlyMap<number, ConversationSummary>>;
  /** Which conversations are live, engaged, and held by their guard. */
  count(): Promise<ConversationCount>;
  /** Lets a reader look into conversations, until it is stopped: `onInspect` is told. */
  inspect(order: InspectRequest): void;
  uninspect(reader: number): void;
  /** With `seq` only about that row of the journal. */
  why(messageId: string, seq?: number): Promise<readonly Why[]>;
  status(): RuntimeStatus;
  /** Resolves when nothing is under way but timers and open sends. */
  settled(): Promise<void>;
  /** Whether nothing is known to be under way now. */
  isSettled(): boolean;
  /**
   * Stops intake, ends or parks turns, drains the outbox for at most `drainMs`, commits, ends
   * hosts.
   */
  stop(options?: { readonly drainMs?: number }): Promise<void>;
}
