/**
 * The supervisor's end of one process of a host. A worker thread (worker-pool.ts) and the object on
 * this thread (in-process-host.ts) have the same interface: batches in, results out, and a promise
 * that resolves when the host is gone.
 */
import type { MessagePort } from "node:worker_threads";
import type { Endpoint } from "comlink";
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

/** Calls that a host makes by itself. */
export interface HostEvents {
  onReports(reports: readonly TurnReport[]): void;
  onDelta(delta: TurnDelta): void;
  onDraft(draft: TurnDraft): void;
  onInspect(frames: readonly InspectFrame[]): void;
  /** Resolves to the answer for the agent. */
  ask(question: ContextQuestion): Promise<ContextAnswer>;
  onLog(...line: Parameters<Log>): void;
}

/** A place where turns can run. */
export interface TurnPlace {
  run(job: TurnJob): void;
  abort(turnId: string, reason: string): void;
  steer(turnId: string, text: string): Promise<boolean>;
  watch(conv: number, on: boolean): void;
}

export interface HostLink {
  readonly epoch: number;
  readonly heartbeat: SharedHeartbeat;
  /** Resolves with the reason once the host is gone, for whatever cause. Never rejects. */
  readonly exited: Promise<string>;
  /** Never settles if the host dies first. */
  apply(batch: HostBatch): Promise<HostResult>;
  /** Summaries of these conversations; null for one that is not live there. May reject. */
  summary(convs: readonly number[]): Promise<readonly (ConversationSummary | null)[]>;
  /** What is live there. May reject. */
  count(): Promise<ConversationCount>;
  /** Lets a reader inspect conversations there, until it is stopped or the host is gone. */
  inspect(order: InspectRequest): void;
  uninspect(reader: number): void;
  /** Asks for one beat of the heartbeat. */
  ping(): void;
  /** The state of its thread; null: unknown. @default unknown */
  work?(): ThreadWork | null;
  /** How many of its calls were refused. @default none */
  refused?(): number;
  /** Where the turns of its conversations run; null: on the main thread. */
  readonly turns: TurnPlace | null;
  /** Ends it immediately; `exited` resolves next. */
  kill(reason: string): void;
}

/** Opens hosts; one implementation for the worker pool, one for this thread. */
export interface HostFactory {
  /**
   * Starts a process of the host; resolves when it answers.
   * @throws EarshotError EAR_HOST_START
   */
  open(host: number, epoch: number, events: HostEvents): Promise<HostLink>;
  close(): Promise<void>;
}

/**
 * The number of a call that nobody waits for. It gets no answer, which would wake the calling thread for
 * nothing, and comlink, which makes none without, does not make it.
 */
export const unanswered = "";

/** A port that passes no answer to a call that nobody waits for. */
export function answeringOnly(port: Endpoint): Endpoint {
  return {
    postMessage(message: { readonly id?: unknown }, transfer) {
      if (message.id !== unanswered) port.postMessage(message, transfer);
    },
    start: () => port.start?.(),
    addEventListener: (type, listener) => port.addEventListener(type, listener),
    removeEventListener: (type, listener) => port.removeEventListener(type, listener),
  };
}

type Calls = Readonly<Record<string, (...given: never[]) => unknown>>;

/** What calls a handler of the other side without waiting. @throws when a value cannot cross. */
export function reporterOf<Handlers extends Calls = Omit<HostEvents, "ask">>(
  port: Pick<MessagePort, "postMessage">,
) {
  return <Name extends keyof Handlers>(name: Name, ...given: Parameters<Handlers[Name]>): void => {
    const argumentList = given.map((value: unknown) => ({ type: "RAW", value }));
    port.postMessage({ id: unanswered, type: "APPLY", path: [name], argumentList });
  };
}
