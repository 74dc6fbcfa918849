/**
 * Piscina with as many threads as hosts and one task in each that never ends. The rejection of that
 * task's promise means "this host died", within about 10 ms; piscina has a fresh thread ready by
 * then.
 *
 * Piscina does not replace a thread that fails while it starts. When that happens the pool is
 * retired (its living hosts stay in it until their own end) and the next host opens a new one; the
 * supervisor decides how often that may happen.
 */

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { setFlagsFromString } from "node:v8";
import { MessageChannel, type MessagePort } from "node:worker_threads";
import { expose, type Remote, releaseProxy, wrap } from "comlink";
import { Piscina } from "piscina";
import { EarshotError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import type { Clock, Log } from "../../domain/ports/index.ts";
import { hostWorker } from "../entries.ts";
import { reasonOf } from "../host/conversation-host.ts";
import { endpoint, type HostApi, type HostTask } from "../host/worker.ts";
import { packBatch, packJob, unstarted } from "../protocol/batch-encoding.ts";
import {
  type HostEvents,
  type HostFactory,
  type HostLink,
  reporterOf,
  type TurnJob,
} from "../protocol/host-link.ts";
import { createSharedHeartbeat } from "../protocol/shared-heartbeat.ts";
import { threadWork } from "../protocol/thread-state.ts";
import { guardEvents, onlyCalls } from "../protocol/validate-host-calls.ts";

export interface PoolOptions {
  readonly workers: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly live: number;
  readonly checkpointEvery: number;
  readonly memoryMb: number;
  /** Null: no limit. */
  readonly startMsMax: number;
  readonly hostModule: string;
  /** Another entry file, for tests that poison one. */
  readonly entry?: URL;
}

/** The environment a host sees: nothing that could hold a secret. */
const environment = ["PATH", "HOME", "LANG", "TZ", "TMPDIR", "NODE_EXTRA_CA_CERTS", "NODE_ENV"];

/**
 * From a host's first answer until it rests, ms. V8 takes room for young objects back from a thread that has
 * made few of them for five seconds.
 */
const restMs = 6_000;

export function createPool(options: PoolOptions): HostFactory {
  return new Pool(options);
}

/**
 * MiB of young objects of a thread, in three parts. One that runs out of memory ends alone as long as one collection makes
 * no more of them old than Node allows beyond the limit; else V8 ends the process: nearly each time with 192, never with 96.
 */
const youngMb = 96;

class Pool implements HostFactory {
  readonly #options: PoolOptions;
  readonly #entry: URL;
  readonly #pools = new Map<Piscina, number>();
  /** Hosts that have not answered yet. */
  readonly #starting = new Map<HostLink, Piscina>();
  #current: Piscina | null = null;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#entry = options.entry ?? hostWorker;
  }

  async open(host: number, epoch: number, events: HostEvents): Promise<HostLink> {
    const piscina = this.#current ?? this.#create();
    this.#pools.set(piscina, (this.#pools.get(piscina) ?? 0) + 1);
    const link = startHost(piscina, this.#options, { host, epoch, events });
    void link.exited.then(() => this.#ended(piscina));
    this.#starting.set(link, piscina);
    try {
      await link.ready;
      this.#starting.delete(link);
      return link;
    } catch (cause) {
      this.#starting.delete(link);
      this.#retire(piscina);
      link.kill("did not start");
      throw new EarshotError(
        "EAR_HOST_START",
        `Cannot start host ${host}: its thread does not answer (${reasonOf(cause)}).`,
        { cause },
      );
    }
  }

  async close(): Promise<void> {
    this.#current = null;
    const pools = [...this.#pools.keys()];
    // Before its hosts end: a second `destroy` would let the first start threads in their place.
    this.#pools.clear();
    await Promise.all(pools.map((piscina) => piscina.destroy()));
  }

  #create(): Piscina {
    const { workers, memoryMb } = this.#options;
    keepYoungSpaceOfThreads();
    const elsewhere = [...this.#pools.values()].reduce((sum, hosts) => sum + hosts, 0);
    const piscina = new Piscina({
      filename: this.#entry.href,
      name: "host",
      minThreads: Math.max(1, workers - elsewhere),
      maxThreads: workers,
      // Otherwise a thread whose task awaits something would block in its own wait loop.
      atomics: "async",
      env: Object.fromEntries(
        environment.flatMap((name) => {
          const value = process.env[name];
          return value === undefined ? [] : [[name, value]];
        }),
      ),
      resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: youngMb },
      execArgv: loaderFor(this.#entry),
    });
    piscina.on("error", (error: unknown) => {
      this.#options.log("warn", "pool.error", { error: reasonOf(error) });
      this.#retire(piscina);
      // A host that waits for a thread here would wait for ever.
      for (const [link, pool] of this.#starting) if (pool === piscina) link.kill(reasonOf(error));
    });
    this.#pools.set(piscina, 0);
    this.#current = piscina;
    return piscina;
  }

  #retire(piscina: Piscina): void {
    if (this.#current === piscina) this.#current = null;
    if (this.#pools.get(piscina) === 0) this.#destroy(piscina);
  }

  #ended(piscina: Piscina): void {
    const hosts = this.#pools.get(piscina);
    if (hosts === undefined) return;
    this.#pools.set(piscina, hosts - 1);
    if (hosts === 1 && piscina !== this.#current) this.#destroy(piscina);
  }

  #destroy(piscina: Piscina): void {
    this.#pools.delete(piscina);
    piscina.destroy().catch((error: unknown) => {
      this.#options.log("warn", "pool.destroy-failed", { error: reasonOf(error) });
    });
  }
}

interface Start {
  readonly host: number;
  readonly epoch: number;
  readonly events: HostEvents;
}

/** The main thread's side of a host module. */
interface OutsideModule {
  /** Answers a host's drivers until the host is gone. */
  serve?(post: (answer: unknown) => void, gone: Promise<unknown>): (message: unknown) => void;
}

/** Runs the never-ending task of one host and wraps its ports. */
function startHost(
  piscina: Piscina,
  options: PoolOptions,
  { host, epoch, events }: Start,
): HostLink & { readonly ready: Promise<void> } {
  const calls = new MessageChannel();
  const reports = new MessageChannel();
  const outside = new MessageChannel();
  const heartbeat = createSharedHeartbeat();
  const end = new AbortController();
  const task: HostTask = {
    port: calls.port2,
    events: reports.port2,
    outside: outside.port2,
    heartbeat: heartbeat.buffer,
    host,
    epoch,
    live: options.live,
    checkpointEvery: options.checkpointEvery,
    hostModule: options.hostModule,
  };
  const api = wrap<HostApi>(endpoint(calls.port1));
  let refusals = 0;
  const refused = (what: string) => {
    refusals += 1;
    options.log("warn", "host.refused", { host, epoch, what, refusals });
    if (refusals >= limits.hostRefusalsMax) end.abort(`broke the protocol: ${what}`);
  };
  expose(guardEvents(events, refused), onlyCalls(endpoint(reports.port1), refused));
  const gone = piscina
    .run(task, { signal: end.signal, transferList: [calls.port2, reports.port2, outside.port2] })
    .then(
      () => "the task ended",
      (error: unknown) => (end.signal.aborted ? String(end.signal.reason) : reasonOf(error)),
    )
    .then((reason) => {
      api[releaseProxy]();
      calls.port1.close();
      reports.port1.close();
      outside.port1.close();
      return reason;
    });
  serveOutside(outside.port1, gone, options);
  const ready = answered(api, gone, epoch, options);
  ready.then(
    () => restLater(api, gone, options),
    // `open` throws the same error.
    () => undefined,
  );
  return {
    ...callsTo(api, calls.port1, options, events, gone),
    epoch,
    heartbeat,
    exited: gone,
    ready,
    work: () => threadWork(heartbeat.thread()),
    refused: () => refusals,
    kill: (reason) => end.abort(reason),
  };
}

/**
 * Lets the host's drivers ask for what only the main thread can do. The answering module is loaded
 * with the first message; most hosts never send one.
 */
function serveOutside(port: MessagePort, gone: Promise<string>, options: PoolOptions): void {
  let answering: Promise<((message: unknown) => void) | undefined> | null = null;
  port.on("message", (message: unknown) => {
    answering ??= import(options.hostModule).then((module: OutsideModule) =>
      module.serve?.((answer) => port.postMessage(answer), gone),
    );
    answering
      .then((answer) => answer?.(message))
      .catch((error: unknown) => {
        options.log("error", "host.call-failed", { what: "outside", error: reasonOf(error) });
      });
  });
}

/** Resolves when the host says hello; rejects when it dies first or takes too long. */
function answered(
  api: Remote<HostApi>,
  gone: Promise<string>,
  epoch: number,
  { clock, startMsMax }: PoolOptions,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new Error(`no answer within ${startMsMax} ms`));
    const late = clock.setLimit(startMsMax, giveUp);
    const settle = (act: () => void) => {
      if (late !== null) clock.clearTimer(late);
      act();
    };
    const fail = (reason: string) => settle(() => reject(new Error(reason)));
    gone.then(fail, fail);
    api.hello().then((answer) => {
      if (answer === epoch) settle(resolve);
      else fail(`another incarnation answered: ${answer}`);
    }, fail);
  });
}

/** The last host that rests: one at a time, as the flag of V8 that it takes is the process's. */
let resting: Promise<unknown> = Promise.resolve();

/** A host that has just begun gives its garbage back, but not while what waited for it is on its way. */
function restLater(api: Remote<HostApi>, gone: Promise<string>, { clock, log }: PoolOptions): void {
  const rest = () =>
    Promise.race([api.rest(), gone]).catch((error: unknown) => {
      log("error", "host.call-failed", { what: "rest", error: reasonOf(error) });
    });
  const timer = clock.setTimer(clock.now() + restMs, () => {
    resting = resting.then(rest);
  });
  void gone.then(() => clock.clearTimer(timer));
}

type Calls = Pick<
  HostLink,
  "apply" | "summary" | "count" | "inspect" | "uninspect" | "ping" | "turns"
>;

function callsTo(
  api: Remote<HostApi>,
  port: MessagePort,
  { log, clock }: PoolOptions,
  events: HostEvents,
  gone: Promise<string>,
): Calls {
  const logged = (what: string) => (error: unknown) =>
    log("error", "host.call-failed", { what, error: reasonOf(error) });
  // Each look at a member makes a proxy that is registered for finalization: this one serves for all calls.
  const { apply } = api;
  const order = reporterOf<Pick<HostApi, "run">>(port);
  let jobs: TurnJob[] = [];
  const start = (started: readonly TurnJob[]): void => {
    const at = clock.now();
    try {
      order(
        "run",
        started.map((job) => packJob(job, at)),
      );
    } catch (error) {
      // One that cannot cross holds up no other.
      const [job] = started;
      if (started.length > 1 || job === undefined) {
        for (const each of started) start([each]);
        return;
      }
      logged("run")(error);
      events.onReports([unstarted(job.order, at, reasonOf(error))]);
    }
  };
  /** Turns that start together cross together. */
  const send = () => {
    const started = jobs;
    jobs = [];
    if (started.length > 0) start(started);
  };
  return {
    apply: (batch) => apply(packBatch(batch)),
    summary: (convs) => api.summary([...convs], clock.now()),
    count: () => api.count(),
    inspect: (order) => void api.inspect(order).catch(logged("inspect")),
    uninspect: (reader) => void api.uninspect(reader).catch(logged("uninspect")),
    ping: () => void api.ping().catch(logged("ping")),
    turns: {
      run(job) {
        jobs.push(job);
        if (jobs.length === 1) queueMicrotask(send);
      },
      abort(turnId, reason) {
        send();
        void api.abort(turnId, reason).catch(logged("abort"));
      },
      steer(turnId, text) {
        send();
        // A host that dies stops answering.
        return Promise.race([api.steer(turnId, text).catch(() => false), gone.then(() => false)]);
      },
      watch(conv, on) {
        send();
        void api.watch(conv, on).catch(logged("watch"));
      },
    },
  };
}

/**
 * Options for a thread or a process that runs this module: they let it run TypeScript sources; built code needs none
 * of it. The loader registers by hand, because
 * on Node 20 tsx's own loader does nothing in a thread whose parent runs under it.
 */
export function loaderFor(entry: URL): string[] {
  if (!entry.pathname.endsWith(".ts")) return [];
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx/package.json"));
  const api = new URL("./dist/esm/api/index.mjs", tsx).href;
  return ["--import", `data:text/javascript,import{register}from${JSON.stringify(api)};register()`];
}

/**
 * What `--max-semi-space-size` gives the main thread, which has it already, would also be the limit of threads, whatever
 * theirs is.
 */
function keepYoungSpaceOfThreads(): void {
  for (const flag of ["min", "max"]) setFlagsFromString(`--${flag}-semi-space-size=0`);
}
