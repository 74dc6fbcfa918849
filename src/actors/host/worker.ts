/**
 * The code of each worker thread: a core that applies events and a runner that calls agents. The
 * pool gives each thread one task that never ends; its rejection reports to the supervisor that the
 * thread died. Calls cross a port wrapped by comlink, always whole batches, because a call per
 * event costs five to ten times as much as the event's own work.
 */
import type { MessagePort } from "node:worker_threads";
import { type Endpoint, expose, type Remote, wrap } from "comlink";
import type { Millis } from "../../domain/message.ts";
import type { AgentDriver, Clock, InspectRequest } from "../../domain/ports/index.ts";
import type { TurnRunner } from "../agent-run/turn-runner.ts";
import {
  unpackBatch,
  unpackJob,
  unstarted,
  type WireBatch,
  type WireJob,
} from "../protocol/batch-encoding.ts";
import type { ConversationCount, ConversationSummary } from "../protocol/conversation-summary.ts";
import { answeringOnly, type HostEvents, reporterOf } from "../protocol/host-link.ts";
import type { HostResult } from "../protocol/host-protocol.ts";
import { createSharedHeartbeat } from "../protocol/shared-heartbeat.ts";
import { currentThread } from "../protocol/thread-state.ts";
import { eventLoop } from "../util/scheduling.ts";
import { afterStart } from "../util/start-garbage.ts";
import { createConversation } from "./conversation-actor.ts";
import { type ConversationFactory, createHostCore, reasonOf } from "./conversation-host.ts";
import { settingsFor } from "./conversation-settings.ts";

/** What the pool passes to a thread. */
export interface HostTask {
  /** Calls from the supervisor (`HostApi`). */
  readonly port: MessagePort;
  /** Calls to the supervisor (`HostEvents`). */
  readonly events: MessagePort;
  /** From the drivers of this thread to `serve` of the host module on the main thread. */
  readonly outside: MessagePort;
  readonly heartbeat: SharedArrayBuffer;
  readonly host: number;
  readonly epoch: number;
  readonly live: number;
  readonly checkpointEvery: number;
  /** URL of the module with `drivers` and `createSystemClock`; loaded on the first turn. */
  readonly hostModule: string;
}

/** What the supervisor may call. */
export interface HostApi {
  /** The epoch of this process of the host. */
  hello(): number;
  apply(batch: WireBatch): HostResult;
  summary(convs: readonly number[], now: Millis): (ConversationSummary | null)[];
  count(): ConversationCount;
  inspect(order: InspectRequest): void;
  uninspect(reader: number): void;
  ping(): void;
  /** Gives back what the start left behind. */
  rest(): void;
  /** Called without waiting: a turn that cannot start is reported as failed. */
  run(jobs: readonly WireJob[]): void;
  abort(turnId: string, reason: string): void;
  steer(turnId: string, text: string): boolean;
  watch(conv: number, on: boolean): void;
}

interface HostModule {
  readonly drivers: ReadonlyMap<string, AgentDriver>;
  createSystemClock(): Clock;
  attach?(outside: MessagePort): void;
}

/** The task. Never resolves: the thread is ended from outside. */
export function host(task: HostTask): Promise<never> {
  return runHost(task, createConversation);
}

/** The same with another factory of conversations (tests poison some). */
export function runHost(task: HostTask, create: ConversationFactory): Promise<never> {
  const heartbeat = createSharedHeartbeat(task.heartbeat);
  heartbeat.ofThread(currentThread());
  const supervisor: Remote<HostEvents> = wrap<HostEvents>(endpoint(task.events));
  const report = reporterOf(task.events);
  const core = createHostCore({
    create,
    settingsFor,
    live: task.live,
    checkpointEvery: task.checkpointEvery,
    mark: heartbeat.mark,
    onInspect: (frames) => report("onInspect", frames),
  });
  const loadRunner = once(async () => {
    heartbeat.pauseWatchdog(true);
    // Loaded only now: a host that answers sooner after a crash is worth more than a fast first
    // turn.
    const loading = Promise.all([import(task.hostModule), import("../agent-run/turn-runner.ts")]);
    const [module, { createTurnRunner }] = await loading.finally(() =>
      heartbeat.pauseWatchdog(false),
    );
    const { drivers, createSystemClock, attach } = module as HostModule;
    attach?.(task.outside);
    return createTurnRunner({
      clock: createSystemClock(),
      scheduler: eventLoop,
      drivers,
      log: (...line) => report("onLog", ...line),
      onReports: (reports) => report("onReports", reports),
      onDelta: (delta) => report("onDelta", delta),
      onDraft: (draft) => report("onDraft", draft),
      ask: (question) => supervisor.ask(question),
    });
  });
  const api: HostApi = {
    hello: () => task.epoch,
    apply: (batch) => core.apply(unpackBatch(batch)),
    summary: (convs, now) => core.summary(convs, now),
    count: () => core.count(),
    inspect: (order) => core.inspect(order),
    uninspect: (reader) => core.uninspect(reader),
    ping: () => heartbeat.beat(),
    rest: afterStart(),
    run(jobs) {
      const refuse = ({ order, at }: WireJob, error: unknown) => {
        report("onLog", "error", "host.call-failed", { what: "run", error: reasonOf(error) });
        report("onReports", [unstarted(order, at, reasonOf(error))]);
      };
      const start = (runner: TurnRunner) => {
        for (const job of jobs)
          try {
            runner.run(unpackJob(job));
          } catch (error) {
            refuse(job, error);
          }
      };
      loadRunner().then(start, (error: unknown) => {
        for (const job of jobs) refuse(job, error);
      });
    },
    abort: (turnId, reason) => void loadRunner().then((runner) => runner.abort(turnId, reason)),
    steer: (turnId, text) => loadRunner.now()?.steer(turnId, text) ?? false,
    watch: (conv, on) => void loadRunner().then((runner) => runner.watch(conv, on)),
  };
  expose(api, answeringOnly(endpoint(task.port)));
  return new Promise<never>(() => undefined);
}

/**
 * A Node port as comlink expects it: an event target like the browser's, only typed differently.
 */
export const endpoint = (port: MessagePort) => port as unknown as Endpoint;

/** Runs `make` at most once; `now` returns the result without starting it. */
function once<Value>(make: () => Promise<Value>): (() => Promise<Value>) & {
  now(): Value | undefined;
} {
  let promise: Promise<Value> | undefined;
  let value: Value | undefined;
  const get = () => {
    promise ??= make().then((made) => {
      value = made;
      return made;
    });
    return promise;
  };
  return Object.assign(get, { now: () => value });
}
