/**
 * A runtime with its own clock, view of the store and log, all of which can be cut off at once:
 * from inside that looks like `kill -9`. What the dead runtime does after that reaches neither the
 * store nor the platforms; the next process starts from what was committed.
 */
import type { EarshotConfig } from "../../domain/config/index.ts";
import type {
  AgentDriver,
  Clock,
  Digest,
  Ids,
  Log,
  Random,
  Scheduler,
  Store,
} from "../../domain/ports/index.ts";
import type { StreamLine } from "../../domain/stream.ts";
import type { OutboundDirectory, Runtime } from "../protocol/runtime.ts";
import { createRuntimeEvents } from "../protocol/runtime-events.ts";
import { createRuntime } from "../runtime/runtime.ts";
import { createEndingClock } from "../util/ending-clock.ts";

/**
 * Reads of its store are fast: a larger cache of transcripts gains little, and long replays have
 * many.
 */
const transcriptBytesMax = 2_097_152;

export interface SimulatedProcess {
  readonly runtime: Runtime;
  /** Whether its host was given up: nothing is decided any more. */
  isBroken(): boolean;
  /** Kills the process: nothing of it has an effect any more. */
  kill(): Promise<void>;
}

export interface SimulatedProcessOptions {
  readonly ids: Ids;
  readonly random: Random;
  readonly digest: Digest;
  readonly log: Log;
  readonly config: EarshotConfig;
  readonly drivers: ReadonlyMap<string, AgentDriver>;
  readonly directory: OutboundDirectory;
  readonly onLine: (line: StreamLine) => void;
  readonly prompts: boolean;
  readonly scheduler: Scheduler;
}

/** Creates a runtime on `store`; it must still be started. */
export function startProcess(
  clock: Clock,
  store: Store,
  options: SimulatedProcessOptions,
): SimulatedProcess {
  let alive = true;
  const ownClock = createEndingClock(clock);
  const ownStore: Store = Object.create(store, {
    commit: {
      value: (writes: Parameters<Store["commit"]>[0]) =>
        alive ? store.commit(writes) : Promise.resolve(writes.map(() => 0)),
    },
    close: { value: () => Promise.resolve() },
  }) as Store;
  let isBroken = false;
  const runtime = createRuntime({
    ...options,
    log(level, event, fields) {
      options.log(level, event, fields);
      isBroken ||= event === "host.broken";
    },
    clock: ownClock,
    store: ownStore,
    events: createRuntimeEvents(options.log, {
      line: (line) => {
        if (alive) options.onLine(line);
      },
    }),
    workers: 0,
    housekeeping: false,
    transcriptBytesMax,
    live: false,
  });
  return {
    runtime,
    isBroken: () => isBroken,
    async kill() {
      alive = false;
      ownClock.end();
      await runtime.stop();
    },
  };
}
