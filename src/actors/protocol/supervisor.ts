/**
 * Interface of the supervisor
 * ===========================
 * The ports and methods of the supervisor. It owns the hosts: which conversation lives where, what
 * is in progress there, and what happens when one of them dies. It never opens the store: it asks
 * for records and tails and returns what must be committed.
 */
import type { EarshotConfig } from "../../domain/config/index.ts";
import type {
  AgentDriver,
  Clock,
  InspectReport,
  InspectRequest,
  Log,
  Scheduler,
  SideStep,
} from "../../domain/ports/index.ts";
import type { SystemLine } from "../../domain/stream.ts";
import type { ConversationCount, ConversationSummary } from "./conversation-summary.ts";
import type {
  Activation,
  ContextAnswer,
  ContextQuestion,
  HostConfig,
  HostEntry,
  HostResult,
  TurnDelta,
  TurnDraft,
  TurnReport,
  TurnRequest,
} from "./host-protocol.ts";
import type { HostStatus } from "./runtime.ts";

/** A turn that ran on a host that is gone. */
export interface LostTurn {
  readonly conv: number;
  readonly key: string;
  readonly turnId: string;
}

/** Time limits of supervision. Defaults come from `limits` and the config. */
export interface Supervision {
  /** A host that makes no step for this long while it has work is killed, ms. */
  readonly loopMs: number;
  /** Heap of one host, MB. */
  readonly memoryMb: number;
  /** More losses than this within `periodMs` mark a host broken. */
  readonly intensityMax: number;
  readonly periodMs: number;
  /** The longest pause before another start, ms. */
  readonly backoffMsMax: number;
  /** A host that is not ready by then has failed to start, ms. */
  readonly startMsMax: number;
  /** Events of one conversation between two checkpoints. */
  readonly checkpointEvery: number;
}

/** Commits the results of hosts and performs their effects. */
export interface Effects {
  /**
   * Commits a result's consequences; resolves when durable. One call at a time per host; results
   * that arrive meanwhile are merged into the next call. `entries[i]` has `result.codes[i]`. When
   * it rejects it is called again later with the same result.
   */
  handle(result: HostResult, entries: readonly HostEntry[]): Promise<void>;
}

/** Readers of conversations, as the rest of the runtime sees them. */
export interface InspectionReaders {
  begin(order: InspectRequest): void;
  stop(reader: number): void;
}

export interface SupervisorPorts {
  readonly clock: Clock;
  readonly log: Log;
  /** 0: the host is an object on this thread. */
  readonly workers: number;
  readonly scheduler: Scheduler;
  /** Live conversations per host. */
  readonly liveConversations: number;
  /** Used when turns run on the main thread (workers 0). */
  readonly drivers: ReadonlyMap<string, AgentDriver>;
  /**
   * Module (URL) that worker hosts import on their first turn; exports `drivers` and
   * `createSystemClock`.
   * @default src/adapters/host-ports.ts
   */
  readonly hostModule?: string;
  /** The path of an agent's folder. @default as configured */
  readonly folderOf?: (workspace: string) => string;
  /** Entry file of a worker host, for tests that poison one. @default src/actors/host/worker.ts */
  readonly hostEntry?: URL;
  readonly supervision?: Partial<Supervision>;
  /** Epochs start above this, so that a record of an older process never wins. */
  readonly epochBase?: number;
  /**
   * Record and tail of a conversation that is not live: events with `seq < beforeSeq`. With
   * `rebuild` the record is unreadable: ignore it and load the whole journal.
   */
  load(conv: number, key: string, beforeSeq: number, rebuild?: boolean): Promise<Activation>;
  /** Whether evicted conversations must leave records. @default never */
  tight?(): boolean;
  /** Makes results durable and performs their effects. */
  effects(): Effects;
  onTurnReports(reports: readonly TurnReport[]): void;
  onDelta(delta: TurnDelta): void;
  onDraft(draft: TurnDraft): void;
  /** Gets the frames of inspected conversations. @default none */
  readonly onInspect?: (report: InspectReport) => void;
  /**
   * A running turn asks for something that only this thread has. Resolves to the answer for the
   * agent.
   */
  ask(question: ContextQuestion): Promise<ContextAnswer>;
  /**
   * The host is gone; these turns ran there. Events in flight are dispatched again automatically.
   */
  onHostLost(info: { readonly host: number; readonly turns: readonly LostTurn[] }): void;
  /**
   * The event is quarantined: store it with `quarantinedCode`. Also in `result.rejected` if it
   * threw.
   */
  onQuarantine(info: {
    readonly conv: number;
    readonly key: string;
    readonly seq: number;
    readonly error: string;
  }): void;
  onStatus(line: SystemLine): void;
  /** A host made a step of its machine. @default not reported */
  onStep?(step: SideStep): void;
  /** The whole config of a version; the supervisor removes secrets before it leaves the thread. */
  configFor(version: number): EarshotConfig;
}

export interface Supervisor {
  /** Starts the hosts. Resolves when all are ready. @throws EarshotError EAR_HOST_START */
  start(): Promise<void>;
  /** Journalled events in seq order, without activation: the supervisor attaches it. */
  dispatch(entries: readonly HostEntry[]): void;
  /** Null: below the limit. Otherwise resolves when the hosts have caught up enough. */
  capacity(): Promise<void> | null;
  run(order: TurnRequest): void;
  /** Cancels a running turn; its `agent.failed` (aborted) follows within 1 s. */
  abort(turnId: string, reason: string): void;
  /** Adds text to a running turn. False: too late. */
  steer(turnId: string, text: string): Promise<boolean>;
  /** Writes a record of every idle conversation and removes it from memory. */
  passivateAll(): Promise<void>;
  /** Ends one host (or all) like a crash; resolves when they are back. */
  crash(host?: number): Promise<void>;
  addConfig(config: HostConfig): void;
  /** Whether a client watches the turns of a conversation (deltas). */
  watch(conv: number, on: boolean): void;
  /**
   * Resolves when no event is queued or in flight and every result is committed. Running turns and
   * timers (a stalled store) do not count.
   */
  settled(): Promise<void>;
  /** Whether that is so now: it waits for nothing but what other work can do at once. */
  isSettled(): Promise<boolean>;
  /** Summaries of conversations; passivated ones have no entry. */
  summaries(convs: readonly number[]): Promise<ReadonlyMap<number, ConversationSummary>>;
  /** The live conversations of all hosts. */
  count(): Promise<ConversationCount>;
  /** The readers of conversations. */
  readonly inspections: InspectionReaders;
  status(): readonly HostStatus[];
  /** Why a host waits for the store, or null: none does. It is tried again until it works. */
  stalled(): string | null;
  /** Ends the hosts. A start finds what was not confirmed in the journal. */
  stop(): Promise<void>;
}
