/**
 * Host links
 * ==========
 * The supervisor's end of one incarnation of a host. The worker thread (pool.ts) and the object on
 * this thread (host-local.ts) look the same from here: batches in, results out, and one promise
 * that tells when the host is gone.
 */
import type { InspectFrame, InspectRequest, Log } from "../../domain/ports/index.ts";
import type { ConversationSettings } from "../../domain/settings.ts";
import type { ConversationCount, ConversationSummary } from "./conversation-summary.ts";
import type {
  AgentSpec,
  ContextAnswer,
  ContextQuestion,
  HostBatch,
  HostResult,
  TurnDelta,
  TurnDraft,
  TurnReport,
  TurnRequest,
} from "./host-protocol.ts";
import type { SharedHeartbeat } from "./shared-heartbeat.ts";
import type { ThreadWork } from "./thread-state.ts";

/** A turn with all that a host needs to run it. */
export interface TurnJob {
  readonly order: TurnRequest;
  readonly agent: AgentSpec;
  readonly settings: ConversationSettings;
}

/** What comes from a host unasked. */
export interface HostEvents {
  onReports(reports: readonly TurnReport[]): void;
  onDelta(delta: TurnDelta): void;
  onDraft(draft: TurnDraft): void;
  onInspect(frames: readonly InspectFrame[]): void;
  /** Resolves to what the agent is told. */
  ask(question: ContextQuestion): Promise<ContextAnswer>;
  onLog(...line: Parameters<Log>): void;
}

/** Somewhere turns can run. */
export interface TurnPlace {
  run(job: TurnJob): void;
  abort(turnId: string, reason: string): void;
  steer(turnId: string, text: string): Promise<boolean>;
  watch(conv: number, on: boolean): void;
}

export interface HostLink {
  readonly epoch: number;
  readonly heartbeat: SharedHeartbeat;
  /** Resolves with the reason once the host is gone, whoever ended it. Never rejects. */
  readonly exited: Promise<string>;
  /** Never settles if the host dies first. */
  apply(batch: HostBatch): Promise<HostResult>;
  /** How these conversations stand; null for one that is not live there. May reject. */
  summary(convs: readonly number[]): Promise<readonly (ConversationSummary | null)[]>;
  /** What is live there. May reject. */
  count(): Promise<ConversationCount>;
  /** Lets a reader look into conversations there, until it is stopped or the host is gone. */
  inspect(order: InspectRequest): void;
  uninspect(reader: number): void;
  /** Asks for a beat of the pulse. */
  ping(): void;
  /** What its thread does; null: unknown. @default unknown */
  work?(): ThreadWork | null;
  /** How much of what it said was refused. @default nothing */
  refused?(): number;
  /** Where its conversations' turns run; null: on the main thread. */
  readonly turns: TurnPlace | null;
  /** Ends it at once; `gone` follows. */
  kill(reason: string): void;
}

/** Opens hosts; one for the worker pool, one for this thread. */
export interface HostFactory {
  /**
   * Starts an incarnation; resolves when it answers.
   * @throws EarshotError EAR_HOST_START
   */
  open(host: number, epoch: number, events: HostEvents): Promise<HostLink>;
  close(): Promise<void>;
}
